/** Lists base models; makes, lists and deletes models: rows 2, 3 and 4 of training-api 1.1. */
import { requireRightIn, teamIds } from "../access/can.ts"
import { rm } from "node:fs/promises"
import path from "node:path"
import { HeddleError } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import { audited } from "../storage/catalog/accounts/audit-logs.ts"
import { isKnownModel, type ListedModel, listModels } from "../storage/catalog/training/model-list.ts"
import { deleteModel } from "../storage/catalog/training/models.ts"
import { usageOf } from "../storage/team-usage.ts"
import { removeModelRecords } from "../scheduler/training-records.ts"
import {
  baseModels as baseModelsSchema,
  createModelBody,
  deleteModelAnswer,
  type ListedModel as WireModel,
  model as modelSchema,
  modelPage,
  modelParams,
  modelsQuery,
} from "../wire/training/model.ts"
import { toPage } from "../wire/training/page.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { noSuchModel } from "./model-access.ts"
import { makeModel, toWireModel } from "./models.ts"

export function modelRoutes(dependencies: TrainingDependencies): Route[] {
  const { database, baseModels, wakeScheduler, dataDir, afterUse, exports } = dependencies
  return [
    route({
      method: "GET",
      path: "/v1/preview/base-models",
      access: "public",
      dialect: "detail",
      summary: "Base models that can be trained without a download",
      tag: "Models",
      schemas: {},
      response: baseModelsSchema,
      handle: async () => baseModels.shipped,
    }),
    route({
      method: "GET",
      path: "/v1/preview/models",
      access: { right: "read", of: "teams" },
      dialect: "detail",
      summary: "List trainable models, the newest first",
      tag: "Models",
      schemas: { query: modelsQuery },
      response: modelPage,
      handle: async ({ query, principal }) => {
        const entityIds = teamIds(principal)
        if (query.after !== undefined && !(await isKnownModel(database, entityIds, query.after))) {
          throw new HeddleError("not_found", `after: "${query.after}" is no model that you may see`)
        }
        const { entity = null, project = null, name = null, query: part = null, after = null, limit } = query
        const selection = { entityIds, entity, project, name, part, afterId: after, limit: limit + 1 }
        const rows = await listModels(database, selection)
        return toPage(rows.map(toListedModel), limit)
      },
    }),
    route({
      method: "POST",
      path: "/v1/preview/models",
      access: { right: "write", of: "team body.entity", train: true },
      dialect: "detail",
      summary: "Make a trainable model, with its checkpoint 0",
      tag: "Models",
      schemas: { body: createModelBody },
      response: modelSchema,
      handle: async ({ body, principal }) => toWireModel(await makeModel(dependencies, principal, body)),
    }),
    route({
      method: "DELETE",
      path: "/v1/preview/models/:model_id",
      access: { right: "write", of: "model path.model_id" },
      dialect: "detail",
      summary: "Delete a model with its checkpoints; its open jobs fail",
      tag: "Models",
      schemas: { params: modelParams },
      response: deleteModelAnswer,
      // Clients send a DELETE again when its answer was lost, so the second says what the first said.
      handle: async ({ params, principal }) => {
        const deleted = await audited(database, principal, async (transaction, record) => {
          const gone = await deleteModel(transaction, teamIds(principal), params.model_id)
          if (gone === null) throw noSuchModel(params.model_id)
          requireRightIn(principal, gone.projectId, gone)
          const { id, entity, project, name, checkpoints } = gone
          if (gone.isNew) {
            await record({
              type: "model.deleted",
              team: entity,
              resourceId: id,
              details: { project, name, checkpoints },
            })
          }
          return gone
        })
        if (deleted.isNew) usageOf(database)?.ofProject(deleted.projectId, -deleted.bytes)
        wakeScheduler()
        await exports.remove(deleted.id, null)
        const folder = path.join(dataDir, "checkpoints", deleted.id)
        await afterUse(deleted.id, null, () => rm(folder, { recursive: true, force: true }))
        await removeModelRecords(dataDir, deleted.id)
        return { model_id: deleted.id, deleted_checkpoints: deleted.checkpoints, deleted_run: true }
      },
    }),
  ]
}

function toListedModel(listed: ListedModel): WireModel {
  return {
    ...toWireModel(listed),
    created_at: listed.createdAt.toISOString(),
    latest_step: listed.latestStep,
    latest_step_at: listed.latestStepAt?.toISOString() ?? null,
    open_jobs: listed.openJobs,
  }
}
