/** Roles that members of a team have in one of its projects, instead of the team's. */
import type { MemberRole } from "../../../wire/platform/access.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

/** The roles that a user has in single projects, by the id of the project. */
export async function findProjectRoles(database: CatalogDatabase, userId: string): Promise<Map<string, MemberRole>> {
  const rows = await database
    .selectFrom("project_roles")
    .select(["project_id", "role"])
    .where("user_id", "=", userId)
    .execute()
  return new Map(rows.map(({ project_id, role }) => [project_id, role]))
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

export async function setProjectRole(
  database: CatalogDatabase,
  { projectId, userId }: { projectId: string; userId: string },
  role: MemberRole,
): Promise<void> {
  await database
    .insertInto("project_roles")
    .values({ project_id: projectId, user_id: userId, role })
    .onConflict((on) => on.columns(["user_id", "project_id"]).doUpdateSet({ role }))
    .execute()
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
