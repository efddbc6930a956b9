/** `GET /health`, as engines and their load balancers know it: inference-api 1. */
import { z } from "zod"
import { type Route, route } from "../http/route.ts"

export function healthRoutes(): Route[] {
  return [
    route({
      method: "GET",
      path: "/health",
      access: "public",
      dialect: "openai",
      summary: "The server answers",
      tag: "Health",
      schemas: {},
      response: z.object({ status: z.literal("ok") }),
      handle: () => Promise.resolve({ status: "ok" }),
    }),
  ]
}
