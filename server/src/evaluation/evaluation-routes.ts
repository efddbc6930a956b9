/** Every route of the evaluation store. */
import type { Route } from "../http/route.ts"
import type { EvaluationDependencies } from "./dependencies.ts"

export function evaluationRoutes(_dependencies: EvaluationDependencies): Route[] {
  return []
}
