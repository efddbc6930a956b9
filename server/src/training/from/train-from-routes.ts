/** Training from what was traced, labelled and scored: first what would be trained, then the job. */
import { type Route, route } from "../../http/route.ts"
import { exactRequest } from "../../http/bodies/exact-request.ts"
import { trainedFromJob, trainFromBody, trainingDryRun } from "../../wire/training/train-from.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { toWireJob } from "../job-routes.ts"
import { dryRun, makeJobFrom } from "./train-from.ts"

export function trainFromRoutes(dependencies: TrainingDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/preview/training-jobs/from-source/dry-run",
      access: { right: "read", of: "project body.source.project_id" },
      dialect: "detail",
      summary: "Say what a job from calls, labels or scores would be trained on; nothing is stored",
      tag: "Training jobs",
      schemas: { body: trainFromBody },
      response: trainingDryRun,
      handle: (context) => dryRun(dependencies, context.principal, exactRequest(context)),
    }),
    route({
      method: "POST",
      path: "/v1/preview/training-jobs/from-source",
      access: { right: "write", of: "model body.model_id", train: true },
      dialect: "detail",
      summary: "Train a model on calls, labels or scores",
      tag: "Training jobs",
      schemas: { body: trainFromBody },
      response: trainedFromJob,
      handle: async (context) => {
        dependencies.requireEngine()
        const { job, summary } = await makeJobFrom(dependencies, context.principal, exactRequest(context))
        return { ...toWireJob(job), summary }
      },
    }),
  ]
}
