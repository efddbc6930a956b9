/** API keys: everybody manages their own, an administrator all. */
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import { type ApiKeyRecord, listApiKeys, revokeApiKey, storeApiKey } from "../storage/catalog/api-keys.ts"
import { findUserByName } from "../storage/catalog/accounts.ts"
import { isUuid } from "../storage/catalog/identifiers.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import {
  type ApiKey,
  apiKey,
  apiKeyParams,
  createApiKeyBody,
  createdApiKey,
  deleted,
  listOf,
} from "../wire/platform/account.ts"
import { makeKey } from "./key-format.ts"

export interface AccountDependencies {
  database: CatalogDatabase
  /** Call it after every change of keys, users or teams. */
  invalidate: () => void
}

const shared = { access: "key", dialect: "openai", tag: "Accounts" } as const

export function apiKeyRoutes({ database, invalidate }: AccountDependencies): Route[] {
  return [
    route({
      ...shared,
      method: "POST",
      path: "/v1/organization/api_keys",
      summary: "Make an API key; the answer is the only place that shows it",
      schemas: { body: createApiKeyBody },
      response: createdApiKey,
      handle: async ({ body, principal }) => {
        const userId = await ownerOf(database, principal, body.username)
        const key = makeKey()
        const record = await storeApiKey(database, { userId, name: body.name, key })
        return { ...toWireKey(record), value: key }
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/organization/api_keys",
      summary: "List live API keys",
      schemas: {},
      response: listOf(apiKey),
      handle: async ({ principal }) => {
        const keys = await listApiKeys(database, principal.isAdmin ? null : principal.userId)
        return { object: "list", data: keys.map(toWireKey) }
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/v1/organization/api_keys/:api_key_id",
      summary: "Revoke an API key at once",
      schemas: { params: apiKeyParams },
      response: deleted,
      handle: async ({ params, principal }) => {
        const id = params.api_key_id
        const revoked = isUuid(id) && (await revokeApiKey(database, id, principal.isAdmin ? null : principal.userId))
        if (!revoked) throw new HeddleError("not_found", `no live API key "${id}" that you may revoke`)
        invalidate()
        return { id, deleted: true }
      },
    }),
  ]
}

async function ownerOf(database: CatalogDatabase, principal: Principal, username: string | undefined): Promise<string> {
  if (username === undefined || username === principal.username) return principal.userId
  if (!principal.isAdmin) throw new HeddleError("forbidden", "only an administrator makes keys for other users")
  const account = await findUserByName(database, username)
  if (account === null) throw new HeddleError("not_found", `no user "${username}"`)
  return account.userId
}

function toWireKey(record: ApiKeyRecord): ApiKey {
  const { id, name, username } = record
  return {
    id,
    object: "organization.api_key",
    name,
    username,
    redacted_value: `…${record.hint}`,
    created_at: record.createdAt.toISOString(),
  }
}
