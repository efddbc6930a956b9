/** Teams and who belongs to them: everybody sees their own teams, administrators of a team decide about it, those of the server about all. */
import { ownTeam, teamIds } from "../access/can.ts"
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import {
  type Account,
  addMember,
  createEntity,
  createServiceAccount,
  findEntity,
  findUserByName,
  listMembers,
  listServiceAccounts,
  listTeams,
  type MemberRecord,
  removeMember,
  removeUser,
  setTeamRole,
  type TeamRecord,
} from "../storage/catalog/accounts/accounts.ts"
import { audited, type AuditEntry } from "../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { Role } from "../wire/platform/access.ts"
import {
  addMemberBody,
  createServiceAccountBody,
  createTeamBody,
  listOf,
  memberParams,
  type Team,
  team,
  type TeamMember,
  teamMember,
  teamParams,
  updateMemberBody,
  user,
} from "../wire/platform/account.ts"
import { readAccount, readUser, requireUser } from "./account-routes.ts"
import type { AccountDependencies } from "./api-key-routes.ts"
import { memberOf, noMember } from "./project-role-routes.ts"
import { managedTeam, visibleTeam } from "./visible-team.ts"

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
        const teams = await listTeams(database, ids)
        return { object: "list", data: teams.map((one) => toWireTeam(one, ownTeam(principal, one.name)?.role ?? null)) }
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
        return toWireTeam({ id, name }, "admin")
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
        const entityId = await findEntity(database, params.team)
        if (entityId === null) throw new HeddleError("not_found", `no team "${params.team}"`)
        const account = await requireUser(database, body.username)
        if (account.isServiceAccount) {
          throw new HeddleError("conflict", `${account.username} is a service account, which is in its own team alone`)
        }
        await audited(database, principal, async (transaction, record) => {
          if (!(await addMember(transaction, account.userId, entityId, body.role))) return
          await record(membershipEntry("team.member_added", params.team, account, { role: body.role }))
        })
        invalidate()
        return readUser(database, account.userId)
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: `${ofTeam}/members/:username`,
      access: { right: "manage", of: "team path.team" },
      summary: "Give a member another role in the team",
      schemas: { params: memberParams, body: updateMemberBody },
      response: teamMember,
      handle: async ({ params, body: { role }, principal }) => {
        const { id, member, account } = await managedMember(database, principal, params)
        if (account.defaultEntity.id === id) throw new HeddleError("conflict", roleStays(account, params.team))
        await audited(database, principal, async (transaction, record) => {
          if (!(await setTeamRole(transaction, member.userId, id, role))) return
          await record(membershipEntry("team.member_updated", params.team, account, { role, before: member.role }))
        })
        invalidate()
        return toWireMember({ ...member, role })
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: `${ofTeam}/members/:username`,
      access: { right: "manage", of: "team path.team" },
      summary: "Take a user out of a team; its service account is removed for good",
      schemas: { params: memberParams },
      response: user,
      handle: async ({ params, principal }) => {
        const { id, account } = await leavingMember(database, principal, params)
        if (account.defaultEntity.id === id && !account.isServiceAccount) {
          throw new HeddleError(
            "conflict",
            `"${params.team}" is the default entity of ${params.username} and stays theirs`,
          )
        }
        await audited(database, principal, async (transaction, record) => {
          const isGone = account.isServiceAccount
            ? await removeUser(transaction, account)
            : await removeMember(transaction, account.userId, id)
          if (isGone) await record(membershipEntry("team.member_removed", params.team, account))
        })
        invalidate()
        const left = await readUser(database, account.userId)
        // In which other teams the user is concerns nobody in this one.
        return principal.isAdmin ? left : { ...left, entities: [] }
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: `${ofTeam}/service_accounts`,
      access: { right: "manage", of: "team path.team" },
      summary: "Make an account for a program, which may do in the team what a member may, or answer the one there is",
      schemas: { params: teamParams, body: createServiceAccountBody },
      response: teamMember,
      handle: async ({ params, body, principal }) => {
        const { id: entityId, name: teamName } = await managedTeam(database, principal, params.team)
        const username = `${body.name}@${teamName}`
        await audited(database, principal, async (transaction, record) => {
          const before = await findUserByName(transaction, username)
          if (before?.isDisabled === true) {
            throw new HeddleError(
              "conflict",
              `"${username}" was removed, and its name is not free again; choose another`,
            )
          }
          if (before !== null) return
          if ((await listServiceAccounts(transaction, [entityId])).length >= mostServiceAccounts) {
            const message = `"${teamName}" has made ${mostServiceAccounts} service accounts, removed ones included, and can make no more`
            throw new HeddleError("conflict", message)
          }
          const userId = await createServiceAccount(transaction, username, entityId)
          if (userId === null) throw new HeddleError("conflict", `"${username}" is being made; ask again`)
          const details = { username, role: "service_account" }
          await record({ type: "team.member_added", team: teamName, resourceId: userId, details })
        })
        return toWireMember(await memberOf(database, { id: entityId, name: teamName }, username))
      },
    }),
  ]
}

const ofTeam = "/v1/organization/teams/:team"
/** Limit on the service accounts of one team, deleted ones included: their names are never reused. */
const mostServiceAccounts = 1_000

const roleStays = ({ username, isServiceAccount }: Account, name: string) =>
  isServiceAccount
    ? `${username} is a service account and stays one; make another, or give it a role in a project`
    : `"${name}" is the default entity of ${username}, who stays its administrator`

/** A member whom the caller decides about. @throws {HeddleError} `not_found`, `forbidden`. */
async function managedMember(
  database: CatalogDatabase,
  principal: Principal,
  { team: name, username }: { team: string; username: string },
) {
  const found = await managedTeam(database, principal, name)
  const member = await memberOf(database, found, username)
  return { id: found.id, member, account: await readAccount(database, member.userId) }
}

/**
 * As {@link managedMember}; for an administrator of the server also a user who is no member any more. A service account
 * leaves its own team alone, for it is removed then.
 */
async function leavingMember(
  database: CatalogDatabase,
  principal: Principal,
  params: { team: string; username: string },
): Promise<{ id: string; account: Account }> {
  if (!principal.isAdmin) return managedMember(database, principal, params)
  const found = await managedTeam(database, principal, params.team)
  const account = await requireUser(database, params.username)
  if (account.isServiceAccount && account.defaultEntity.id !== found.id) throw noMember(found, account.username)
  return { id: found.id, account }
}

const toWireTeam = ({ id, name }: TeamRecord, role: Role | null): Team => ({
  id,
  object: "organization.team",
  name,
  role,
})

const toWireMember = ({ userId, username, role, isDisabled }: MemberRecord): TeamMember => ({
  id: userId,
  object: "organization.team.member",
  username,
  role,
  disabled: isDisabled,
})

function membershipEntry(
  type: "team.member_added" | "team.member_removed" | "team.member_updated",
  teamName: string,
  { userId, username }: Account,
  details: Readonly<Record<string, string>> = {},
): AuditEntry {
  return { type, team: teamName, resourceId: userId, details: { username, ...details } }
}
