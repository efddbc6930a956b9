/**
 * From the `entity/project` of a request to the project it may touch. Everything of the evaluation
 * store is stored under the id this gives, and no query runs without one (security 5.3).
 *
 * A request needs the right that its route names, which its principal carries; whoever looks at another project meanwhile,
 * such as that of a ref, says with which right.
 */
import { HeddleError } from "../errors.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { ensureProject as makeProject, findProject, noSuchProject } from "../storage/catalog/accounts/projects.ts"
import { isStorable } from "../storage/catalog/storable-text.ts"
import { usageOf } from "../storage/team-usage.ts"
import type { Right } from "../wire/platform/access.ts"
import { isPathStep } from "../wire/training/model.ts"
import { workForTeam } from "../work/work-scope.ts"
import { can, ownTeam, requireRight, type RightHolder } from "./can.ts"

/** The caller that requests a project. A principal is one. */
export interface ProjectCaller extends RightHolder {
  userId: string
  /**
   * Set for work that outlives its request: this name (`entity/project`) means this project only, even if it was
   * deleted since and another project got the name. What such work stores there, it stores also when the team has become
   * full, as it was paid for and has to end; before it begins more of it, it asks for room itself ({@link requireRoom}).
   */
  boundProject?: { id: string; name: string }
}

export interface ProjectAccess {
  /** Id in the catalog; never shown. */
  id: string
  entityId: string
  entity: string
  project: string
  /** `entity/project`. */
  name: string
  /** User id of the caller: the `wb_user_id` of what it writes. */
  userId: string
}

type ProjectNames = Omit<ProjectAccess, "id">

/**
 * @throws {HeddleError} `project_not_found` (evaluation-store-calls 1.1), the same for one that the caller may not read;
 * `forbidden`; `bad_request` for a name without one slash.
 */
export async function existingProject(
  database: CatalogDatabase,
  principal: ProjectCaller,
  projectId: string,
  right: Right = principal.right,
): Promise<ProjectAccess> {
  const names = accessibleNames(principal, projectId)
  const id = await findProject(database, names.entityId, names.project)
  const { boundProject } = principal
  // Work that started for one project must not continue in another that took its name.
  const isOther = boundProject?.name === projectId && boundProject.id !== id
  if (id === null || isOther) throw noSuchProject()
  return granted(principal, right, id, names)
}

/**
 * Makes the project when it is not there: the npm client never does (evaluation-store-objects 15.2). Making one needs the
 * right to write, whatever is to be done in it.
 * @throws {HeddleError} besides, `quota_exceeded` when the team has no room for more.
 */
export async function ensureProject(
  database: CatalogDatabase,
  principal: ProjectCaller,
  projectId: string,
): Promise<ProjectAccess> {
  if (!isBound(principal, projectId)) await requireRoom(database, accessibleNames(principal, projectId))
  return ensureProjectWithoutRoom(database, principal, projectId)
}

/** As {@link ensureProject}, also for a team that has no room: what deletes makes some. */
export async function ensureProjectWithoutRoom(
  database: CatalogDatabase,
  principal: ProjectCaller,
  projectId: string,
): Promise<ProjectAccess> {
  // A caller bound to a project must not create it again.
  if (isBound(principal, projectId)) return existingProject(database, principal, projectId)
  const names = accessibleNames(principal, projectId)
  const found = await findProject(database, names.entityId, names.project)
  if (found !== null) return granted(principal, principal.right, found, names)
  requireNew(principal, names)
  return { id: await makeProject(database, names.entityId, names.project), ...names }
}

/** As {@link ensureProject}, but makes nothing: null when the project is not there and the caller may make it. */
export async function projectIfThere(
  database: CatalogDatabase,
  principal: ProjectCaller,
  projectId: string,
): Promise<ProjectAccess | null> {
  if (isBound(principal, projectId)) return existingProject(database, principal, projectId)
  const names = accessibleNames(principal, projectId)
  await requireRoom(database, names)
  const id = await findProject(database, names.entityId, names.project)
  if (id !== null) return granted(principal, principal.right, id, names)
  requireNew(principal, names)
  return null
}

function granted(principal: ProjectCaller, right: Right, id: string, names: ProjectNames): ProjectAccess {
  const { entityId, name } = names
  if (!can(principal, "read", { id, entityId })) throw noSuchProject()
  requireRight(principal, right, { id, entityId, name })
  return { id, ...names }
}

function requireNew(principal: ProjectCaller, { entityId, name, project }: ProjectNames): void {
  // No page and no address of files could have such a name in it: browsers take it for a step through the path.
  if (isPathStep(project)) {
    throw new HeddleError("bad_request", `project_id "${name}": a project cannot be called . or ..; give another name`)
  }
  requireRight(principal, "write", { id: null, entityId, name })
  requireRight(principal, principal.right, { id: null, entityId, name })
}

const isBound = ({ boundProject }: ProjectCaller, projectId: string) => boundProject?.name === projectId

/** @throws {HeddleError} `quota_exceeded`: the project's team has no room. */
export async function requireRoom(
  database: CatalogDatabase,
  { entityId: id, entity: name }: Pick<ProjectAccess, "entityId" | "entity">,
): Promise<void> {
  await usageOf(database)?.requireRoom({ id, name })
}

/** Whether the project's team has room for more. */
export async function hasRoom(database: CatalogDatabase, project: ProjectAccess): Promise<boolean> {
  try {
    await requireRoom(database, project)
    return true
  } catch (error) {
    if (error instanceof HeddleError && error.code === "quota_exceeded") return false
    throw error
  }
}

function accessibleNames(principal: ProjectCaller, projectId: string): ProjectNames {
  if (!isStorable(projectId)) {
    throw new HeddleError("bad_request", `project_id ${JSON.stringify(projectId)} is not well-formed Unicode`)
  }
  const [entity, project, ...rest] = projectId.split("/")
  if (entity === undefined || entity === "" || project === undefined || project === "" || rest.length > 0) {
    throw new HeddleError("bad_request", `project_id "${projectId}" is not of the form entity/project`)
  }
  const membership = ownTeam(principal, entity)
  if (membership === undefined) throw noSuchProject()
  workForTeam(membership.id)
  return { entityId: membership.id, entity, project, name: projectId, userId: principal.userId }
}
