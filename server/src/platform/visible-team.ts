/** The team that a request names, for those who may see it. */
import { ownTeam, requireRight } from "../access/can.ts"
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { findEntity, type TeamRecord } from "../storage/catalog/accounts/accounts.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"

/** @throws {HeddleError} `not_found`, the same for a team that is not there and for another one's. */
export async function visibleTeam(database: CatalogDatabase, principal: Principal, name: string): Promise<TeamRecord> {
  const own = ownTeam(principal, name)
  if (own !== undefined) return own
  const id = principal.isAdmin ? await findEntity(database, name) : null
  if (id === null) throw new HeddleError("not_found", `no team "${name}" that you belong to`)
  return { id, name }
}

/** A team whose members the caller decides about: an administrator's of it or of the server. @throws {HeddleError} besides, `forbidden`. */
export async function managedTeam(database: CatalogDatabase, principal: Principal, name: string): Promise<TeamRecord> {
  const team = await visibleTeam(database, principal, name)
  if (!principal.isAdmin) requireRight(principal, "manage", { id: null, entityId: team.id, name })
  return team
}
