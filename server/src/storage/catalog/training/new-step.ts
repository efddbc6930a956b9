/** The step of a checkpoint that no training job of the model makes: an imported one, or a version of an artifact. */
import { sql } from "kysely"
import { HeddleError } from "../../../errors.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface NewStep {
  modelId: string
  /** null: the one after the newest. */
  step: number | null
  /** For the refusal of a step that is not new: how the client names another one, such as `leave step out`. */
  otherStep: (next: number) => string
}

/**
 * In a transaction it holds the model's row until that ends, so that no job ends meanwhile.
 * @throws {HeddleError} `not_found`; `conflict`: a job of the model is at work, also one that was cancelled and has not
 * stopped, or the step is not above the newest.
 */
export async function checkedNewStep(
  database: CatalogDatabase,
  { modelId, step, otherStep }: NewStep,
): Promise<number> {
  const model = await database
    .selectFrom("models")
    .select(["name", "last_step", "deleted_at"])
    .where("id", "=", modelId)
    .forUpdate()
    .executeTakeFirst()
  if (model === undefined || model.deleted_at !== null) throw new HeddleError("not_found", "the model was deleted")
  // A paused job counts too: it goes on from the step that it began with.
  const openJob = await database
    .selectFrom("training_jobs")
    .select("id")
    .where("model_id", "=", modelId)
    .where("started_at", "is not", null)
    .where("ended_at", "is", null)
    .executeTakeFirst()
  if (openJob !== undefined) {
    throw new HeddleError(
      "conflict",
      `the model "${model.name}" is being trained by job ${openJob.id}; add a checkpoint when the job has ended, or cancel it`,
    )
  }
  // Before its server lets go of it, it removes the folder of the step that the job was to make.
  const stoppingJob = await database
    .selectFrom("training_jobs")
    .select("id")
    .where("model_id", "=", modelId)
    .where("lease_owner", "is not", null)
    .where("lease_expires_at", ">", sql<Date>`now()`)
    .executeTakeFirst()
  if (stoppingJob !== undefined) {
    throw new HeddleError(
      "conflict",
      `job ${stoppingJob.id} of the model "${model.name}" was cancelled and has not stopped yet; try again in a moment`,
    )
  }
  if (step === null || step > model.last_step) return step ?? model.last_step + 1
  throw new HeddleError(
    "conflict",
    `the model "${model.name}" is at step ${model.last_step}, and a step is not replaced; ${otherStep(model.last_step + 1)}`,
  )
}
