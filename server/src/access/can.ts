/** The one place that decides who may do what. */
import { HeddleError } from "../errors.ts"
import {
  type KeyScope,
  keyScope,
  type MemberRole,
  type Right,
  type Role,
  type RouteAccess,
} from "../wire/platform/access.ts"

export interface Membership {
  /** Id of the team, or of the user's own entity. */
  id: string
  name: string
  role: Role
}

interface OwnProjectRole {
  role: MemberRole
  /** Of the project's team. */
  entityId: string
}

/** The parts of a caller that decide what it may do. A principal is one. */
export interface Holder {
  /** Every entity the user belongs to. */
  entities: readonly Membership[]
  /** By project's id, where a user has another role than in the project's team. */
  projectRoles: ReadonlyMap<string, OwnProjectRole>
  /** Scope of the key. */
  scope: KeyScope
}

interface ProjectPlace {
  /** null: not made yet. */
  id: string | null
  entityId: string
}

const readerRights: readonly Right[] = ["read"]
const programRights: readonly Right[] = ["read", "write", "label"]

const rightsOfRole: Readonly<Record<Role, readonly Right[]>> = {
  admin: ["read", "write", "label", "manage"],
  member: programRights,
  service_account: programRights,
  annotator: ["read", "label"],
  viewer: readerRights,
}

/**
 * A key for ingest or to train may write only where a route says so ({@link requireScope}), and those routes must be able to
 * look up what a value refers to.
 */
const rightsOfScope: Readonly<Record<KeyScope, readonly Right[]>> = {
  all: ["read", "write", "label", "manage"],
  ingest: ["read", "write", "label"],
  train: ["read", "write", "label"],
  label: ["read", "label"],
  read: readerRights,
}

/** Whether the caller has a right in a project, or in a team for a project that is still to be made there. */
export function can(holder: Holder, right: Right, { id, entityId }: ProjectPlace): boolean {
  const role = roleIn(holder, { id, entityId })
  return role !== null && rightsOfRole[role].includes(right) && rightsOfScope[holder.scope].includes(right)
}

/** null: the caller is not in the project's team. */
function roleIn({ entities, projectRoles }: Holder, { id, entityId }: ProjectPlace): Role | null {
  const membership = entities.find((entity) => entity.id === entityId)
  if (membership === undefined) return null
  return (id === null ? undefined : projectRoles.get(id))?.role ?? membership.role
}

/** @throws {HeddleError} 403 for a caller who may read the project; ask this only once it is known to be there for the caller. */
export function requireRight(holder: Holder, right: Right, project: ProjectPlace & { name: string }): void {
  if (can(holder, right, project)) return
  const role = roleIn(holder, project) ?? "none"
  const lacksRole = role === "none" || !rightsOfRole[role].includes(right)
  const [why, wayOut] = lacksRole
    ? [`your role there is ${role}`, "an administrator of the team can give you another one"]
    : [`this key has the scope ${holder.scope}`, "use one of the scope all"]
  throw new HeddleError("forbidden", `you may not ${right} in "${project.name}": ${why}; ${wayOut}`)
}

/** Whether the caller may still do all that it could before, in every team and project. */
export function keepsRights(before: Holder, now: Holder): boolean {
  const teams = before.entities.map(({ id }) => ({ id: null, entityId: id }))
  const projects = [before, now].flatMap(({ projectRoles }) =>
    [...projectRoles].map(([id, { entityId }]) => ({ id, entityId })),
  )
  return before.scope === now.scope && [...teams, ...projects].every((place) => keepsRole(before, now, place))
}

function keepsRole(before: Holder, now: Holder, place: ProjectPlace): boolean {
  const [role, current] = [roleIn(before, place), roleIn(now, place)]
  if (role === null) return true
  return current !== null && rightsOfRole[role].every((right) => rightsOfRole[current].includes(right))
}

/** The caller of a route that names a right. A principal is one. */
export interface RightHolder extends Holder {
  right: Right
}

/**
 * For what was found in the caller's teams, in the project that it lies in: the right of the route that is answered.
 * @throws {HeddleError} `forbidden`.
 */
export function requireRightIn(
  caller: RightHolder,
  projectId: string,
  { entity, project }: { entity: string; project: string },
): void {
  const entityId = ownTeam(caller, entity)?.id ?? ""
  requireRight(caller, caller.right, { id: projectId, entityId, name: `${entity}/${project}` })
}

/** Whether a key of this scope may call what needs this, whatever its user may do. */
export function scopeAllows(scope: KeyScope, { right, ingest, train }: Omit<RouteAccess, "of">): boolean {
  if (scope === "ingest") return ingest === true
  if (scope === "train") return rightsOfScope.label.includes(right) || train === true
  return rightsOfScope[scope].includes(right)
}

/** Whether the caller's key reaches a call that needs this, and its user has the right there. */
export function mayCall(holder: Holder, access: Omit<RouteAccess, "of">, place: ProjectPlace): boolean {
  return scopeAllows(holder.scope, access) && can(holder, access.right, place)
}

/** @throws {HeddleError} 403, the same whatever the request names. */
export function requireScope(scope: KeyScope, access: Omit<RouteAccess, "of">): void {
  if (scopeAllows(scope, access)) return
  const enough = keyScope.options.filter((one) => scopeAllows(one, access)).join(" or ")
  throw new HeddleError(
    "forbidden",
    `this key has the scope ${scope}, which does not reach this call; use a key of the scope ${enough}`,
  )
}

/** The entity of this name, when the caller is in it; a stranger's is not told from one that is not there. */
export function ownTeam(holder: Pick<Holder, "entities">, name: string): Membership | undefined {
  return holder.entities.find((entity) => entity.name === name)
}

/** Ids of the entities that lists are made of: what the caller may read there is all that they hold. */
export function teamIds({ entities }: Pick<Holder, "entities">): string[] {
  return entities.map((entity) => entity.id)
}
