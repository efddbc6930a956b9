/** Roles of a team's members in one project, which count there in place of the team's. */
import { HeddleError } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import { listMembers, type MemberRecord, type TeamRecord } from "../storage/catalog/accounts/accounts.ts"
import { audited } from "../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { listProjectRoles, removeProjectRole, setProjectRole } from "../storage/catalog/accounts/project-roles.ts"
import { findProject } from "../storage/catalog/accounts/projects.ts"
import { isStorable } from "../storage/catalog/storable-text.ts"
import type { MemberRole } from "../wire/platform/access.ts"
import { listOf } from "../wire/platform/account.ts"
import { namedProjectParams } from "../wire/platform/project-list.ts"
import { type ProjectRole, projectRole, projectRoleBody, projectRoleParams } from "../wire/platform/project-role.ts"
import type { AccountDependencies } from "./api-key-routes.ts"
import { managedTeam, visibleTeam } from "./visible-team.ts"

const shared = { dialect: "openai", tag: "Projects" } as const
const ofProject = "/v1/projects/:entity/:project/roles"

export function projectRoleRoutes({ database, invalidate }: AccountDependencies): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      path: ofProject,
      access: { right: "read", of: "project path.entity/project" },
      summary: "What each member of the team is in a project",
      schemas: { params: namedProjectParams },
      response: listOf(projectRole),
      handle: async ({ params, principal }) => {
        const team = await visibleTeam(database, principal, params.entity)
        const projectId = await projectOf(database, team, params.project)
        const own = await listProjectRoles(database, projectId)
        const members = await listMembers(database, team.id)
        return { object: "list", data: members.map((member) => toWireRole(member, own.get(member.userId))) }
      },
    }),
    route({
      ...shared,
      method: "PUT",
      path: `${ofProject}/:username`,
      access: { right: "manage", of: "team path.entity" },
      summary: "Give a member of the team another role in a project",
      schemas: { params: projectRoleParams, body: projectRoleBody },
      response: projectRole,
      handle: async ({ params, body: { role }, principal }) => {
        const team = await managedTeam(database, principal, params.entity)
        const projectId = await projectOf(database, team, params.project)
        const member = await memberOf(database, team, params.username)
        const { userId, username } = member
        await audited(database, principal, async (transaction, record) => {
          if (!(await setProjectRole(transaction, { projectId, userId }, role))) {
            // One of them is gone since it was looked up.
            await projectOf(transaction, team, params.project)
            throw noMember(team, username)
          }
          const details = { project: params.project, username, role }
          await record({ type: "project.role_updated", team: team.name, resourceId: projectId, details })
        })
        invalidate()
        return toWireRole(member, role)
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: `${ofProject}/:username`,
      access: { right: "manage", of: "team path.entity" },
      summary: "Let the role in the team count in a project again; repeatable",
      schemas: { params: projectRoleParams },
      response: projectRole,
      handle: async ({ params, principal }) => {
        const team = await managedTeam(database, principal, params.entity)
        const projectId = await projectOf(database, team, params.project)
        const member = await memberOf(database, team, params.username)
        const { userId, username } = member
        await audited(database, principal, async (transaction, record) => {
          if (!(await removeProjectRole(transaction, { projectId, userId }))) return
          const details = { project: params.project, username }
          await record({ type: "project.role_deleted", team: team.name, resourceId: projectId, details })
        })
        invalidate()
        return toWireRole(member, undefined)
      },
    }),
  ]
}

async function projectOf(database: CatalogDatabase, team: TeamRecord, name: string): Promise<string> {
  const id = isStorable(name) ? await findProject(database, team.id, name) : null
  if (id === null) throw new HeddleError("not_found", `no project "${name}" in "${team.name}"`)
  return id
}

/** @throws {HeddleError} `not_found`, the same for a user of another team and for none. */
export async function memberOf(database: CatalogDatabase, team: TeamRecord, username: string): Promise<MemberRecord> {
  const member = (await listMembers(database, team.id)).find((one) => one.username === username)
  if (member === undefined) throw noMember(team, username)
  return member
}

export function noMember(team: Pick<TeamRecord, "name">, username: string): HeddleError {
  return new HeddleError("not_found", `"${team.name}" has no member "${username}"`)
}

function toWireRole({ userId, username, role: teamRole }: MemberRecord, own: MemberRole | undefined): ProjectRole {
  const role = own ?? teamRole
  return { id: userId, object: "project.role", username, role, team_role: teamRole, is_own: own !== undefined }
}
