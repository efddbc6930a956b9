/** Exports: docs/guide/export.md. */
import { z } from "zod"
import { jsonValue } from "../json-value.ts"
import { callRecord, callsQueryRequest } from "../calls/call-read.ts"
import { orDefault } from "../or-default.ts"
import { rowQueryBody } from "../queries/row-query.ts"

/** JSON Lines, CSV with a header (RFC 4180) or Parquet. */
export const exportFormat = z.enum(["jsonl", "csv", "parquet"])

const style = {
  format: orDefault(exportFormat, "jsonl"),
  /** CSV only: an apostrophe before texts that a spreadsheet would run as a formula. */
  spreadsheet_safe: z.boolean().nullish(),
}

export const exportCallsBody = callsQueryRequest
  .pick({
    project_id: true,
    filter: true,
    query: true,
    sort_by: true,
    limit: true,
    offset: true,
    columns: true,
    expand_columns: true,
  })
  .extend(style)

export const exportFeedbackBody = rowQueryBody
  .pick({ project_id: true, query: true, sort_by: true, limit: true, offset: true })
  .extend(style)

/** One line of a file of feedback. In CSV, payloads, lists and maps are the texts of their JSON. */
export const exportedFeedback = z.record(z.string(), jsonValue)

/** A version of a dataset, or a table by its digest. */
export const exportDatasetBody = z.looseObject({
  project_id: z.string(),
  object_id: z.string().nullish(),
  /** Version of the object: its digest, `v<index>`, an alias, or `latest`, which it is when absent. */
  digest: z.string().nullish(),
  table_digest: z.string().nullish(),
  ...style,
})

/** One line of a file of a dataset. */
export const exportedRow = z.record(z.string(), jsonValue)

/** One line of a file of calls: what is stored. In CSV and Parquet the payloads are the texts of their JSON. */
export const exportedCall = callRecord
  .omit({
    project_id: true,
    wb_username: true,
    deleted_at: true,
    storage_size_bytes: true,
    total_storage_size_bytes: true,
  })
  .extend({ otel_dump: jsonValue })
  .partial()

export type ExportFeedbackBody = z.output<typeof exportFeedbackBody>
export type ExportDatasetBody = z.output<typeof exportDatasetBody>
export type ExportCallsBody = z.output<typeof exportCallsBody>
export type ExportFormatName = z.output<typeof exportFormat>
