/**
 * From the `entity/project` of a request to the project it may touch. Everything of the evaluation
 * store is stored under the id this gives, and no query runs without one (security 5.3).
 */
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { ensureProject, findProject, noSuchProject } from "../storage/catalog/projects.ts"
import { usageOf } from "../storage/team-usage.ts"
import { workForTeam } from "../work/work-scope.ts"
import { isStorable } from "../storage/catalog/storable-text.ts"

export interface ProjectAccess {
  /** Of the catalog; never shown. */
  id: string
  entityId: string
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
  const names = accessibleNames(principal, projectId)
  const id = await findProject(database, names.entityId, names.project)
  const { boundProject } = principal
  // What was begun for a project does not go on in one that took its name.
  const isOther = boundProject?.name === projectId && boundProject.id !== id
  if (id === null || isOther) throw noSuchProject()
  return { id, ...names }
}

/**
 * Makes the project when it is not there: the npm client never does (evaluation-store-objects 15.2).
 * @throws {HeddleError} besides, `quota_exceeded` when the team has no room for more.
 */
export async function projectForWrite(
  database: CatalogDatabase,
  principal: Principal,
  projectId: string,
): Promise<ProjectAccess> {
  await requireRoom(database, accessibleNames(principal, projectId))
  return projectForDeletion(database, principal, projectId)
}

/** As {@link projectForWrite}, also for a team that has no room: what deletes makes some. */
export async function projectForDeletion(
  database: CatalogDatabase,
  principal: Principal,
  projectId: string,
): Promise<ProjectAccess> {
  // What is bound to a project must not make it again.
  if (principal.boundProject?.name === projectId) return projectForRead(database, principal, projectId)
  const names = accessibleNames(principal, projectId)
  return { id: await ensureProject(database, names.entityId, names.project), ...names }
}

/** As {@link projectForWrite}, but makes nothing: null when the project is not there and the caller may make it. */
export async function projectIfThere(
  database: CatalogDatabase,
  principal: Principal,
  projectId: string,
): Promise<ProjectAccess | null> {
  const names = accessibleNames(principal, projectId)
  await requireRoom(database, names)
  if (principal.boundProject?.name === projectId) return projectForRead(database, principal, projectId)
  const id = await findProject(database, names.entityId, names.project)
  return id === null ? null : { id, ...names }
}

async function requireRoom(
  database: CatalogDatabase,
  { entityId: id, entity: name }: Pick<ProjectAccess, "entityId" | "entity">,
): Promise<void> {
  await usageOf(database)?.requireRoom({ id, name })
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
  if (membership === undefined) throw noSuchProject()
  workForTeam(membership.id)
  return { entityId: membership.id, entity, project, name: projectId, userId: principal.userId }
}
