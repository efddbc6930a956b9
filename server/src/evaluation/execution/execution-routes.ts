/** What the server runs by itself: evaluation-store-calls 9. */
import type { Route } from "../../http/route.ts"
import { completionRoutes } from "./completion-routes.ts"
import type { ExecutionDependencies } from "./dependencies.ts"

export function executionRoutes(dependencies: ExecutionDependencies): Route[] {
  return [...completionRoutes(dependencies)]
}
