/** API keys: everybody manages their own, an administrator of a team those of its service accounts, one of the server all. */
import { can, teamIds } from "../access/can.ts"
import { HeddleError, invalid } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import {
  type ApiKeyRecord,
  forgetEndedKeys,
  listApiKeys,
  revokeApiKey,
  storeApiKey,
} from "../storage/catalog/accounts/api-keys.ts"
import { audited } from "../storage/catalog/accounts/audit-logs.ts"
import { type Account, findUserByName, listServiceAccounts } from "../storage/catalog/accounts/accounts.ts"
import { isUuid } from "../storage/catalog/identifiers.ts"
import { requireOneMore } from "../storage/catalog/accounts/team-quotas.ts"
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
import { makeKey } from "./sign-in/key-format.ts"

export interface AccountDependencies {
  database: CatalogDatabase
  /** Call it after every change of keys, users or teams. */
  invalidate: () => void
}

const shared = { dialect: "openai", tag: "Accounts" } as const

export function apiKeyRoutes({ database, invalidate }: AccountDependencies): Route[] {
  return [
    route({
      ...shared,
      method: "POST",
      path: "/v1/organization/api_keys",
      access: { right: "manage", of: "account" },
      summary: "Make an API key; the answer is the only place that shows it",
      schemas: { body: createApiKeyBody },
      response: createdApiKey,
      handle: async ({ body, principal }) => {
        const { userId, defaultEntity } = await ownerOf(database, principal, body.username)
        const { name, scope } = body
        const expiresAt = endOf(body.expires_at ?? null)
        const key = makeKey()
        const made = await audited(database, principal, async (transaction, record) => {
          await requireOneMore(transaction, defaultEntity.id, "api_keys")
          const stored = await storeApiKey(transaction, { userId, name, key, expiresAt, scope })
          await forgetEndedKeys(transaction, userId)
          const { id: resourceId, username } = stored
          await record({ type: "api_key.created", team: null, resourceId, details: { name, username, scope } })
          return stored
        })
        return { ...toWireKey(made), value: key }
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/organization/api_keys",
      access: { right: "read", of: "account" },
      summary: "List live API keys",
      schemas: {},
      response: listOf(apiKey),
      handle: async ({ principal }) => {
        const keys = await listApiKeys(database, await ownersOf(database, principal))
        return { object: "list", data: keys.map(toWireKey) }
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/v1/organization/api_keys/:api_key_id",
      access: { right: "manage", of: "account" },
      summary: "Revoke an API key at once",
      schemas: { params: apiKeyParams },
      response: deleted,
      handle: async ({ params, principal }) => {
        const id = params.api_key_id
        await audited(database, principal, async (transaction, record) => {
          const owners = await ownersOf(transaction, principal)
          const revoked = isUuid(id) ? await revokeApiKey(transaction, id, owners) : null
          if (revoked === null) throw new HeddleError("not_found", `no live API key "${id}" that you may revoke`)
          const { name, username } = revoked
          await record({ type: "api_key.deleted", team: null, resourceId: id, details: { name, username } })
        })
        invalidate()
        return { id, deleted: true }
      },
    }),
  ]
}

type Owner = Pick<Principal, "userId" | "defaultEntity">

async function ownerOf(database: CatalogDatabase, principal: Principal, username: string | undefined): Promise<Owner> {
  if (username === undefined || username === principal.username) return principal
  const account = await findUserByName(database, username)
  if (!principal.isAdmin && (account === null || !isManaged(principal, account))) {
    throw new HeddleError(
      "forbidden",
      "only an administrator makes keys for other users, and one of a team for its service accounts",
    )
  }
  if (account === null) throw new HeddleError("not_found", `no user "${username}"`)
  if (account.isDisabled) {
    const message = `"${username}" is disabled or was removed, and a key of theirs would not work; enable the user first`
    throw new HeddleError("conflict", message)
  }
  return account
}

function isManaged(principal: Principal, { isServiceAccount, defaultEntity }: Account): boolean {
  return isServiceAccount && can(principal, "manage", { id: null, entityId: defaultEntity.id })
}

/** Users whose keys the caller may see and revoke; null: everybody's. */
async function ownersOf(database: CatalogDatabase, principal: Principal): Promise<string[] | null> {
  if (principal.isAdmin) return null
  const managed = teamIds(principal).filter((entityId) => can(principal, "manage", { id: null, entityId }))
  return [principal.userId, ...(await listServiceAccounts(database, managed))]
}

/** @throws {HeddleError} 422 for a time that is past. */
export function endOf(text: string | null): Date | null {
  if (text === null) return null
  const end = new Date(text)
  if (end > new Date()) return end
  throw invalid(["body", "expires_at"], `${text} is past; give a time to come, or null for a key without an end`)
}

export function toWireKey(record: ApiKeyRecord): ApiKey {
  const { id, name, username, scope } = record
  return {
    id,
    object: "organization.api_key",
    name,
    username,
    scope,
    redacted_value: `…${record.hint}`,
    created_at: record.createdAt.toISOString(),
    expires_at: record.expiresAt?.toISOString() ?? null,
    last_used_at: record.lastUsedAt?.toISOString() ?? null,
  }
}
