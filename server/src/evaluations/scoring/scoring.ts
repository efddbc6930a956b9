/** Online scoring: rules, the journal of calls that came, and the loop that scores them. */
import type { Route } from "../../http/route.ts"
import type { ArrivedCalls } from "../../storage/arrived-calls.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import type { VersionPublished } from "../../objects/object-routes.ts"
import { isMonitor, takeMonitor } from "./monitors.ts"
import { scoringRuleRoutes } from "./rule-routes.ts"
import { ScoringLoop, type ScoringOptions } from "./scoring-loop.ts"

export interface OnlineScoring {
  routes: Route[]
  /** Call it when a client has published a version of an object: a monitor is a rule. */
  published: VersionPublished
  start: () => Promise<void>
  close: () => Promise<void>
}

export function onlineScoring(
  dependencies: ExecutionDependencies,
  arrived: ArrivedCalls,
  options: ScoringOptions,
): OnlineScoring {
  const loop = new ScoringLoop(dependencies, arrived, options)
  return {
    routes: scoringRuleRoutes(dependencies, () => loop.watch()),
    published: async (principal, version) => {
      if (!isMonitor(version.leafClass)) return
      await takeMonitor(dependencies, principal, version)
      await loop.watch()
    },
    start: () => loop.start(),
    close: () => loop.close(),
  }
}
