/** First start: an administrator with a key, so that somebody can do anything at all. */
import { ensureAdmin, findEntity, findUserByName, setDisabled } from "../../storage/catalog/accounts/accounts.ts"
import { hasAdminKey, replaceApiKeys, storeApiKey } from "../../storage/catalog/accounts/api-keys.ts"
import { audited, type RecordEntry } from "../../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { entityName, newEntityName } from "../../wire/platform/account.ts"
import { keyFault, makeKey } from "./key-format.ts"

const adminName = "admin"

/** @throws {Error} with a sentence for the operator when the key is no good. */
export function checkAdminKey(adminKey: string | null): void {
  const fault = adminKey === null ? null : keyFault(adminKey)
  if (fault !== null) throw new Error(`HEDDLE_ADMIN_KEY cannot be used: ${fault}. Unset it to have a key made`)
}

/** Keys of this name are the setting's: a start with another value revokes them. */
const chosenKeyName = "HEDDLE_ADMIN_KEY"

/**
 * Makes sure that the administrator exists, with the key that the operator chose and none that was chosen before. A key that
 * was revoked lives again, since the setting is the way back in. Without one the keys stay as they are.
 * @throws {Error} with a sentence for the operator when the entity cannot be one.
 */
export async function bootstrap(database: CatalogDatabase, entity: string, adminKey: string | null): Promise<void> {
  const isNewEntity = (await findEntity(database, entity)) === null
  const fault = (isNewEntity ? newEntityName : entityName).safeParse(entity).error?.issues[0]?.message
  if (fault !== undefined) throw new Error(`HEDDLE_ENTITY "${entity}" cannot be used: ${fault}`)
  const userId = await ensureAdmin(database, adminName, entity)
  if (adminKey === null) return
  await audited(database, null, async (transaction, record) => {
    await enableAdmin(transaction, userId, record)
    const { id, isNew, revokedIds } = await replaceApiKeys(transaction, { userId, name: chosenKeyName, key: adminKey })
    const details = { name: chosenKeyName, username: adminName }
    if (isNew) await record({ type: "api_key.created", team: null, resourceId: id, details })
    for (const revokedId of revokedIds) {
      await record({ type: "api_key.deleted", team: null, resourceId: revokedId, details })
    }
  })
}

async function enableAdmin(database: CatalogDatabase, userId: string, record: RecordEntry): Promise<void> {
  if (!(await setDisabled(database, userId, false))) return
  await record({
    type: "user.updated",
    team: null,
    resourceId: userId,
    details: { username: adminName, disabled: false },
  })
}

export interface FirstKey {
  /** To be shown once; only its hash is stored. */
  key: string
  userId: string
  apiKeyId: string
}

/** A key of the administrator; null when an administrator has one already. */
export async function makeFirstKey(database: CatalogDatabase): Promise<FirstKey | null> {
  if (await hasAdminKey(database)) return null
  const admin = await findUserByName(database, adminName)
  if (admin === null) throw new Error("there is no administrator to make a key for")
  const key = makeKey()
  return audited(database, null, async (transaction, record) => {
    await enableAdmin(transaction, admin.userId, record)
    const { id, name, userId } = await storeApiKey(transaction, { userId: admin.userId, name: "first start", key })
    await record({ type: "api_key.created", team: null, resourceId: id, details: { name, username: adminName } })
    return { key, userId, apiKeyId: id }
  })
}
