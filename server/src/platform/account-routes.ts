/** Users. Only an administrator changes them. */
import { HeddleError, invalid } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import {
  type Account,
  createUser,
  findAccount,
  findEntities,
  findUserByName,
  listAccounts,
  removeUser,
  setDisabled,
} from "../storage/catalog/accounts/accounts.ts"
import { audited } from "../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import {
  createUserBody,
  deleted,
  listOf,
  updateUserBody,
  type User,
  user,
  userParams,
} from "../wire/platform/account.ts"
import type { AccountDependencies } from "./api-key-routes.ts"

const shared = { dialect: "openai", tag: "Accounts" } as const

export function accountRoutes({ database, invalidate }: AccountDependencies): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      path: "/v1/organization/me",
      access: { right: "read", of: "account", ingest: true },
      summary: "Who this key belongs to",
      schemas: {},
      response: user,
      handle: async ({ principal }) => readUser(database, principal.userId),
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/organization/users",
      access: "admin",
      summary: "Make a user with an entity of the same name",
      schemas: { body: createUserBody },
      response: user,
      handle: async ({ body, principal }) => {
        const entityIds = await teamsToJoin(database, body.teams)
        const { username, is_admin: isAdmin, teams } = body
        const id = await audited(database, principal, async (transaction, record) => {
          const made = await createUser(transaction, { username, isAdmin, entityIds })
          if (made === null) throw new HeddleError("conflict", `a user or team "${username}" exists already`)
          const details = { username, is_admin: isAdmin, teams }
          await record({ type: "user.added", team: null, resourceId: made, details })
          return made
        })
        return readUser(database, id)
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/organization/users",
      access: "admin",
      summary: "List users",
      schemas: {},
      response: listOf(user),
      handle: async () => ({ object: "list", data: (await listAccounts(database)).map(toWireUser) }),
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/organization/users/:username",
      access: "admin",
      summary: "Disable a user, whose keys then stop at once, or enable one again",
      schemas: { params: userParams, body: updateUserBody },
      response: user,
      handle: async ({ params, body, principal }) => {
        const account = await requireUser(database, params.username)
        if (account.userId === principal.userId && body.disabled) {
          throw new HeddleError("conflict", "nobody disables themselves; ask another administrator")
        }
        await audited(database, principal, async (transaction, record) => {
          if (!(await setDisabled(transaction, account.userId, body.disabled))) return
          const details = { username: account.username, disabled: body.disabled }
          await record({ type: "user.updated", team: null, resourceId: account.userId, details })
        })
        invalidate()
        return readUser(database, account.userId)
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/v1/organization/users/:username",
      access: "admin",
      summary: "Take a user out of every team, revoke all keys and disable the user; repeatable",
      schemas: { params: userParams },
      response: deleted,
      handle: async ({ params, principal }) => {
        const account = await requireUser(database, params.username)
        const { userId: id, username } = account
        if (id === principal.userId) {
          throw new HeddleError("conflict", "nobody removes themselves; ask another administrator")
        }
        await audited(database, principal, async (transaction, record) => {
          if (!(await removeUser(transaction, account))) return
          await record({ type: "user.deleted", team: null, resourceId: id, details: { username } })
        })
        invalidate()
        return { id, deleted: true }
      },
    }),
  ]
}

async function teamsToJoin(database: CatalogDatabase, names: readonly string[]): Promise<string[]> {
  const ids = await findEntities(database, names)
  return names.map((name, index) => {
    const id = ids.get(name)
    if (id === undefined) throw invalid(["body", "teams", index], `there is no team "${name}"; make it first`)
    return id
  })
}

/** @throws {HeddleError} `not_found`. */
export async function requireUser(database: CatalogDatabase, username: string): Promise<Account> {
  const account = await findUserByName(database, username)
  if (account === null) throw new HeddleError("not_found", `no user "${username}"`)
  return account
}

export async function readUser(database: CatalogDatabase, id: string): Promise<User> {
  return toWireUser(await readAccount(database, id))
}

/** @throws {HeddleError} `not_found`. */
export async function readAccount(database: CatalogDatabase, id: string): Promise<Account> {
  const account = await findAccount(database, id)
  if (account === null) throw new HeddleError("not_found", `no user with id ${id}`)
  return account
}

export function toWireUser(account: Account): User {
  return {
    id: account.userId,
    object: "organization.user",
    username: account.username,
    is_admin: account.isAdmin,
    default_entity: account.defaultEntity.name,
    entities: account.entities.map((entity) => entity.name),
    disabled: account.isDisabled,
  }
}
