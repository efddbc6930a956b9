/** `POST …/checkpoints`: a LoRA that was trained elsewhere. */
import { z } from "zod"
import { HeddleError } from "../../errors.ts"
import { type Route, route } from "../../http/route.ts"
import { findCheckpoint } from "../../storage/catalog/training/checkpoints.ts"
import { importCheckpointQuery, readCheckpoint } from "../../wire/training/checkpoint.ts"
import { modelParams } from "../../wire/training/model.ts"
import { toWireCheckpoint } from "../checkpoint-routes.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { modelOf } from "../model-access.ts"
import { importCheckpoint } from "./import-checkpoint.ts"

export function importRoutes(dependencies: TrainingDependencies): Route[] {
  const { database, requireEngine } = dependencies
  return [
    route({
      method: "POST",
      path: "/v1/preview/models/:model_id/checkpoints",
      access: { right: "write", of: "model path.model_id" },
      dialect: "detail",
      summary: "Add a LoRA that was trained elsewhere as the model's newest step",
      tag: "Checkpoints",
      schemas: { params: modelParams, query: importCheckpointQuery },
      streamsBody: true,
      bodyDocument: z.file(),
      bodyType: "application/x-tar",
      response: readCheckpoint,
      handle: async ({ params, query, principal, request }) => {
        const model = await modelOf(database, principal, params.model_id)
        requireEngine()
        const step = await importCheckpoint(dependencies, principal, model, query, request.raw)
        const made = await findCheckpoint(database, model.id, step)
        if (made === null) throw new HeddleError("not_found", `step ${step} of "${model.name}" was deleted meanwhile`)
        return { ...toWireCheckpoint(model, made), job_id: made.jobId }
      },
    }),
  ]
}
