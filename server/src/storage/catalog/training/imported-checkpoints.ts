/** A checkpoint that no job made: an adapter that was trained elsewhere. */
import { sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"
import { listOf } from "../text-lists.ts"
import { checkedNewStep } from "./new-step.ts"

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
    const otherStep = (next: number) => `choose ${next} or a higher one, or leave step out`
    const step = await checkedNewStep(transaction, { modelId, step: wanted, otherStep })
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

/** Those of `paths` that a checkpoint has or had. */
export async function knownPaths(database: CatalogDatabase, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  const rows = await database.selectFrom("checkpoints").select("path").where("path", "in", listOf(paths)).execute()
  return rows.flatMap(({ path }) => path ?? [])
}
