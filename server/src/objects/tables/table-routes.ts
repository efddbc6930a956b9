/** `/table/…`: evaluation-store-calls 6. */
import { type Route, route } from "../../http/route.ts"
import {
  tableCreateBody,
  tableCreated,
  tableFromDigests,
  tableFromDigestsBody,
  tableQueryBody,
  tableRow,
  tableRows,
  tableStats,
  tableStatsBatch,
  tableStatsBatchBody,
  tableStatsBody,
  tableUpdateBody,
  tableUpdated,
} from "../../wire/objects/table.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { jsonDocument, jsonLines, lineTypes, linesType, sendStream } from "../../http/answers/json-stream.ts"
import { queryTable, readTableStats, readTableStatsBatch } from "./table-read.ts"
import { createTableTask, tableFromDigestsTask, updateTableTask } from "./table-tasks.ts"
import { writeTable } from "./table-write.ts"

const shared = { method: "POST", dialect: "reason", tag: "Tables" } as const
const json = "application/json; charset=utf-8"

/** A million digests have 46 MB, more than a body of this area usually may. */
const maximumDigestsBytes = 256 * 1024 * 1024

export function tableRoutes(dependencies: StoreDependencies): Route[] {
  return [...writeRoutes(dependencies), ...readRoutes(dependencies)]
}

function writeRoutes(dependencies: StoreDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/table/create",
      access: { right: "write", of: "project body.table.project_id", ingest: true },
      summary: "Make a table of rows",
      schemas: {},
      rawBody: true,
      bodyDocument: tableCreateBody,
      response: tableCreated,
      handle: async (context) =>
        context.reply.type(json).send(await writeTable(dependencies, createTableTask, context)),
    }),
    route({
      ...shared,
      path: "/table/update",
      access: { right: "write", of: "project body.project_id", ingest: true },
      summary: "Make a table from another one by adding and removing rows",
      schemas: {},
      rawBody: true,
      bodyDocument: tableUpdateBody,
      response: tableUpdated,
      handle: async (context) =>
        context.reply.type(json).send(await writeTable(dependencies, updateTableTask, context)),
    }),
    route({
      ...shared,
      path: "/table/create_from_digests",
      access: { right: "write", of: "project body.project_id", ingest: true },
      summary: "Make a table of rows that other tables have",
      schemas: {},
      rawBody: true,
      maximumBodyBytes: maximumDigestsBytes,
      bodyDocument: tableFromDigestsBody,
      response: tableFromDigests,
      handle: async (context) =>
        context.reply.type(json).send(await writeTable(dependencies, tableFromDigestsTask, context)),
    }),
  ]
}

function readRoutes(dependencies: StoreDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/table/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "Read rows of a table",
      schemas: { body: tableQueryBody },
      response: tableRows,
      handle: async ({ body, principal, reply }) =>
        sendStream(reply, json, jsonDocument("rows", await queryTable(dependencies, principal, body))),
    }),
    route({
      ...shared,
      path: "/table/query_stream",
      access: { right: "read", of: "project body.project_id" },
      summary: "Read rows of a table as JSON Lines",
      schemas: { body: tableQueryBody },
      response: tableRow,
      answerTypes: lineTypes,
      handle: async ({ body, principal, request, reply }) =>
        sendStream(
          reply,
          linesType(request.headers.accept),
          jsonLines(await queryTable(dependencies, principal, body)),
        ),
    }),
    route({
      ...shared,
      path: "/table/query_stats",
      access: { right: "read", of: "project body.project_id" },
      summary: "How many rows a table has",
      schemas: { body: tableStatsBody },
      response: tableStats,
      handle: ({ body, principal }) => readTableStats(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/table/query_stats_batch",
      access: { right: "read", of: "project body.project_id" },
      summary: "How many rows tables have, and how large they are",
      schemas: { body: tableStatsBatchBody },
      response: tableStatsBatch,
      handle: ({ body, principal }) => readTableStatsBatch(dependencies, principal, body),
    }),
  ]
}
