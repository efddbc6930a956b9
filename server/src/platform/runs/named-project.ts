import { internalProjectId } from "../../storage/catalog/accounts/projects.ts"
import type { RunContext } from "./run-context.ts"

/** As what lies in a project names it. */
export function describeNamedProject(
  { principal }: Pick<RunContext, "principal">,
  named: { project_id: string; project: string; entity: string },
) {
  const entity = principal.entities.find(({ name }) => name === named.entity)
  const id = internalProjectId(named.project_id)
  return {
    __typename: "Project",
    id,
    internalId: id,
    name: named.project,
    entityName: named.entity,
    entity: { __typename: "Entity", id: entity?.id ?? null, name: named.entity },
  }
}
