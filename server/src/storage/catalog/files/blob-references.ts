/**
 * Who in the catalog needs a blob. A table that names blobs by SHA-256 must be counted here, or the
 * collector takes them away.
 */
import { type ExpressionBuilder, sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { Catalog } from "../schema.ts"

/** Those of the blobs that any row names. */
export async function referencedBlobs(database: CatalogDatabase, blobs: readonly string[]): Promise<Set<string>> {
  const isListed = sql<string>`any(${blobs})`
  const named = sql<string>`sha256`.as("sha256")
  const rows = await database
    .selectFrom("training_jobs")
    .select("data_sha256 as sha256")
    .where("data_sha256", "=", isListed)
    .union((eb) => eb.selectFrom("uploads").select("sha256").where("sha256", "=", isListed))
    .union((eb) => eb.selectFrom("project_files").select("sha256").where("sha256", "=", isListed))
    .union((eb) => eb.selectFrom("run_files").select("sha256").where("sha256", "=", isListed))
    .union((eb) => eb.selectFrom("artifact_contents").select("sha256").where("sha256", "=", isListed))
    .union((eb) => eb.selectFrom("artifact_manifests").select(named).where("sha256", "=", isListed))
    .union((eb) => eb.selectFrom("artifact_parts").select(named).where("sha256", "=", isListed))
    .union((eb) => eb.selectFrom("trajectory_logs").select("data_sha256 as sha256").where("data_sha256", "=", isListed))
    .execute()
  return new Set(rows.map((row) => row.sha256))
}

/** Whether any row names the blob. */
export async function isBlobReferenced(database: CatalogDatabase, sha256: string): Promise<boolean> {
  return exists(database, (eb) => [
    eb.exists(eb.selectFrom("training_jobs").select("id").where("data_sha256", "=", sha256)),
    eb.exists(eb.selectFrom("uploads").select("id").where("sha256", "=", sha256)),
    eb.exists(eb.selectFrom("project_files").select("digest").where("sha256", "=", sha256)),
    eb.exists(eb.selectFrom("run_files").select("id").where("sha256", "=", sha256)),
    ...ofArtifacts(eb, sha256),
    eb.exists(eb.selectFrom("trajectory_logs").select("id").where("data_sha256", "=", sha256)),
  ])
}

/**
 * Whether the blob is still of use: to an upload or a project's file, a log of a live model, or a job that is open.
 * Jobs that ended and models that were deleted after `before` count as well.
 */
export async function isBlobNeeded(database: CatalogDatabase, sha256: string, before: Date): Promise<boolean> {
  return exists(database, (eb) => [
    eb.exists(eb.selectFrom("uploads").select("id").where("sha256", "=", sha256)),
    eb.exists(eb.selectFrom("project_files").select("digest").where("sha256", "=", sha256)),
    eb.exists(eb.selectFrom("run_files").select("id").where("sha256", "=", sha256)),
    ...ofArtifacts(eb, sha256),
    eb.exists(
      eb
        .selectFrom("training_jobs")
        .select("id")
        .where("data_sha256", "=", sha256)
        .where((job) => job.or([job("ended_at", "is", null), job("ended_at", ">=", before)])),
    ),
    eb.exists(
      eb
        .selectFrom("trajectory_logs")
        .innerJoin("models", "models.id", "trajectory_logs.model_id")
        .select("trajectory_logs.id")
        .where("data_sha256", "=", sha256)
        .where((log) => log.or([log("deleted_at", "is", null), log("deleted_at", ">=", before)])),
    ),
  ])
}

/** Blobs named by a job that ended, or a log whose model was deleted, before `before`; some may still be needed by others. */
export async function spentBlobs(database: CatalogDatabase, before: Date): Promise<string[]> {
  const rows = await database
    .selectFrom("training_jobs")
    .select("data_sha256")
    .where("ended_at", "<", before)
    .where("data_sha256", "<>", "")
    .union((eb) =>
      eb
        .selectFrom("trajectory_logs")
        .innerJoin("models", "models.id", "trajectory_logs.model_id")
        .select("data_sha256")
        .where("deleted_at", "<", before),
    )
    .execute()
  return rows.map((row) => row.data_sha256)
}

/** Drops the names that {@link spentBlobs} found, of a blob that is gone. The job stays, without data. */
export async function forgetBlob(database: CatalogDatabase, sha256: string, before: Date): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction
      .updateTable("training_jobs")
      .set({ data_sha256: "", data_path: "" })
      .where("data_sha256", "=", sha256)
      .where("ended_at", "<", before)
      .execute()
    await transaction
      .deleteFrom("trajectory_logs")
      .where("data_sha256", "=", sha256)
      .where("model_id", "in", (eb) => eb.selectFrom("models").select("id").where("deleted_at", "<", before))
      .execute()
  })
}

type Conditions = (
  builder: ExpressionBuilder<Catalog, never>,
) => ReturnType<ExpressionBuilder<Catalog, never>["exists"]>[]

function ofArtifacts(eb: ExpressionBuilder<Catalog, never>, sha256: string): ReturnType<Conditions> {
  return [
    eb.exists(eb.selectFrom("artifact_contents").select("digest").where("sha256", "=", sha256)),
    eb.exists(eb.selectFrom("artifact_manifests").select("id").where("sha256", "=", sha256)),
    eb.exists(eb.selectFrom("artifact_parts").select("number").where("sha256", "=", sha256)),
  ]
}

async function exists(database: CatalogDatabase, conditions: Conditions): Promise<boolean> {
  const { found } = await database.selectNoFrom((eb) => eb.or(conditions(eb)).as("found")).executeTakeFirstOrThrow()
  return Boolean(found)
}
