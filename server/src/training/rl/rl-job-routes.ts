/** Asking for an RL job: row 8 of training-api 1.1. */
import { bodyStream } from "../../http/bodies/body-stream.ts"
import { type Route, route } from "../../http/route.ts"
import { job as jobSchema } from "../../wire/training/job.ts"
import { createRlJobBody } from "../../wire/training/rl-job.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { toWireJob } from "../job-routes.ts"
import { makeRlJob } from "./rl-jobs.ts"

export function rlJobRoutes(dependencies: TrainingDependencies): Route[] {
  const { maximumBodyBytes } = dependencies.limits
  return [
    route({
      method: "POST",
      path: "/v1/preview/training-jobs",
      access: { right: "write", of: "model body.model_id", train: true },
      dialect: "detail",
      summary: "Train a model by reinforcement learning on groups of trajectories",
      tag: "Training jobs",
      schemas: {},
      streamsBody: true,
      bodyDocument: createRlJobBody,
      response: jobSchema,
      handle: async ({ request, principal, held }) => {
        dependencies.requireEngine()
        return toWireJob(await makeRlJob(dependencies, principal, bodyStream(request.raw, maximumBodyBytes), held))
      },
    }),
  ]
}
