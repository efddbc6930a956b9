/** Roles that members of a team have in one of its projects, instead of the team's. */
import { sql } from "kysely"
import type { MemberRole } from "../../../wire/platform/access.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

/** The roles that a user has in single projects, by the id of the project. */
export async function findProjectRoles(
  database: CatalogDatabase,
  userId: string,
): Promise<Map<string, { role: MemberRole; entityId: string }>> {
  const rows = await database
    .selectFrom("project_roles")
    .innerJoin("all_projects", "all_projects.id", "project_roles.project_id")
    .select(["project_roles.project_id", "project_roles.role", "all_projects.entity_id"])
    .where("project_roles.user_id", "=", userId)
    .execute()
  return new Map(rows.map(({ project_id, role, entity_id }) => [project_id, { role, entityId: entity_id }]))
}

/** The roles that users have in this project alone, by the id of the user. */
export async function listProjectRoles(database: CatalogDatabase, projectId: string): Promise<Map<string, MemberRole>> {
  const rows = await database
    .selectFrom("project_roles")
    .select(["user_id", "role"])
    .where("project_id", "=", projectId)
    .execute()
  return new Map(rows.map(({ user_id, role }) => [user_id, role]))
}

/**
 * Gives the user the role, who is a member of the project's team until the transaction ends. false: the user is none any more, or
 * the project was deleted.
 */
export async function setProjectRole(
  database: CatalogDatabase,
  { projectId, userId }: { projectId: string; userId: string },
  role: MemberRole,
): Promise<boolean> {
  const { rows } = await sql`
    insert into project_roles (project_id, user_id, role)
    select p.id, m.user_id, ${role}
    from all_projects p join memberships m on m.entity_id = p.entity_id
    where p.id = ${projectId} and p.deleted_at is null and m.user_id = ${userId}
    for share of p, m
    on conflict (user_id, project_id) do update set role = excluded.role
    returning role`.execute(database)
  return rows.length > 0
}

/** false: the user had none of its own. */
export async function removeProjectRole(
  database: CatalogDatabase,
  { projectId, userId }: { projectId: string; userId: string },
): Promise<boolean> {
  const { numDeletedRows } = await database
    .deleteFrom("project_roles")
    .where("project_id", "=", projectId)
    .where("user_id", "=", userId)
    .executeTakeFirst()
  return numDeletedRows > 0
}
