/** `GET /health`, as engines and their load balancers know it: inference-api 1. */
import { type Route, route } from "../http/route.ts"
import { health } from "../wire/training/health.ts"
import type { InferenceDependencies } from "./dependencies.ts"

export function healthRoutes({ checkHealth }: Pick<InferenceDependencies, "checkHealth">): Route[] {
  return [
    route({
      method: "GET",
      path: "/health",
      access: "public",
      dialect: "openai",
      summary: "The server answers, and reaches its stores",
      tag: "Health",
      schemas: {},
      response: health,
      handle: checkHealth,
    }),
  ]
}
