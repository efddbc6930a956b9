/** `/export/…`: calls, feedback and datasets as files. */
import type { FastifyReply } from "fastify"
import type { Readable } from "node:stream"
import { type Route, route } from "../../http/route.ts"
import {
  exportCallsBody,
  exportDatasetBody,
  exportedRow,
  exportedCall,
  exportedFeedback,
  exportFeedbackBody,
  type ExportFormatName,
} from "../../wire/transfer/export.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { exactRequest } from "../../http/bodies/exact-request.ts"
import { existingProject } from "../../access/project-access.ts"
import { exportCalls } from "./export-calls.ts"
import { exportDataset } from "./export-dataset.ts"
import { exportFeedback } from "./export-feedback.ts"

const fileTypes: Record<ExportFormatName, string> = {
  jsonl: "application/jsonl",
  csv: "text/csv; charset=utf-8; header=present",
  parquet: "application/vnd.apache.parquet",
}

const shared = { method: "POST", dialect: "reason", tag: "Export" } as const

export function exportRoutes(dependencies: CallDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      path: "/export/calls",
      access: { right: "read", of: "project body.project_id" },
      summary: "Calls as a file of JSON Lines, CSV or Parquet",
      schemas: { body: exportCallsBody },
      response: exportedCall,
      answerTypes: Object.values(fileTypes),
      handle: async (context) => {
        const body = exactRequest(context)
        const project = await existingProject(database, context.principal, body.project_id)
        const file = await exportCalls(dependencies, context.principal, project, body)
        sendFile(context.reply, file, "calls", body.format)
      },
    }),
    route({
      ...shared,
      path: "/export/feedback",
      access: { right: "read", of: "project body.project_id" },
      summary: "Feedback as a file of JSON Lines, CSV or Parquet",
      schemas: { body: exportFeedbackBody },
      response: exportedFeedback,
      answerTypes: Object.values(fileTypes),
      handle: async (context) => {
        const body = exactRequest(context)
        const project = await existingProject(database, context.principal, body.project_id)
        const file = await exportFeedback(dependencies, project, body)
        sendFile(context.reply, file, "feedback", body.format)
      },
    }),
    route({
      ...shared,
      path: "/export/dataset",
      access: { right: "read", of: "project body.project_id" },
      summary: "The rows of a dataset or table as a file of JSON Lines, CSV or Parquet",
      schemas: { body: exportDatasetBody },
      response: exportedRow,
      answerTypes: Object.values(fileTypes),
      handle: async ({ body, principal, reply }) => {
        const project = await existingProject(database, principal, body.project_id)
        sendFile(reply, await exportDataset(dependencies, project, body), "dataset", body.format)
      },
    }),
  ]
}

function sendFile(reply: FastifyReply, file: Readable, name: string, format: ExportFormatName): void {
  reply.header("content-disposition", `attachment; filename="${name}.${format}"`).type(fileTypes[format]).send(file)
}
