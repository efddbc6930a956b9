/** `/mcp`: what coding agents do here, as tools over the public API. */
import type { Area } from "../http/area.ts"
import type { Guide } from "../http/pages/guides.ts"
import type { Inject } from "./api.ts"
import { mcpRoutes } from "./mcp-routes.ts"

export interface McpDependencies {
  /** Sends a request to this server, as if it came from a client. */
  inject: Inject
  version: string
  guides: readonly Guide[]
}

export function openMcp(dependencies: McpDependencies): Area {
  return { routes: mcpRoutes(dependencies) }
}
