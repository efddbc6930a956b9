/** Evaluations: their runs and results, and what the server runs by itself. */
import type { WorkingArea } from "../http/area.ts"
import type { VersionPublished } from "../objects/object-routes.ts"
import type { ArrivedCalls } from "../storage/arrived-calls.ts"
import { removeEndedExecutionJobs } from "../storage/catalog/evaluations/execution-jobs.ts"
import { DailyWork } from "../storage/daily-work.ts"
import type { ExecutionDependencies } from "./execution/dependencies.ts"
import { executionJobs, executionRoutes } from "./execution/execution-routes.ts"
import type { JobRunnerOptions } from "./execution/jobs/job-runner.ts"
import { LateEnds } from "./execution/late-ends.ts"
import { endCutOffCalls } from "./execution/recorded-completion.ts"
import { evalResultRoutes } from "./results/eval-result-routes.ts"
import { evaluationRunRoutes } from "./runs/evaluation-run-routes.ts"
import { onlineScoring } from "./scoring/scoring.ts"

export interface EvaluationsOptions extends Pick<JobRunnerOptions, "log" | "exclusive"> {
  arrived: ArrivedCalls
}

export interface EvaluationsArea extends WorkingArea {
  /** Call it when a client has published a version of an object: a monitor is a rule that scores. */
  published: VersionPublished
}

export function openEvaluations(dependencies: ExecutionDependencies, options: EvaluationsOptions): EvaluationsArea {
  const { log, exclusive, arrived } = options
  const jobs = executionJobs(dependencies, { log, exclusive })
  const lateEnds = new LateEnds(log)
  const scoring = onlineScoring(dependencies, arrived, { log, exclusive })
  const removeEnded = async () => void (await removeEndedExecutionJobs(dependencies.database))
  return {
    routes: [
      ...evaluationRunRoutes(dependencies),
      ...evalResultRoutes(dependencies),
      ...executionRoutes({ ...dependencies, lateEnds }, jobs),
      ...scoring.routes,
    ],
    background: [new DailyWork(removeEnded, log, "work that ended long ago could not be removed from the catalog")],
    published: scoring.published,
    start: async () => {
      await endCutOffCalls(dependencies).catch((error: unknown) =>
        log.error({ err: error }, "calls that a kill cut off could not be ended; the next start tries again"),
      )
      await jobs.start()
      await scoring.start()
    },
    close: async () => void (await Promise.all([jobs.close(), scoring.close(), lateEnds.close()])),
  }
}
