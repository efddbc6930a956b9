/** First start: an administrator with a key, so that somebody can do anything at all. */
import { ensureAdmin } from "../storage/catalog/accounts.ts"
import { hasAdminKey, storeApiKey } from "../storage/catalog/api-keys.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { keyFault, makeKey } from "./key-format.ts"

const adminName = "admin"

/** @throws {Error} with a sentence for the operator when the key is no good. */
export function checkAdminKey(adminKey: string | null): void {
  const fault = adminKey === null ? null : keyFault(adminKey)
  if (fault !== null) throw new Error(`HEDDLE_ADMIN_KEY cannot be used: ${fault}. Unset it to have a key made`)
}

/**
 * Makes sure that an administrator and a key exist.
 * @returns a key made now, to be shown once and never stored; null when there was one.
 */
export async function bootstrap(
  database: CatalogDatabase,
  entity: string,
  adminKey: string | null,
): Promise<string | null> {
  const userId = await ensureAdmin(database, adminName, entity)
  if (adminKey !== null) {
    await storeApiKey(database, { userId, name: "HEDDLE_ADMIN_KEY", key: adminKey })
    return null
  }
  if (await hasAdminKey(database)) return null
  const key = makeKey()
  await storeApiKey(database, { userId, name: "first start", key })
  return key
}
