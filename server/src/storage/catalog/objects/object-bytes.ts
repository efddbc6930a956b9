import { sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"

/** Total size of the values of a project's live versions. */
export async function objectBytes(database: CatalogDatabase, projectId: string): Promise<number> {
  const { bytes } = await database
    .selectFrom("object_versions")
    .select(sql<number>`coalesce(sum(size_bytes), 0)::bigint`.as("bytes"))
    .where("project_id", "=", projectId)
    .where("deleted_at", "is", null)
    .executeTakeFirstOrThrow()
  return bytes
}
