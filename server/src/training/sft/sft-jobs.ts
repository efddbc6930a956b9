/** Making SFT jobs: training-api 2.5. */
import { invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import type { ModelRecord } from "../../storage/catalog/training/models.ts"
import { createJob, type JobRecord } from "../../storage/catalog/training/training-jobs.ts"
import type { SftConfig } from "../../wire/engine/train.ts"
import type { CreateSftJobBody } from "../../wire/training/sft-job.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { referToBlob } from "../job-data.ts"
import { modelOf, noSuchModel, requireRoomFor } from "../model-access.ts"
import { resolveSftConfig, sftWarningsOf } from "./sft-config.ts"
import { sftData } from "./sft-data.ts"
import { batchesSurelyLabelled, checkRows } from "./sft-rows.ts"

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
  const job = await referToBlob(database, blobs, sha256, () =>
    storeSftJob(dependencies, principal, model, body, sha256),
  )
  if (job === null) throw noSuchModel(body.model_id)
  dependencies.wakeScheduler()
  return job
}

async function storeSftJob(
  dependencies: TrainingDependencies,
  principal: Principal,
  model: ModelRecord,
  body: CreateSftJobBody,
  sha256: string,
): Promise<JobRecord | null> {
  const { database, blobs, threads } = dependencies
  const dataBytes = await blobs.sizeOf(sha256)
  await requireRoomFor(database, principal, model, dataBytes)
  const engine = resolveSftConfig(body.config ?? {})
  const { rows, fault } = await checkRows(blobs.read(sha256), threads)
  if (rows === 0 && fault === null) throw invalid(["body", "training_data_url"], "the training data has no row")
  if (fault === null) await checkLearningRates(dependencies, model, engine, sha256, rows)
  return createJob(database, {
    modelId: model.id,
    projectId: model.projectId,
    userId: principal.userId,
    config: { kind: "sft", engine, kl_reference: null },
    requestedConfig: { config: body.config ?? null, experimental_config: body.experimental_config ?? null },
    dataPath: blobs.pathOf(sha256),
    dataSha256: sha256,
    dataBytes,
    warnings: sftWarningsOf(body),
    failure: fault,
  })
}

/** Tokens that a chat template may add to a row beyond its bytes: a default system turn, what introduces tools. */
const templateTokens = 1024

/**
 * A list has a value for each batch, or for each that has a labelled token (training-api 7.5). Which
 * those are only the engine knows; no token is shorter than a byte, which tells enough here.
 * @throws {HeddleError} 422 when no count of batches can fit.
 */
async function checkLearningRates(
  { blobs, maximumTokens }: TrainingDependencies,
  { baseModel, basePath }: ModelRecord,
  { learning_rate: rates, batch_size: batchSize }: SftConfig,
  sha256: string,
  rows: number,
): Promise<void> {
  const batches = Math.ceil(rows / batchSize)
  if (!Array.isArray(rates) || rates.length === batches) return
  if (rates.length < batches) {
    const longest = await maximumTokens({ name: baseModel, path: basePath })
    if (longest === null) return
    const labelled = await batchesSurelyLabelled(blobs.read(sha256), batchSize, longest - templateTokens)
    if (rates.length >= labelled) return
  }
  throw invalid(
    ["body", "config", "learning_rate"],
    `${rates.length} values for ${batches} batches of ${batchSize}; send one value per batch, or a single number`,
  )
}
