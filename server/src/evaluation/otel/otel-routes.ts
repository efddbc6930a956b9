/** OTLP over HTTP: evaluation-store-calls 8, under its paths and under those that exporters use by themselves. */
import { type Route, route } from "../../http/route.ts"
import { traceAnswer, traceRequest } from "../../wire/evaluation/otel.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { sendOutcome } from "./otlp-answer.ts"
import { decodeTraceRequest, encodingOf } from "./otlp-encoding.ts"
import { ResourceProjects } from "./resource-project.ts"
import { exportSpans } from "./trace-export.ts"

const shared = { method: "POST", access: "key", dialect: "otlp", tag: "OpenTelemetry", schemas: {} } as const
const prefixes = ["/otel", ""] as const

export function otelRoutes({ database, writer }: EvaluationDependencies): Route[] {
  return prefixes.map((prefix) =>
    route({
      ...shared,
      path: `${prefix}/v1/traces`,
      summary: "Store spans as calls",
      rawBody: true,
      bodyDocument: traceRequest,
      response: traceAnswer,
      handle: async ({ body, principal, request: { headers }, reply }) => {
        const type = headers["content-type"]
        const projects = new ResourceProjects(database, principal, headers["project_id"])
        const outcome = await exportSpans(writer, projects, decodeTraceRequest(body, type))
        await sendOutcome(reply, encodingOf(type, body), outcome, "rejectedSpans")
      },
    }),
  )
}
