/** Users, teams and their members as `wandb.Api()` reads them: platform-wandb 2, 4. */
import { type Membership, scopeAllows } from "../../access/can.ts"
import type { Principal } from "../../http/principal.ts"
import { listAccounts, listMembers, listTeams, type MemberRecord } from "../../storage/catalog/accounts/accounts.ts"
import { storedBytes } from "../../storage/catalog/inference/stored-usage.ts"
import type { RunContext } from "../runs/run-context.ts"

const mostUsers = 100

export function describeUser({
  userId,
  username,
  isAdmin,
  defaultEntity,
  entities,
}: Pick<Principal, "userId" | "username" | "isAdmin" | "defaultEntity" | "entities">) {
  return {
    id: userId,
    username,
    name: username,
    email: null,
    flags: "{}",
    admin: isAdmin,
    entity: defaultEntity.name,
    defaultEntity: describeEntity(defaultEntity),
    teams: { edges: entities.map((entity) => ({ node: describeEntity(entity) })) },
  }
}

export function describeEntity({ id, name }: Membership) {
  return { id, name, readOnly: false, xxhashDigestsEnabled: false }
}

/** An entity of the caller's, with what `Api().team` reads beside its name. */
export function describeTeam({ database, principal }: RunContext, entity: Membership) {
  const isTeam = async () => (await listTeams(database, [entity.id])).length > 0
  const details = {
    isTeam,
    entityType: async () => ((await isTeam()) ? "team" : "user"),
    available: false,
    readOnlyAdmin: false,
    privateOnly: true,
    codeSavingEnabled: true,
    defaultAccess: "PRIVATE",
    storageBytes: () => storedBytes(database, entity.id),
    members: async () => (await listMembers(database, entity.id)).map(describeMember),
  }
  return { ...describeEntity(entity), ...(scopeAllows(principal.scope, { right: "read" }) ? details : {}) }
}

function describeMember({ userId: id, username, role }: MemberRecord) {
  return { id, username, name: username, admin: role === "admin", pending: false, email: null, accountType: role }
}

/** Those whose name has the text in it, the exact name first; null: the caller is no administrator of the server. */
export async function findUsers({ database, principal }: RunContext, query: string | null | undefined) {
  if (!principal.isAdmin || principal.scope !== "all") return null
  const sought = (query ?? "").toLowerCase()
  const found = (await listAccounts(database)).filter(({ username }) => username.toLowerCase().includes(sought))
  const isExact = ({ username }: { username: string }) => username.toLowerCase() === sought
  const ordered = [...found.filter(isExact), ...found.filter((account) => !isExact(account))]
  return { edges: ordered.slice(0, mostUsers).map((account) => ({ node: describeUser(account) })) }
}
