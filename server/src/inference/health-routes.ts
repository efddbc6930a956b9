/** `GET /health`, as engines and their load balancers know it: inference-api 1. */
import { z } from "zod"
import { type Route, route } from "../http/route.ts"
import type { InferenceDependencies } from "./dependencies.ts"

export function healthRoutes({ checkStores }: Pick<InferenceDependencies, "checkStores">): Route[] {
  return [
    route({
      method: "GET",
      path: "/health",
      access: "public",
      dialect: "openai",
      summary: "The server answers, and reaches its stores",
      tag: "Health",
      schemas: {},
      response: z.object({ status: z.literal("ok") }),
      handle: async () => {
        await checkStores()
        return { status: "ok" }
      },
    }),
  ]
}
