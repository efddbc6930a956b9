/** Lists, reads and deletes checkpoints of a model: rows 5 and 6 of training-api 1.1, and a single one. */
import { rm } from "node:fs/promises"
import path from "node:path"
import { HeddleError } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import { audited } from "../storage/catalog/accounts/audit-logs.ts"
import { usageOf } from "../storage/team-usage.ts"
import {
  type CheckpointRecord,
  deleteCheckpoints,
  findCheckpoint,
  listCheckpoints,
  stepOfCheckpoint,
} from "../storage/catalog/training/checkpoints.ts"
import type { ModelRecord } from "../storage/catalog/training/models.ts"
import {
  type Checkpoint,
  checkpointPage,
  checkpointParams,
  checkpointQuery,
  deleteCheckpointsAnswer,
  deleteCheckpointsBody,
  readCheckpoint,
} from "../wire/training/checkpoint.ts"
import { modelParams } from "../wire/training/model.ts"
import { toPage } from "../wire/training/page.ts"
import { noSuchStep, stepNamed } from "./checkpoint-access.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { modelOf } from "./model-access.ts"

export function checkpointRoutes(dependencies: TrainingDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      method: "GET",
      path: "/v1/preview/models/:model_id/checkpoints",
      access: { right: "read", of: "model path.model_id" },
      dialect: "detail",
      summary: "List checkpoints by step",
      tag: "Checkpoints",
      schemas: { params: modelParams, query: checkpointQuery },
      response: checkpointPage,
      handle: async ({ params, query, principal }) => {
        const model = await modelOf(database, principal, params.model_id)
        const afterStep = query.after === undefined ? null : await stepOfCheckpoint(database, model.id, query.after)
        if (query.after !== undefined && afterStep === null) throw unknownCursor(query.after)
        const range = { afterStep, order: query.order, limit: query.limit + 1 }
        const rows = await listCheckpoints(database, model.id, range)
        return toPage(
          rows.map((row) => toWireCheckpoint(model, row)),
          query.limit,
        )
      },
    }),
    route({
      method: "GET",
      path: "/v1/preview/models/:model_id/checkpoints/:step",
      access: { right: "read", of: "model path.model_id" },
      dialect: "detail",
      summary: "Read the checkpoint of a step, or the newest",
      tag: "Checkpoints",
      schemas: { params: checkpointParams },
      response: readCheckpoint,
      handle: async ({ params, principal }) => {
        const model = await modelOf(database, principal, params.model_id)
        const step = await stepNamed(database, model, params.step)
        const found = await findCheckpoint(database, model.id, step)
        if (found === null) throw noSuchStep(model, step)
        return { ...toWireCheckpoint(model, found), job_id: found.jobId }
      },
    }),
    route({
      method: "DELETE",
      path: "/v1/preview/models/:model_id/checkpoints",
      access: { right: "write", of: "model path.model_id" },
      dialect: "detail",
      summary: "Delete checkpoints by step",
      tag: "Checkpoints",
      schemas: { params: modelParams, body: deleteCheckpointsBody },
      response: deleteCheckpointsAnswer,
      handle: async ({ params, body, principal }) => {
        const model = await modelOf(database, principal, params.model_id)
        const steps = [...new Set(body.steps)]
        const deleted = await audited(database, principal, async (transaction, record) => {
          const gone = await deleteCheckpoints(transaction, model.id, steps)
          const { id: resourceId, entity: team, project, name } = model
          const details = { project, name, steps: gone.map(({ step }) => step) }
          if (gone.length > 0) await record({ type: "checkpoint.deleted", team, resourceId, details })
          return gone
        })
        const givenBack = deleted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
        usageOf(database)?.ofProject(model.projectId, -givenBack)
        await removeFolders(dependencies, model.id, deleted)
        const gone = new Set(deleted.map((checkpoint) => checkpoint.step))
        return { deleted_count: deleted.length, not_found_steps: steps.filter((step) => !gone.has(step)) }
      },
    }),
  ]
}

/** Adapters in use are in the engine's memory by now; requests that run on them finish. */
async function removeFolders(
  { dataDir, afterUse, exports }: TrainingDependencies,
  modelId: string,
  checkpoints: readonly CheckpointRecord[],
): Promise<void> {
  const removals = checkpoints.map(async ({ step, path: folder }) => {
    await exports.remove(modelId, step)
    if (folder === null) return
    await afterUse(modelId, step, () => rm(path.join(dataDir, folder), { recursive: true, force: true }))
  })
  await Promise.all(removals)
}

function unknownCursor(after: string): HeddleError {
  return new HeddleError("not_found", `after: "${after}" is no checkpoint of this model`)
}

export function toWireCheckpoint(model: ModelRecord, record: CheckpointRecord): Checkpoint {
  const { id, step, metrics } = record
  return {
    id,
    step,
    metrics,
    created_at: record.createdAt.toISOString(),
    size_bytes: record.sizeBytes,
    base_model: model.baseModel,
    artifact: `wandb-artifact:///${model.entity}/${model.project}/${model.name}:step${step}`,
  }
}
