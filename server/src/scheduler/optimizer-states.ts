/**
 * The optimizer's state beside an adapter is twice as large and is read by the model's next job alone, which starts from
 * the newest checkpoint. Older ones lose it; some are kept for models whose newest checkpoints are deleted.
 */
import { rm, stat } from "node:fs/promises"
import path from "node:path"
import { checkpointsBefore, removeOptimizerState } from "../storage/catalog/training/checkpoints.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { noneIfGone } from "../storage/file-system/none-if-gone.ts"
import { usageOf } from "../storage/team-usage.ts"

/** As the engine names it. */
export const optimizerFile = "optimizer.safetensors"

/** Call it after a job has ended: the model's next job starts from one of the `kept` newest checkpoints. */
export async function pruneOptimizerStates(
  database: CatalogDatabase,
  dataDir: string,
  model: { modelId: string; projectId: string },
  kept: number,
): Promise<void> {
  for (const { id, path: folder } of await checkpointsBefore(database, model.modelId, kept)) {
    const file = path.join(dataDir, folder ?? "", optimizerFile)
    const bytes = await sizeOf(file)
    // Noted first: should the server end in between, its next start removes the file.
    if (!(await removeOptimizerState(database, id, bytes))) continue
    await rm(file, { force: true })
    usageOf(database)?.ofProject(model.projectId, -bytes)
  }
}

/** 0: a checkpoint that repeats an untrained one has none. */
async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(noneIfGone))?.size ?? 0
}
