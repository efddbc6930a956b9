/** Work that requests leave to the server: evaluation-store-calls 9. */
import { type Route, route } from "../../../http/route.ts"
import {
  evaluateModelBody,
  evaluationStarted,
  evaluationStatus,
  evaluationStatusBody,
  nothing,
  rescoreBody,
  rescoreStarted,
  runActionBody,
  scoreCallsBody,
} from "../../../wire/evaluations/execution.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { evaluateModel } from "./evaluate-model.ts"
import { evaluationStatusOf } from "./evaluation-status.ts"
import type { JobRunner } from "./job-runner.ts"
import { rescore } from "./rescore.ts"
import { runAction } from "./run-action.ts"
import { scoreCalls } from "./score-calls.ts"

const shared = { method: "POST", dialect: "reason" } as const

export function jobRoutes(dependencies: ExecutionDependencies, jobs: JobRunner): Route[] {
  return [
    route({
      ...shared,
      path: "/calls/score",
      access: { right: "write", of: "project body.project_id" },
      summary: "Score calls in the background",
      tag: "Scores",
      schemas: { body: scoreCallsBody },
      response: nothing,
      handle: async ({ body, principal }) => {
        await scoreCalls(dependencies, jobs, principal, body)
        return {}
      },
    }),
    route({
      ...shared,
      path: "/actions/execute_batch",
      access: { right: "write", of: "project body.project_id" },
      summary: "Run an action on calls; its result is feedback on each",
      tag: "Actions",
      schemas: { body: runActionBody },
      response: nothing,
      handle: async ({ body, principal }) => {
        await runAction(dependencies, jobs, principal, body)
        return {}
      },
    }),
    route({
      ...shared,
      path: "/evaluations/evaluate_model",
      access: { right: "write", of: "project body.project_id", train: true },
      summary: "Evaluate a model in the background",
      tag: "Evaluations",
      schemas: { body: evaluateModelBody },
      response: evaluationStarted,
      handle: async ({ body, principal }) => ({ call_id: await evaluateModel(dependencies, jobs, principal, body) }),
    }),
    route({
      ...shared,
      path: "/evaluations/status",
      access: { right: "read", of: "project body.project_id" },
      summary: "How far an evaluation is",
      tag: "Evaluations",
      schemas: { body: evaluationStatusBody },
      response: evaluationStatus,
      handle: async ({ body, principal }) => ({ status: await evaluationStatusOf(dependencies, principal, body) }),
    }),
    route({
      ...shared,
      path: "/evaluations/rescore",
      access: { right: "write", of: "project body.project_id", train: true },
      summary: "Score the predictions of an evaluation run anew, as a run of its own",
      tag: "Evaluations",
      schemas: { body: rescoreBody },
      response: rescoreStarted,
      handle: async ({ body, principal }) => {
        const id = await rescore(dependencies, jobs, principal, body)
        return { call_id: id, evaluation_run_id: id }
      },
    }),
  ]
}
