/** Teams and who belongs to them: everybody sees their own teams, an administrator all and changes them. */
import { teamIds } from "../access/can.ts"
import { HeddleError } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import {
  type Account,
  addMember,
  createEntity,
  findEntity,
  listMembers,
  listTeams,
  type MemberRecord,
  removeMember,
  type TeamRecord,
} from "../storage/catalog/accounts.ts"
import { audited, type AuditEntry } from "../storage/catalog/audit-logs.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import {
  addMemberBody,
  createTeamBody,
  listOf,
  memberParams,
  type Team,
  team,
  type TeamMember,
  teamMember,
  teamParams,
  user,
} from "../wire/platform/account.ts"
import { readUser, requireUser } from "./account-routes.ts"
import type { AccountDependencies } from "./api-key-routes.ts"
import { visibleTeam } from "./visible-team.ts"

const shared = { dialect: "openai", tag: "Accounts" } as const

export function teamRoutes({ database, invalidate }: AccountDependencies): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      path: "/v1/organization/teams",
      access: { right: "read", of: "teams" },
      summary: "List your teams, an administrator all",
      schemas: {},
      response: listOf(team),
      handle: async ({ principal }) => {
        const ids = principal.isAdmin ? null : teamIds(principal)
        return { object: "list", data: (await listTeams(database, ids)).map(toWireTeam) }
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/organization/teams/:team/members",
      access: { right: "read", of: "team path.team" },
      summary: "List the members of a team",
      schemas: { params: teamParams },
      response: listOf(teamMember),
      handle: async ({ params, principal }) => {
        const { id } = await visibleTeam(database, principal, params.team)
        return { object: "list", data: (await listMembers(database, id)).map(toWireMember) }
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/organization/teams",
      access: "admin",
      summary: "Make a team, an entity that several users share, and be its first member",
      schemas: { body: createTeamBody },
      response: team,
      handle: async ({ body: { name }, principal }) => {
        const id = await audited(database, principal, async (transaction, record) => {
          const made = await createEntity(transaction, name)
          if (made === null) throw new HeddleError("conflict", `a user or team "${name}" exists already`)
          await addMember(transaction, principal.userId, made, "admin")
          const details = { name, members: [principal.username] }
          await record({ type: "team.created", team: name, resourceId: made, details })
          return made
        })
        invalidate()
        return toWireTeam({ id, name })
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/organization/teams/:team/members",
      access: "admin",
      summary: "Let a user into a team",
      schemas: { params: teamParams, body: addMemberBody },
      response: user,
      handle: async ({ params, body, principal }) => {
        const [entityId, account] = await teamAndUser(database, params.team, body.username)
        await audited(database, principal, async (transaction, record) => {
          if (!(await addMember(transaction, account.userId, entityId, "member"))) return
          await record(membershipEntry("team.member_added", params.team, account))
        })
        invalidate()
        return readUser(database, account.userId)
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/v1/organization/teams/:team/members/:username",
      access: "admin",
      summary: "Take a user out of a team",
      schemas: { params: memberParams },
      response: user,
      handle: async ({ params, principal }) => {
        const [entityId, account] = await teamAndUser(database, params.team, params.username)
        if (account.defaultEntity.id === entityId) {
          throw new HeddleError(
            "conflict",
            `"${params.team}" is the default entity of ${params.username} and stays theirs`,
          )
        }
        await audited(database, principal, async (transaction, record) => {
          if (!(await removeMember(transaction, account.userId, entityId))) return
          await record(membershipEntry("team.member_removed", params.team, account))
        })
        invalidate()
        return readUser(database, account.userId)
      },
    }),
  ]
}

const toWireTeam = ({ id, name }: TeamRecord): Team => ({ id, object: "organization.team", name })

const toWireMember = ({ userId, username, isDisabled }: MemberRecord): TeamMember => ({
  id: userId,
  object: "organization.team.member",
  username,
  disabled: isDisabled,
})

function membershipEntry(
  type: "team.member_added" | "team.member_removed",
  teamName: string,
  { userId, username }: Account,
): AuditEntry {
  return { type, team: teamName, resourceId: userId, details: { username } }
}

async function teamAndUser(database: CatalogDatabase, teamName: string, username: string): Promise<[string, Account]> {
  const entityId = await findEntity(database, teamName)
  if (entityId === null) throw new HeddleError("not_found", `no team "${teamName}"`)
  return [entityId, await requireUser(database, username)]
}
