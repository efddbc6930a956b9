/** Trajectories that a client logged for a step (training-api 2.4). */
import { mergeLatestMetrics } from "./checkpoints.ts"
import { usageOf } from "../../team-usage.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface NewTrajectoryLog {
  modelId: string
  projectId: string
  split: string
  dataSha256: string
  sizeBytes: number
  /** For the newest checkpoint, keys with `<split>/`. */
  metrics: Record<string, number>
}

/** Stores the log and its metrics together; returns the step. null: the model has no checkpoint. */
export async function createTrajectoryLog(database: CatalogDatabase, log: NewTrajectoryLog): Promise<number | null> {
  const logged = await database.transaction().execute(async (transaction) => {
    const step = await mergeLatestMetrics(transaction, log.modelId, log.metrics)
    if (step === null) return null
    await transaction
      .insertInto("trajectory_logs")
      .values({
        model_id: log.modelId,
        step,
        split: log.split,
        data_sha256: log.dataSha256,
        size_bytes: log.sizeBytes,
      })
      .execute()
    return step
  })
  if (logged !== null) usageOf(database)?.ofProject(log.projectId, log.sizeBytes)
  return logged
}
