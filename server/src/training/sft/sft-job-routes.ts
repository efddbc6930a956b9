/** Asking for an SFT job: row 9 of training-api 1.1. */
import { type Route, route } from "../../http/route.ts"
import { job as jobSchema } from "../../wire/training/job.ts"
import { createSftJobBody } from "../../wire/training/sft-job.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { toWireJob } from "../job-routes.ts"
import { makeSftJob } from "./sft-jobs.ts"

export function sftJobRoutes(dependencies: TrainingDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/preview/sft-training-jobs",
      access: { right: "write", of: "model body.model_id", train: true },
      dialect: "detail",
      summary: "Fine-tune a model on example dialogues",
      tag: "Training jobs",
      schemas: { body: createSftJobBody },
      response: jobSchema,
      handle: async ({ body, principal, request }) => {
        dependencies.requireEngine()
        return toWireJob(await makeSftJob(dependencies, principal, body, request.host))
      },
    }),
  ]
}
