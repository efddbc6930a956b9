import { useParams } from "@tanstack/react-router"

interface ProjectNames {
  entity: string
  project: string
}

export interface CurrentProject extends ProjectNames {
  /** `entity/project`, as the evaluation store names it. */
  id: string
  /** For links to its pages, and for requests that name both. */
  params: ProjectNames
}

/** No entity and no project has a longer name. */
const longestName = 128

export function isProjectName({ entity, project }: ProjectNames): boolean {
  return Math.max(entity.length, project.length) <= longestName
}

/** The project of the address; null on pages without one. */
export function useCurrentProject(): CurrentProject | null {
  const { entity, project } = useParams({ strict: false })
  if (entity === undefined || project === undefined || !isProjectName({ entity, project })) return null
  return { entity, project, id: `${entity}/${project}`, params: { entity, project } }
}

/** On a page under `/$entity/$project`. */
export function useProjectOfPage(): CurrentProject {
  const project = useCurrentProject()
  if (project === null) throw new Error("this page belongs to a project")
  return project
}
