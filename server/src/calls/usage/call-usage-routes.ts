/** `/trace/usage`, `/calls/usage` and `/calls/stats`: evaluation-store-calls 4.1 and 4.2. */
import { type Route, route } from "../../http/route.ts"
import { callsUsageBody, traceUsageBody, usageAnswer } from "../../wire/calls/usage.ts"
import { callStatsAnswer, callStatsBody } from "../../wire/calls/usage-stats.ts"
import { callStats } from "./call-stats.ts"
import { callsUsage, traceUsage } from "./call-usage.ts"
import type { CallDependencies } from "../dependencies.ts"
import { exactRequest } from "../../http/bodies/exact-request.ts"

const shared = { method: "POST", dialect: "reason", tag: "Calls" } as const

export function callUsageRoutes(dependencies: CallDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/trace/usage",
      access: { right: "read", of: "project body.project_id" },
      summary: "Tokens and costs of the calls that match, each with its descendants among them",
      schemas: { body: traceUsageBody },
      response: usageAnswer,
      handle: async (context) => traceUsage(dependencies, context.principal, exactRequest(context)),
    }),
    route({
      ...shared,
      path: "/calls/usage",
      access: { right: "read", of: "project body.project_id" },
      summary: "Tokens and costs of calls with all their descendants",
      schemas: { body: callsUsageBody },
      response: usageAnswer,
      handle: async ({ body, principal }) => callsUsage(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/calls/stats",
      access: { right: "read", of: "project body.project_id" },
      summary: "Tokens, costs, latency and errors over time",
      schemas: { body: callStatsBody },
      response: callStatsAnswer,
      handle: async ({ body, principal }) => callStats(dependencies, principal, body),
    }),
  ]
}
