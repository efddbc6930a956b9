/** Evaluation runs, their predictions and scores: evaluation-store-objects 7. */
import type { Route } from "../../http/route.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { predictionRoutes } from "./prediction-routes.ts"
import { runRoutes } from "./run-routes.ts"
import { scoreRoutes } from "./score-routes.ts"

export function evaluationRunRoutes(dependencies: CallDependencies): Route[] {
  return [...runRoutes(dependencies), ...predictionRoutes(dependencies), ...scoreRoutes(dependencies)]
}
