/** OTLP over HTTP: evaluation-store-calls 8, under its paths and under those that exporters use by themselves. */
import { type Route, route } from "../../http/route.ts"
import { logsAnswer, logsRequest, remapBody, remapped, traceAnswer, traceRequest } from "../../wire/calls/otel.ts"
import type { CallDependencies } from "../dependencies.ts"
import { exportHandler } from "./export-handler.ts"
import { exportLogs } from "./logs-export.ts"
import { remapSpans } from "./remap.ts"
import { traceExportHandler } from "./trace-export-handler.ts"

const shared = { method: "POST", dialect: "otlp", tag: "OpenTelemetry", schemas: {} } as const
const prefixes = ["/otel", ""] as const

export function otelRoutes(dependencies: CallDependencies): Route[] {
  return [
    ...prefixes.flatMap((prefix) => [
      traceRoute(dependencies, `${prefix}/v1/traces`),
      logsRoute(dependencies, `${prefix}/v1/logs`),
    ]),
    route({
      ...shared,
      dialect: "reason",
      path: "/otel/remap",
      access: { right: "write", of: "project body.project_id" },
      summary: "Map the stored spans of a project again, with the names of attributes that are known now",
      schemas: { body: remapBody },
      response: remapped,
      handle: async ({ body, principal }) => ({
        remapped: await remapSpans(dependencies, principal, body.project_id),
      }),
    }),
  ]
}

function traceRoute(dependencies: CallDependencies, path: string): Route {
  return route({
    ...shared,
    path,
    access: { right: "write", of: "spans body.resourceSpans[].resource", ingest: true },
    summary: "Store spans as calls",
    rawBody: true,
    hidesKey: true,
    bodyDocument: traceRequest,
    response: traceAnswer,
    handle: traceExportHandler(dependencies, "recognized"),
  })
}

function logsRoute(dependencies: CallDependencies, path: string): Route {
  return route({
    ...shared,
    path,
    access: { right: "write", of: "spans body.resourceLogs[].resource", ingest: true },
    summary: "Store results of evaluations as feedback of the calls that they score",
    rawBody: true,
    hidesKey: true,
    bodyDocument: logsRequest,
    response: logsAnswer,
    handle: exportHandler(dependencies, "rejectedLogRecords", (sent) => exportLogs(dependencies, sent)),
  })
}
