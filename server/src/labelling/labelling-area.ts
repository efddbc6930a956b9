/** Judgements on calls by people and models: feedback, and annotation queues. */
import type { Area } from "../http/area.ts"
import type { Log } from "../log.ts"
import type { StoreDependencies } from "../objects/dependencies.ts"
import { DailyWork } from "../storage/daily-work.ts"
import { removeDeletedFeedback } from "../storage/traces/labelling/deleted-feedback.ts"
import { annotationItemRoutes } from "./annotation/item-routes.ts"
import { annotationLabelRoutes } from "./annotation/label-routes.ts"
import { annotationQueueRoutes } from "./annotation/queue-routes.ts"
import { feedbackRoutes } from "./feedback/feedback-routes.ts"
import { feedbackStatsRoutes } from "./feedback/feedback-stats-routes.ts"

export function openLabelling(dependencies: StoreDependencies, log: Log): Area {
  const removeDeleted = async () => {
    if (await removeDeletedFeedback(dependencies.traces)) log.info({}, "deleted feedback was removed from the disk")
  }
  return {
    routes: [
      ...annotationQueueRoutes(dependencies),
      ...annotationItemRoutes(dependencies),
      ...annotationLabelRoutes(dependencies),
      ...feedbackRoutes(dependencies),
      ...feedbackStatsRoutes(dependencies),
    ],
    background: [new DailyWork(removeDeleted, log, "deleted feedback could not be removed from the disk")],
  }
}
