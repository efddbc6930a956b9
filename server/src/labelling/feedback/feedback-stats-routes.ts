/** Feedback over time: evaluation-store-objects 5. */
import { type Route, route } from "../../http/route.ts"
import {
  feedbackAggregateAnswer,
  feedbackAggregateBody,
  feedbackStatsAnswer,
  feedbackStatsBody,
  payloadSchemaAnswer,
  payloadSchemaBody,
} from "../../wire/labelling/feedback-stats.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { aggregatedFeedback } from "./feedback-aggregate.ts"
import { feedbackStats, payloadSchema } from "./feedback-stats.ts"

const shared = { method: "POST", dialect: "reason", tag: "Feedback" } as const

export function feedbackStatsRoutes(dependencies: StoreDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/feedback/stats",
      access: { right: "read", of: "project body.project_id" },
      summary: "Values of payloads over time",
      schemas: { body: feedbackStatsBody },
      response: feedbackStatsAnswer,
      handle: async ({ body, principal }) => feedbackStats(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/feedback/payload_schema",
      access: { right: "read", of: "project body.project_id" },
      summary: "Which values payloads have, and of what type",
      schemas: { body: payloadSchemaBody },
      response: payloadSchemaAnswer,
      handle: async ({ body, principal }) => payloadSchema(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/feedback/aggregate",
      access: { right: "read", of: "project body.project_id" },
      summary: "Tags and ratings of scorers by time and group",
      schemas: { body: feedbackAggregateBody },
      response: feedbackAggregateAnswer,
      handle: async ({ body, principal }) => aggregatedFeedback(dependencies, principal, body),
    }),
  ]
}
