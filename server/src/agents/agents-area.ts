/** Agents, as spans tell of them. */
import type { Area } from "../http/area.ts"
import type { CallDependencies } from "../calls/dependencies.ts"
import { agentRoutes } from "./agent-routes.ts"

export function openAgents(dependencies: CallDependencies): Area {
  return {
    routes: [...agentRoutes(dependencies)],
  }
}
