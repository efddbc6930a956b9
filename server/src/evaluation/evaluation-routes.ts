/** Every route of the evaluation store. */
import type { Route } from "../http/route.ts"
import { agentRoutes } from "./agents/agent-routes.ts"
import { annotationItemRoutes } from "./annotation/item-routes.ts"
import { annotationLabelRoutes } from "./annotation/label-routes.ts"
import { annotationQueueRoutes } from "./annotation/queue-routes.ts"
import { callReadRoutes } from "./calls/call-read-routes.ts"
import { callUsageRoutes } from "./calls/call-usage-routes.ts"
import { callWriteRoutes } from "./calls/call-write-routes.ts"
import { costRoutes } from "./costs/cost-routes.ts"
import { datasetSourceRoutes } from "./dataset-sources/dataset-source-routes.ts"
import type { EvaluationDependencies } from "./dependencies.ts"
import { evalResultRoutes } from "./eval-results/eval-result-routes.ts"
import { evaluationRunRoutes } from "./evaluation-runs/evaluation-run-routes.ts"
import { exportRoutes } from "./export/export-routes.ts"
import { feedbackRoutes } from "./feedback/feedback-routes.ts"
import { feedbackStatsRoutes } from "./feedback/feedback-stats-routes.ts"
import { objectFamilyRoutes } from "./object-families/family-routes.ts"
import { importRoutes } from "./import/import-routes.ts"
import { objectLabelRoutes } from "./objects/object-label-routes.ts"
import { registryRoutes } from "./objects/registry-routes.ts"
import { objectRoutes } from "./objects/object-routes.ts"
import { otelRoutes } from "./otel/otel-routes.ts"
import { projectRoutes } from "./project/project-routes.ts"
import { fileLinkRoutes } from "./project/file-link-routes.ts"
import { projectFileRoutes } from "./project/project-file-routes.ts"
import { refRoutes } from "./refs/ref-routes.ts"
import { tableRoutes } from "./tables/table-routes.ts"
import { threadRoutes } from "./calls/thread-routes.ts"

export function evaluationRoutes(dependencies: EvaluationDependencies): Route[] {
  return [
    ...agentRoutes(dependencies),
    ...annotationQueueRoutes(dependencies),
    ...annotationItemRoutes(dependencies),
    ...annotationLabelRoutes(dependencies),
    ...callWriteRoutes(dependencies),
    ...callReadRoutes(dependencies),
    ...threadRoutes(dependencies),
    ...callUsageRoutes(dependencies),
    ...feedbackRoutes(dependencies),
    ...feedbackStatsRoutes(dependencies),
    ...costRoutes(dependencies),
    ...objectRoutes(dependencies),
    ...objectLabelRoutes(dependencies),
    ...registryRoutes(dependencies),
    ...objectFamilyRoutes(dependencies),
    ...datasetSourceRoutes(dependencies),
    ...projectRoutes(dependencies),
    ...tableRoutes(dependencies),
    ...projectFileRoutes(dependencies),
    ...fileLinkRoutes(dependencies),
    ...refRoutes(dependencies),
    ...otelRoutes(dependencies),
    ...exportRoutes(dependencies),
    ...importRoutes(dependencies),
    ...evaluationRunRoutes(dependencies),
    ...evalResultRoutes(dependencies),
  ]
}
