/** Making SFT jobs: training-api 2.5. */
import { invalid } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { createJob, type JobRecord } from "../storage/catalog/training-jobs.ts"
import type { CreateSftJobBody } from "../wire/training/sft-job.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { referToBlob } from "./job-data.ts"
import { modelOf, noSuchModel } from "./model-access.ts"
import { resolveSftConfig, sftWarningsOf } from "./sft-config.ts"
import { sftData } from "./sft-data.ts"
import { checkRows } from "./sft-rows.ts"

/**
 * A row that cannot be trained on fails the job, naming its line, and not the request.
 * @throws {HeddleError} 404 the model; 422 the settings, or data that cannot be had. Then nothing is stored.
 */
export async function makeSftJob(
  dependencies: TrainingDependencies,
  principal: Principal,
  body: CreateSftJobBody,
  ownHost: string,
): Promise<JobRecord> {
  const { database, blobs } = dependencies
  const model = await modelOf(database, principal, body.model_id)
  const sha256 = await sftData(dependencies, principal, body.training_data_url, ownHost)
  const job = await referToBlob(database, blobs, sha256, () => storeSftJob(dependencies, model.id, body, sha256))
  if (job === null) throw noSuchModel(body.model_id)
  dependencies.wakeScheduler()
  return job
}

async function storeSftJob(
  { database, blobs }: TrainingDependencies,
  modelId: string,
  body: CreateSftJobBody,
  sha256: string,
): Promise<JobRecord | null> {
  const engine = resolveSftConfig(body.config ?? {})
  const { rows, fault } = await checkRows(blobs.read(sha256))
  if (rows === 0 && fault === null) throw invalid(["body", "training_data_url"], "the training data has no row")
  const batches = Math.ceil(rows / engine.batch_size)
  if (fault === null && Array.isArray(engine.learning_rate) && engine.learning_rate.length > batches) {
    const values = engine.learning_rate.length
    throw invalid(
      ["body", "config", "learning_rate"],
      `${values} values for ${batches} batches of ${engine.batch_size}`,
    )
  }
  return createJob(database, {
    modelId,
    config: { kind: "sft", engine, kl_reference: null },
    requestedConfig: { config: body.config ?? null, experimental_config: body.experimental_config ?? null },
    dataPath: blobs.pathOf(sha256),
    dataSha256: sha256,
    warnings: sftWarningsOf(body),
    failure: fault,
  })
}
