/** What the server runs by itself: evaluation-store-calls 9. */
import type { Route } from "../../http/route.ts"
import { completionRoutes } from "./completion-routes.ts"
import type { ExecutionDependencies } from "./dependencies.ts"
import { runtimeRoutes } from "./providers/runtime-routes.ts"

export function executionRoutes(dependencies: ExecutionDependencies): Route[] {
  return [...completionRoutes(dependencies), ...runtimeRoutes(dependencies)]
}
