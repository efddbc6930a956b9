/**
 * Whether an address that was made with a key, and opens without it, still does: only while the key lives and its user may
 * still do there what the address is for. Somebody who leaves a team takes no addresses along.
 */
import { HeddleError } from "../errors.ts"
import { type KeyInProject, type KeyStanding, standingOfKeys } from "../storage/catalog/accounts/key-standing.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { RouteAccess } from "../wire/platform/access.ts"
import { BatchedLookup } from "../work/batched-lookup.ts"
import { mayCall } from "./can.ts"

export class SignedAddresses {
  readonly #standings: BatchedLookup<KeyInProject, KeyStanding | null>

  /** A client stores or fetches thousands of files with one key: what waits at the same time is asked once. */
  constructor(database: CatalogDatabase) {
    this.#standings = new BatchedLookup((keys) => standingOfKeys(database, keys))
  }

  /**
   * `access`: of the call that hands the address out. `wayOut`: how a new address is had.
   * @throws {HeddleError} `not_found`.
   */
  async require({ apiKeyId, projectId }: KeyInProject, access: Omit<RouteAccess, "of">, wayOut: string): Promise<void> {
    const standing = await this.#standings.get(`${apiKeyId} ${projectId}`, { apiKeyId, projectId })
    if (standing !== null) {
      const { scope, role, entityId } = standing
      const holder = { scope, entities: [{ id: entityId, name: "", role }], projectRoles: new Map() }
      if (mayCall(holder, access, { id: projectId, entityId })) return
    }
    throw new HeddleError(
      "not_found",
      `the key that made this address was revoked, or its user may not ${access.right} there any more; ${wayOut}`,
    )
  }
}
