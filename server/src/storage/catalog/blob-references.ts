/** Whether anything in the catalog still needs a blob. */
import type { CatalogDatabase } from "./open-catalog.ts"

export async function isBlobReferenced(database: CatalogDatabase, sha256: string): Promise<boolean> {
  const { found } = await database
    .selectNoFrom(({ exists, selectFrom, or }) =>
      or([
        exists(selectFrom("training_jobs").select("id").where("data_sha256", "=", sha256)),
        exists(selectFrom("uploads").select("id").where("sha256", "=", sha256)),
        exists(selectFrom("trajectory_logs").select("id").where("data_sha256", "=", sha256)),
      ]).as("found"),
    )
    .executeTakeFirstOrThrow()
  return Boolean(found)
}
