/** Making RL jobs: training-api 2.1. The data is stored and checked before the answer, the work begins after it. */
import type { HeldBody } from "../../http/bodies/body-budget.ts"
import type { Principal } from "../../http/principal.ts"
import { metricHistory } from "../../storage/catalog/training/checkpoints.ts"
import { createJob, type JobRecord } from "../../storage/catalog/training/training-jobs.ts"
import { rlJobFields } from "../../wire/training/rl-job.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { referToBlob, withTemporaryFile } from "../job-data.ts"
import { resolveKlReference } from "./kl-reference.ts"
import { rewardDeviationMultiplier } from "./learning-rate-multiplier.ts"
import { modelOf, noSuchModel, requireRoomFor } from "../model-access.ts"
import { resolveRlConfig, warningsOf } from "./rl-config.ts"
import { policyNames } from "../trajectories/captured/policy-names.ts"
import { checkedFields } from "../trajectories/trajectory-fields.ts"
import type { ReadTrajectories } from "../trajectories/trajectory-messages.ts"
import { prefixed } from "../trajectories/trajectory-metrics.ts"

const deviationMetric = "train/reward_std_dev"

/** @throws {HeddleError} 404 the model; 422, 400, 413 the body. Then nothing is stored. */
export async function makeRlJob(
  dependencies: TrainingDependencies,
  principal: Principal,
  body: AsyncIterable<Uint8Array>,
  held: HeldBody,
): Promise<JobRecord> {
  const { blobs, trajectories, wakeScheduler } = dependencies
  const job = await withTemporaryFile(blobs, async (file) => {
    const data = await trajectories.read(body, file, "engine", held)
    return storeRlJob(dependencies, principal, data, file)
  })
  wakeScheduler()
  return job
}

async function storeRlJob(
  dependencies: TrainingDependencies,
  principal: Principal,
  data: ReadTrajectories,
  file: string,
): Promise<JobRecord> {
  const { database, blobs } = dependencies
  const fields = checkedFields(rlJobFields, data)
  const model = await modelOf(database, principal, fields.model_id)
  await requireRoomFor(database, principal, model, data.sizeBytes)
  const config = fields.experimental_config ?? {}
  const scaled = config.scale_learning_rate_by_reward_std_dev === true
  const history = scaled ? await metricHistory(database, model.id, deviationMetric) : []
  const engine = resolveRlConfig(config, rewardDeviationMultiplier(history))
  const klReference = await resolveKlReference(database, principal, model, config)
  await blobs.adopt(file, data.sha256)
  const job = await referToBlob(database, blobs, data.sha256, () =>
    createJob(database, {
      modelId: model.id,
      projectId: model.projectId,
      userId: principal.userId,
      config: {
        kind: "rl",
        engine: { ...engine, policy_names: policyNames(data.capturedModels, model) },
        kl_reference: klReference,
        checkpoint_metrics: prefixed("train", data.metrics),
      },
      requestedConfig: fields.experimental_config,
      dataPath: blobs.pathOf(data.sha256),
      dataSha256: data.sha256,
      dataBytes: data.sizeBytes,
      warnings: [...warningsOf(config), ...trajectoryWarnings(data)],
      failure: null,
    }),
  )
  if (job === null) throw noSuchModel(fields.model_id)
  return job
}

/** Warns about unknown fields, which the client may have meant to be trained. */
function trajectoryWarnings({ unknownFields }: ReadTrajectories): string[] {
  return Object.entries(unknownFields).map(
    ([field, count]) => `${count} trajectories have a field "${field}", which is not known here and is not trained`,
  )
}
