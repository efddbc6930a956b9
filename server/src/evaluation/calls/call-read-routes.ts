/** Reading calls: evaluation-store-calls 3. */
import { type Route, route } from "../../http/route.ts"
import {
  callReadAnswer,
  callReadRequest,
  callRecord,
  callsQueryAnswer,
  callsQueryRequest,
  callsQueryStatsAnswer,
  callsQueryStatsRequest,
} from "../../wire/evaluation/call-read.ts"
import { queryCalls, queryCallStats, readCall } from "./call-query.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { exactRequest } from "../requests/exact-request.ts"
import { jsonDocument, jsonLines, lineTypes, linesType, sendStream } from "../json-stream.ts"
import { existingProject } from "../../access/project-access.ts"

const shared = { method: "POST", dialect: "reason", tag: "Calls" } as const

export function callReadRoutes(dependencies: EvaluationDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      path: "/call/read",
      access: { right: "read", of: "project body.project_id" },
      summary: "One call; null when it is not there",
      schemas: { body: callReadRequest },
      response: callReadAnswer,
      handle: async ({ body, principal, reply }) => {
        const project = await existingProject(database, principal, body.project_id)
        const call = await readCall(dependencies, project, body)
        reply.type("application/json").send(`{"call":${call ?? "null"}}`)
      },
    }),
    route({
      ...shared,
      path: "/calls/stream_query",
      access: { right: "read", of: "project body.project_id" },
      summary: "Calls as JSON Lines, by filter, query, sort and page",
      schemas: { body: callsQueryRequest },
      response: callRecord,
      answerTypes: lineTypes,
      handle: async (context) => {
        const body = exactRequest(context)
        const project = await existingProject(database, context.principal, body.project_id)
        const calls = queryCalls(dependencies, context.principal, project, body)
        await sendStream(context.reply, linesType(context.request.headers.accept), jsonLines(calls))
      },
    }),
    route({
      ...shared,
      path: "/calls/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "Calls as one document (old clients)",
      schemas: { body: callsQueryRequest },
      response: callsQueryAnswer,
      handle: async (context) => {
        const body = exactRequest(context)
        const project = await existingProject(database, context.principal, body.project_id)
        const calls = queryCalls(dependencies, context.principal, project, body)
        await sendStream(context.reply, "application/json", jsonDocument("calls", calls))
      },
    }),
    route({
      ...shared,
      path: "/calls/query_stats",
      access: { right: "read", of: "project body.project_id" },
      summary: "How many calls match",
      schemas: { body: callsQueryStatsRequest },
      response: callsQueryStatsAnswer,
      handle: async (context) => {
        const body = exactRequest(context)
        const project = await existingProject(database, context.principal, body.project_id)
        return queryCallStats(dependencies, context.principal, project, body)
      },
    }),
  ]
}
