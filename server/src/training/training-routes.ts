/** The training area: training-api 1.1 without chat. */
import type { Route } from "../http/route.ts"
import { checkpointFileRoutes } from "./checkpoint-file-routes.ts"
import { checkpointRoutes } from "./checkpoint-routes.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { healthRoutes } from "./health-routes.ts"
import { jobRoutes } from "./job-routes.ts"
import { logRoutes } from "./log-routes.ts"
import { metricRoutes } from "./metric-routes.ts"
import { modelRoutes } from "./model-routes.ts"
import { recordRoutes } from "./record/record-routes.ts"
import { rlJobRoutes } from "./rl/rl-job-routes.ts"
import { sftJobRoutes } from "./sft/sft-job-routes.ts"

export function trainingRoutes(dependencies: TrainingDependencies): Route[] {
  return [
    ...modelRoutes(dependencies),
    ...checkpointRoutes(dependencies),
    ...checkpointFileRoutes(dependencies),
    ...metricRoutes(dependencies),
    ...logRoutes(dependencies),
    ...rlJobRoutes(dependencies),
    ...sftJobRoutes(dependencies),
    ...jobRoutes(dependencies),
    ...recordRoutes(dependencies),
    ...healthRoutes(dependencies),
  ]
}
