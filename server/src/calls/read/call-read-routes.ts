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
} from "../../wire/calls/call-read.ts"
import { callFacetsAnswer, callFacetsRequest } from "../../wire/calls/call-facets.ts"
import { callFacets } from "./call-facets.ts"
import { queryCalls, queryCallStats, readCall } from "./call-query.ts"
import type { CallDependencies } from "../dependencies.ts"
import { exactRequest } from "../../http/bodies/exact-request.ts"
import { jsonDocument, jsonLines, lineTypes, linesType, sendStream } from "../../http/answers/json-stream.ts"
import { existingProject } from "../../access/project-access.ts"

const shared = { method: "POST", dialect: "reason", tag: "Calls" } as const

export function callReadRoutes(dependencies: CallDependencies): Route[] {
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
    route({
      ...shared,
      path: "/calls/facets",
      access: { right: "read", of: "project body.project_id" },
      summary: "How often each value of some fields occurs among the calls that match",
      schemas: { body: callFacetsRequest },
      response: callFacetsAnswer,
      handle: async (context) => {
        const body = exactRequest(context)
        const project = await existingProject(database, context.principal, body.project_id)
        return callFacets(dependencies, context.principal, project, body)
      },
    }),
  ]
}
