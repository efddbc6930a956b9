/** Judgements on calls by people and models: feedback, and annotation queues. */
import type { Area } from "../http/area.ts"
import type { StoreDependencies } from "../objects/dependencies.ts"
import { annotationItemRoutes } from "./annotation/item-routes.ts"
import { annotationLabelRoutes } from "./annotation/label-routes.ts"
import { annotationQueueRoutes } from "./annotation/queue-routes.ts"
import { feedbackRoutes } from "./feedback/feedback-routes.ts"
import { feedbackStatsRoutes } from "./feedback/feedback-stats-routes.ts"

export function openLabelling(dependencies: StoreDependencies): Area {
  return {
    routes: [
      ...annotationQueueRoutes(dependencies),
      ...annotationItemRoutes(dependencies),
      ...annotationLabelRoutes(dependencies),
      ...feedbackRoutes(dependencies),
      ...feedbackStatsRoutes(dependencies),
    ],
  }
}
