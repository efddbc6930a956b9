/** Chats and what else models answer. `/art/capabilities` is no route of it: its 404 says "plain OpenAI server" (inference-api 5.4). */
import type { Area } from "../http/area.ts"
import type { Log } from "../log.ts"
import { removeUsage } from "../storage/catalog/inference/completion-usage.ts"
import { removeExpiredResponses } from "../storage/catalog/inference/stored-responses.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { DailyWork } from "../storage/daily-work.ts"
import { chatRoutes } from "./chat/chat-routes.ts"
import type { InferenceDependencies } from "./dependencies.ts"
import { embeddingRoutes } from "./embedding-routes.ts"
import { healthRoutes } from "./health-routes.ts"
import { messagesRoutes } from "./messages/messages-routes.ts"
import { modelRoutes } from "./model-routes.ts"
import { responsesRoutes } from "./responses/responses-routes.ts"
import { textCompletionRoutes } from "./text-completion-routes.ts"
import { tokenizeRoutes } from "./tokenize-routes.ts"
import { usageRoutes } from "./usage-routes.ts"

export function openInference(dependencies: InferenceDependencies): Area {
  const { database, limits, log } = dependencies
  return {
    routes: [
      ...chatRoutes(dependencies),
      ...textCompletionRoutes(dependencies),
      ...embeddingRoutes(dependencies),
      ...messagesRoutes(dependencies),
      ...responsesRoutes(dependencies),
      ...modelRoutes(dependencies),
      ...tokenizeRoutes(dependencies),
      ...usageRoutes(dependencies),
      ...healthRoutes(dependencies),
    ],
    background: [expiredResponses(database, log), oldUsage(database, limits.usage_days, log)],
  }
}

function oldUsage(database: CatalogDatabase, days: number, log: Log): DailyWork {
  const remove = async (signal: AbortSignal) => {
    const removed = await removeUsage(database, days, signal)
    if (removed > 0) log.info({ removed }, "usage of chats and completions was removed at the end of its time")
  }
  return new DailyWork(remove, log, "old usage of chats and completions could not be removed")
}

function expiredResponses(database: CatalogDatabase, log: Log): DailyWork {
  const remove = async () => {
    const removed = await removeExpiredResponses(database)
    if (removed > 0) log.info({ removed }, "stored responses were removed at the end of their time")
  }
  return new DailyWork(remove, log, "stored responses whose time is over could not be removed")
}
