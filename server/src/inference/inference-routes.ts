/** Every route of the inference area. `/art/capabilities` is none of them: its 404 says "plain OpenAI server" (inference-api 5.4). */
import type { Route } from "../http/route.ts"
import { chatRoutes } from "./chat-routes.ts"
import type { InferenceDependencies } from "./dependencies.ts"
import { embeddingRoutes } from "./embedding-routes.ts"
import { healthRoutes } from "./health-routes.ts"
import { messagesRoutes } from "./messages/messages-routes.ts"
import { modelRoutes } from "./model-routes.ts"
import { responsesRoutes } from "./responses/responses-routes.ts"
import { textCompletionRoutes } from "./text-completion-routes.ts"
import { tokenizeRoutes } from "./tokenize-routes.ts"
import { usageRoutes } from "./usage-routes.ts"

export function inferenceRoutes(dependencies: InferenceDependencies): Route[] {
  return [
    ...chatRoutes(dependencies),
    ...textCompletionRoutes(dependencies),
    ...embeddingRoutes(dependencies),
    ...messagesRoutes(dependencies),
    ...responsesRoutes(dependencies),
    ...modelRoutes(dependencies),
    ...tokenizeRoutes(dependencies),
    ...usageRoutes(dependencies),
    ...healthRoutes(dependencies),
  ]
}
