import { useParams } from "@tanstack/react-router"

export interface CurrentProject {
  entity: string
  project: string
  /** `entity/project`, as the evaluation store names it. */
  id: string
}

/** The project of the address; null on pages without one. */
export function useCurrentProject(): CurrentProject | null {
  const { entity, project } = useParams({ strict: false })
  return entity === undefined || project === undefined ? null : { entity, project, id: `${entity}/${project}` }
}

/** On a page under `/$entity/$project`. */
export function useProjectOfPage(): CurrentProject {
  const project = useCurrentProject()
  if (project === null) throw new Error("this page belongs to a project")
  return project
}
