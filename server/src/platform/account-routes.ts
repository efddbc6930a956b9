/** Users and teams. Only an administrator changes them. */
import { HeddleError, invalid } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import {
  type Account,
  addMember,
  createEntity,
  createUser,
  findAccount,
  findEntity,
  findUserByName,
  listAccounts,
  removeMember,
} from "../storage/catalog/accounts.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import {
  addMemberBody,
  createTeamBody,
  createUserBody,
  listOf,
  memberParams,
  team,
  teamParams,
  type User,
  user,
} from "../wire/platform/account.ts"
import type { AccountDependencies } from "./api-key-routes.ts"

const shared = { access: "admin", dialect: "openai", tag: "Accounts" } as const

export function accountRoutes({ database, invalidate }: AccountDependencies): Route[] {
  return [
    route({
      ...shared,
      access: "key",
      method: "GET",
      path: "/v1/organization/me",
      summary: "Who this key belongs to",
      schemas: {},
      response: user,
      handle: async ({ principal }) => readUser(database, principal.userId),
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/organization/users",
      summary: "Make a user with an entity of the same name",
      schemas: { body: createUserBody },
      response: user,
      handle: async ({ body }) => {
        const entityIds = await Promise.all(body.teams.map((name, index) => teamToJoin(database, name, index)))
        const id = await createUser(database, { username: body.username, isAdmin: body.is_admin, entityIds })
        if (id === null) throw new HeddleError("conflict", `a user or team "${body.username}" exists already`)
        return readUser(database, id)
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/organization/users",
      summary: "List users",
      schemas: {},
      response: listOf(user),
      handle: async () => ({ object: "list", data: (await listAccounts(database)).map(toWireUser) }),
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/organization/teams",
      summary: "Make a team, an entity that several users share",
      schemas: { body: createTeamBody },
      response: team,
      handle: async ({ body }) => {
        const id = await createEntity(database, body.name)
        if (id === null) throw new HeddleError("conflict", `a user or team "${body.name}" exists already`)
        return { id, object: "organization.team", name: body.name }
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/organization/teams/:team/members",
      summary: "Let a user into a team",
      schemas: { params: teamParams, body: addMemberBody },
      response: user,
      handle: async ({ params, body }) => {
        const [entityId, account] = await teamAndUser(database, params.team, body.username)
        await addMember(database, account.userId, entityId)
        invalidate()
        return readUser(database, account.userId)
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/v1/organization/teams/:team/members/:username",
      summary: "Take a user out of a team",
      schemas: { params: memberParams },
      response: user,
      handle: async ({ params }) => {
        const [entityId, account] = await teamAndUser(database, params.team, params.username)
        if (account.defaultEntity.id === entityId) {
          throw new HeddleError(
            "conflict",
            `"${params.team}" is the default entity of ${params.username} and stays theirs`,
          )
        }
        await removeMember(database, account.userId, entityId)
        invalidate()
        return readUser(database, account.userId)
      },
    }),
  ]
}

async function teamToJoin(database: CatalogDatabase, name: string, index: number): Promise<string> {
  const id = await findEntity(database, name)
  if (id === null) throw invalid(["body", "teams", index], `there is no team "${name}"; make it first`)
  return id
}

async function teamAndUser(database: CatalogDatabase, teamName: string, username: string): Promise<[string, Account]> {
  const entityId = await findEntity(database, teamName)
  if (entityId === null) throw new HeddleError("not_found", `no team "${teamName}"`)
  const account = await findUserByName(database, username)
  if (account === null) throw new HeddleError("not_found", `no user "${username}"`)
  return [entityId, account]
}

async function readUser(database: CatalogDatabase, id: string): Promise<User> {
  const account = await findAccount(database, id)
  if (account === null) throw new HeddleError("not_found", `no user with id ${id}`)
  return toWireUser(account)
}

function toWireUser(account: Account): User {
  return {
    id: account.userId,
    object: "organization.user",
    username: account.username,
    is_admin: account.isAdmin,
    default_entity: account.defaultEntity.name,
    entities: account.entities.map((entity) => entity.name),
  }
}
