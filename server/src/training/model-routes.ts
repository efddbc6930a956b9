/** Rows 2, 3 and 4 of training-api 1.1. */
import { rm } from "node:fs/promises"
import path from "node:path"
import { type Route, route } from "../http/route.ts"
import { deleteModel } from "../storage/catalog/models.ts"
import {
  baseModels as baseModelsSchema,
  createModelBody,
  deleteModelAnswer,
  model as modelSchema,
  modelParams,
} from "../wire/training/model.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { entityIdsOf, noSuchModel } from "./model-access.ts"
import { makeModel, toWireModel } from "./models.ts"

export function modelRoutes(dependencies: TrainingDependencies): Route[] {
  const { database, baseModels, wakeScheduler, dataDir, afterUse } = dependencies
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
      method: "POST",
      path: "/v1/preview/models",
      access: "key",
      dialect: "detail",
      summary: "Make a trainable model, with its checkpoint 0",
      tag: "Models",
      schemas: { body: createModelBody },
      response: modelSchema,
      handle: async ({ body, principal }) => toWireModel(await makeModel(database, baseModels, principal, body)),
    }),
    route({
      method: "DELETE",
      path: "/v1/preview/models/:model_id",
      access: "key",
      dialect: "detail",
      summary: "Delete a model with its checkpoints; its open jobs fail",
      tag: "Models",
      schemas: { params: modelParams },
      response: deleteModelAnswer,
      // Clients send a DELETE again when its answer was lost, so the second says what the first said.
      handle: async ({ params, principal }) => {
        const deleted = await deleteModel(database, entityIdsOf(principal), params.model_id)
        if (deleted === null) throw noSuchModel(params.model_id)
        wakeScheduler()
        const folder = path.join(dataDir, "checkpoints", deleted.id)
        await afterUse(deleted.id, null, () => rm(folder, { recursive: true, force: true }))
        return { model_id: deleted.id, deleted_checkpoints: deleted.checkpoints, deleted_run: true }
      },
    }),
  ]
}
