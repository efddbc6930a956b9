/** `/import/…`: files of calls and feedback, as `/export/…` makes them or anybody else. */
import type { FastifyRequest } from "fastify"
import { z } from "zod"
import type { HeldBody } from "../../http/body-budget.ts"
import { bodyStream } from "../../http/body-stream.ts"
import type { Principal } from "../../http/principal.ts"
import { type Route, route } from "../../http/route.ts"
import { exportedCallColumns } from "../../storage/traces/export/print-calls.ts"
import { exportedFeedbackColumns } from "../../storage/traces/export/print-feedback.ts"
import type { Columns } from "../../storage/traces/export/printed-columns.ts"
import type { ExportFormatName } from "../../wire/evaluation/export.ts"
import { importDatasetQuery, importDatasetReport, importQuery, importReport } from "../../wire/evaluation/import.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { datasetIdOf } from "../object-families/datasets.ts"
import { checkObjectId } from "../objects/object-classes.ts"
import { projectForWrite } from "../project-access.ts"
import { cellJson } from "../export/dataset-cells.ts"
import { csvCells, parquetCells, valueText } from "./cells.ts"
import { csvRows } from "./csv-rows.ts"
import { importCalls } from "./import-calls.ts"
import { importDataset } from "./import-dataset.ts"
import { importFeedback } from "./import-feedback.ts"
import type { ImportTarget } from "./import-target.ts"
import type { RowOrError } from "./imported-row.ts"
import { jsonLinesRows } from "./json-lines-rows.ts"
import { parquetRows } from "./parquet-rows.ts"

/** Of one file. */
const mostFileBytes = 64 * 1024 ** 3

const shared = {
  method: "POST",
  access: "key",
  dialect: "reason",
  tag: "Export",
  streamsBody: true,
  bodyDocument: z.file(),
  bodyType: "application/octet-stream",
  schemas: { query: importQuery },
  response: importReport,
} as const

export function importRoutes(dependencies: EvaluationDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/import/calls",
      summary: "Store the calls of a file of JSON Lines, CSV or Parquet",
      handle: async ({ query, principal, request, held }) => {
        const target = await targetOf(dependencies, principal, query)
        const rows = fileRows(request, held, query.format, exportedCallColumns)
        return (await importCalls(dependencies, target, rows)).answer()
      },
    }),
    route({
      ...shared,
      path: "/import/feedback",
      summary: "Store the feedback of a file of JSON Lines, CSV or Parquet",
      handle: async ({ query, principal, request, held }) => {
        const target = await targetOf(dependencies, principal, query)
        const rows = fileRows(request, held, query.format, exportedFeedbackColumns)
        return (await importFeedback(dependencies, principal, target, rows)).answer()
      },
    }),
    route({
      ...shared,
      path: "/import/dataset",
      summary: "Store the rows of a file of JSON Lines, CSV or Parquet as a table, and as a dataset when it has a name",
      schemas: { query: importDatasetQuery },
      response: importDatasetReport,
      handle: async ({ query, principal, request, held }) => {
        checkObjectId(datasetIdOf(query.name))
        const target = await targetOf(dependencies, principal, query)
        return importDataset(dependencies, principal, target, query, datasetRows(request, held, query.format))
      },
    }),
  ]
}

/** Only an administrator may say that somebody else wrote something. */
async function targetOf(
  { database }: EvaluationDependencies,
  principal: Principal,
  { project_id, moved_from }: z.output<typeof importQuery>,
): Promise<ImportTarget> {
  const project = await projectForWrite(database, principal, project_id)
  return { project, movedFrom: moved_from ?? null, keepUsers: principal.isAdmin }
}

function datasetRows(request: FastifyRequest, held: HeldBody, format: ExportFormatName): AsyncIterable<RowOrError> {
  const bytes = bodyStream(request.raw, mostFileBytes)
  if (format === "csv") return csvRows(bytes, held, (_, value) => (value === null ? null : cellJson(value)))
  if (format === "parquet") return parquetRows(bytes, (_, value) => (value === null ? null : valueText(value)))
  return jsonLinesRows(bytes, held)
}

function fileRows(
  request: FastifyRequest,
  held: HeldBody,
  format: ExportFormatName,
  columns: Columns,
): AsyncIterable<RowOrError> {
  const bytes = bodyStream(request.raw, mostFileBytes)
  if (format === "csv") return csvRows(bytes, held, csvCells(columns))
  if (format === "parquet") return parquetRows(bytes, parquetCells(columns))
  return jsonLinesRows(bytes, held)
}
