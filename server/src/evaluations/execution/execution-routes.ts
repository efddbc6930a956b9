/** Routes for models and scorers that the server runs itself: evaluation-store-calls 9. */
import type { Route } from "../../http/route.ts"
import { completionRoutes } from "./completion-routes.ts"
import type { CompletionDependencies, ExecutionDependencies } from "./dependencies.ts"
import { evaluateModelJob } from "./jobs/evaluate-model.ts"
import { jobRoutes } from "./jobs/job-routes.ts"
import { JobRunner, type JobRunnerOptions } from "./jobs/job-runner.ts"
import { rescoreJob } from "./jobs/rescore.ts"
import { runActionJob } from "./jobs/run-action.ts"
import { scoreCallsJob } from "./jobs/score-calls.ts"
import { runtimeRoutes } from "./providers/runtime-routes.ts"

export function executionRoutes(dependencies: CompletionDependencies, jobs: JobRunner): Route[] {
  return [...completionRoutes(dependencies), ...runtimeRoutes(dependencies), ...jobRoutes(dependencies, jobs)]
}

/** Start it before the first request, and close it before the stores. */
export function executionJobs(
  dependencies: ExecutionDependencies,
  options: Pick<JobRunnerOptions, "log" | "exclusive">,
): JobRunner {
  const kinds = {
    score_calls: scoreCallsJob(dependencies),
    run_action: runActionJob(dependencies),
    evaluate_model: evaluateModelJob(dependencies),
    rescore: rescoreJob(dependencies),
  }
  return new JobRunner({ database: dependencies.database, kinds, ...options })
}
