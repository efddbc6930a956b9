/** First start: an administrator with a key, so that somebody can do anything at all. */
import { ensureAdmin, findUserByName } from "../storage/catalog/accounts.ts"
import { hasAdminKey, storeApiKey } from "../storage/catalog/api-keys.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { entityName } from "../wire/platform/account.ts"
import { keyFault, makeKey } from "./key-format.ts"

const adminName = "admin"

/** @throws {Error} with a sentence for the operator when the key is no good. */
export function checkAdminKey(adminKey: string | null): void {
  const fault = adminKey === null ? null : keyFault(adminKey)
  if (fault !== null) throw new Error(`HEDDLE_ADMIN_KEY cannot be used: ${fault}. Unset it to have a key made`)
}

/**
 * Makes sure that the administrator exists, with the key that the operator chose.
 * @throws {Error} with a sentence for the operator when the entity cannot be one.
 */
export async function bootstrap(database: CatalogDatabase, entity: string, adminKey: string | null): Promise<void> {
  const fault = entityName.safeParse(entity).error?.issues[0]?.message
  if (fault !== undefined) throw new Error(`HEDDLE_ENTITY "${entity}" cannot be used: ${fault}`)
  const userId = await ensureAdmin(database, adminName, entity)
  if (adminKey !== null) await storeApiKey(database, { userId, name: "HEDDLE_ADMIN_KEY", key: adminKey })
}

/** A key of the administrator, to be shown once and never stored; null when an administrator has one already. */
export async function makeFirstKey(database: CatalogDatabase): Promise<string | null> {
  if (await hasAdminKey(database)) return null
  const admin = await findUserByName(database, adminName)
  if (admin === null) throw new Error("there is no administrator to make a key for")
  const key = makeKey()
  await storeApiKey(database, { userId: admin.userId, name: "first start", key })
  return key
}
