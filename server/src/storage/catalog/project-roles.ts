/** Roles that members of a team have in one of its projects, instead of the team's. */
import type { MemberRole } from "../../wire/platform/access.ts"
import type { CatalogDatabase } from "./open-catalog.ts"

/** By the project's id. */
export async function findProjectRoles(database: CatalogDatabase, userId: string): Promise<Map<string, MemberRole>> {
  const rows = await database
    .selectFrom("project_roles")
    .select(["project_id", "role"])
    .where("user_id", "=", userId)
    .execute()
  return new Map(rows.map(({ project_id, role }) => [project_id, role]))
}
