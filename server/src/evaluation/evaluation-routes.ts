/** Every route of the evaluation store. */
import type { Route } from "../http/route.ts"
import { callReadRoutes } from "./call-read-routes.ts"
import { callUsageRoutes } from "./call-usage-routes.ts"
import { callWriteRoutes } from "./call-write-routes.ts"
import { costRoutes } from "./cost-routes.ts"
import type { EvaluationDependencies } from "./dependencies.ts"
import { feedbackRoutes } from "./feedback-routes.ts"
import { feedbackStatsRoutes } from "./feedback-stats-routes.ts"
import { objectRoutes } from "./object-routes.ts"
import { projectRoutes } from "./project-routes.ts"
import { projectFileRoutes } from "./project-file-routes.ts"
import { refRoutes } from "./ref-routes.ts"
import { tableRoutes } from "./table-routes.ts"
import { threadRoutes } from "./thread-routes.ts"

export function evaluationRoutes(dependencies: EvaluationDependencies): Route[] {
  return [
    ...callWriteRoutes(dependencies),
    ...callReadRoutes(dependencies),
    ...threadRoutes(dependencies),
    ...callUsageRoutes(dependencies),
    ...feedbackRoutes(dependencies),
    ...feedbackStatsRoutes(dependencies),
    ...costRoutes(dependencies),
    ...objectRoutes(dependencies),
    ...projectRoutes(dependencies),
    ...tableRoutes(dependencies),
    ...projectFileRoutes(dependencies),
    ...refRoutes(dependencies),
  ]
}
