/**
 * From the `entity/project` of a request to the project it may touch. Everything of the evaluation
 * store is stored under the id this gives, and no query runs without one (security 5.3).
 */
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { ensureProject, findProject } from "../storage/catalog/projects.ts"
import { isStorable } from "../storage/catalog/storable-text.ts"

export interface ProjectAccess {
  /** Of the catalog; never shown. */
  id: string
  entity: string
  project: string
  /** `entity/project`. */
  name: string
  /** Who asks: the `wb_user_id` of what is written. */
  userId: string
}

/** @throws {HeddleError} `project_not_found` (evaluation-store-calls 1.1), `bad_request` for a name without one slash. */
export async function projectForRead(
  database: CatalogDatabase,
  principal: Principal,
  projectId: string,
): Promise<ProjectAccess> {
  const { entityId, ...names } = accessibleNames(principal, projectId)
  const id = await findProject(database, entityId, names.project)
  if (id === null) throw projectNotFound()
  return { id, ...names }
}

/** Makes the project when it is not there: the npm client never does (evaluation-store-objects 15.2). */
export async function projectForWrite(
  database: CatalogDatabase,
  principal: Principal,
  projectId: string,
): Promise<ProjectAccess> {
  const { entityId, ...names } = accessibleNames(principal, projectId)
  return { id: await ensureProject(database, entityId, names.project), ...names }
}

function accessibleNames(principal: Principal, projectId: string) {
  if (!isStorable(projectId)) {
    throw new HeddleError("bad_request", `project_id ${JSON.stringify(projectId)} is not well-formed Unicode`)
  }
  const [entity, project, ...rest] = projectId.split("/")
  if (entity === undefined || entity === "" || project === undefined || project === "" || rest.length > 0) {
    throw new HeddleError("bad_request", `project_id "${projectId}" is not of the form entity/project`)
  }
  const membership = principal.entities.find((one) => one.name === entity)
  if (membership === undefined) throw projectNotFound()
  return { entityId: membership.id, entity, project, name: projectId, userId: principal.userId }
}

/** The same for a project that is not there and for another team's. */
function projectNotFound(): HeddleError {
  return new HeddleError("project_not_found", "Project not found")
}
