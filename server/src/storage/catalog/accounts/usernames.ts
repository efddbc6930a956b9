/** Names of users by their ids. */
import type { CatalogDatabase } from "../open-catalog.ts"

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Ids that are not there, or no ids at all, are left out. */
export async function findUsernames(database: CatalogDatabase, ids: readonly string[]): Promise<Map<string, string>> {
  const userIds = ids.filter((id) => uuid.test(id))
  if (userIds.length === 0) return new Map()
  const rows = await database.selectFrom("users").select(["id", "username"]).where("id", "in", userIds).execute()
  return new Map(rows.map(({ id, username }) => [id, username]))
}
