/** A checkpoint that no job made: an adapter that was trained elsewhere. */
import { sql } from "kysely"
import { HeddleError } from "../../../errors.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { listOf } from "../text-lists.ts"

export interface ImportedCheckpoint {
  modelId: string
  /** null: the one after the newest. */
  step: number | null
  path: string
  sizeBytes: number
  manifestSha256: string
}

/**
 * Makes the folder a checkpoint of the model, which is the newest then, all or nothing. `place` puts the folder where the
 * row says just before that is committed. Returns its step.
 * @throws {HeddleError} `not_found`, `conflict`: it cannot be that step now.
 */
export async function addImportedCheckpoint(
  database: CatalogDatabase,
  { modelId, step: wanted, path, sizeBytes, manifestSha256 }: ImportedCheckpoint,
  place: () => Promise<void>,
): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const step = await nextStep(transaction, modelId, wanted)
    await transaction
      .insertInto("checkpoints")
      .values({
        model_id: modelId,
        step,
        metrics: "{}",
        path,
        size_bytes: sizeBytes,
        manifest_sha256: manifestSha256,
        // An adapter has no state of an optimizer.
        optimizer_removed_at: sql<Date>`now()`,
      })
      .execute()
    await transaction.updateTable("models").set({ last_step: step }).where("id", "=", modelId).execute()
    await place()
    return step
  })
}

/** Holds the model's row until the transaction ends, so that no job ends meanwhile. @throws {HeddleError} */
async function nextStep(transaction: CatalogDatabase, modelId: string, wanted: number | null): Promise<number> {
  const model = await transaction
    .selectFrom("models")
    .select(["name", "last_step", "deleted_at"])
    .where("id", "=", modelId)
    .forUpdate()
    .executeTakeFirst()
  if (model === undefined || model.deleted_at !== null) throw new HeddleError("not_found", "the model was deleted")
  const running = await transaction
    .selectFrom("training_jobs")
    .select("id")
    .where("model_id", "=", modelId)
    .where("status", "=", "running")
    .executeTakeFirst()
  if (running !== undefined) {
    throw new HeddleError(
      "conflict",
      `the model "${model.name}" is being trained by job ${running.id}; import when it has ended, or cancel it`,
    )
  }
  if (wanted === null || wanted > model.last_step) return wanted ?? model.last_step + 1
  throw new HeddleError(
    "conflict",
    `the model "${model.name}" is at step ${model.last_step}, and a step is not replaced; ` +
      `choose ${model.last_step + 1} or a higher one, or leave step out`,
  )
}

/** Those of `paths` that a checkpoint has or had. */
export async function knownPaths(database: CatalogDatabase, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  const rows = await database.selectFrom("checkpoints").select("path").where("path", "in", listOf(paths)).execute()
  return rows.flatMap(({ path }) => path ?? [])
}
