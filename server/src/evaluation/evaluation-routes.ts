/** Every route of the evaluation store. */
import type { Route } from "../http/route.ts"
import { callReadRoutes } from "./call-read-routes.ts"
import type { EvaluationDependencies } from "./dependencies.ts"
import { feedbackRoutes } from "./feedback-routes.ts"

export function evaluationRoutes(dependencies: EvaluationDependencies): Route[] {
  return [...callReadRoutes(dependencies), ...feedbackRoutes(dependencies)]
}
