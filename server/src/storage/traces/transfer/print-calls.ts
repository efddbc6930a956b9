/** Prints calls for an export: what is stored of them, and when they go. */
import { expireAtSql } from "../calls/fields/call-expiry.ts"
import type { CallsSelection } from "../calls/calls-selection.ts"
import { callsFinal } from "../calls/calls-tables.ts"
import type { Page } from "../calls/scanned-calls.ts"
import type { TraceStore } from "../store/trace-store.ts"
import type { Readable } from "node:stream"
import { type ColumnKind, printedColumns, printFormats, type PrintStyle } from "./printed-columns.ts"

/** In the order in which they stand in a file. */
export const exportedCallColumns = {
  id: "text",
  op_name: "text",
  trace_id: "text",
  parent_id: "text",
  started_at: "time",
  ended_at: "time",
  display_name: "clearable",
  thread_id: "text",
  turn_id: "text",
  exception: "clearable",
  attributes: "json",
  inputs: "json",
  output: "json",
  summary: "json",
  otel_dump: "json",
  wb_user_id: "text",
  wb_run_id: "text",
  wb_run_step: "number",
  wb_run_step_end: "number",
  expire_at: "time",
} as const satisfies Record<string, ColumnKind>

export type ExportedCallColumn = keyof typeof exportedCallColumns

export interface CallsPrint extends PrintStyle {
  columns: readonly ExportedCallColumn[]
  /** As they are stored, by sort time, instead of the order of the selection. */
  asStored: boolean
  page: Page
}

export function printCalls(
  traces: TraceStore,
  { where, order, retentionDays, parameters }: CallsSelection,
  { columns, asStored, page, ...style }: CallsPrint,
): Promise<Readable> {
  const kinds = Object.fromEntries(columns.map((name) => [name, exportedCallColumns[name]]))
  const columnsSql = printedColumns(kinds, style, { expire_at: expireAtSql(retentionDays) })
  const range =
    page.limit === null
      ? page.offset === 0
        ? ""
        : `limit 18446744073709551615 offset ${page.offset}`
      : `limit ${page.limit} offset ${page.offset}`
  return traces.print(
    `select ${columnsSql} from ${callsFinal} where ${where} order by ${asStored ? "project_id asc, sort_time asc, id asc" : order} ${range}`,
    parameters,
    printFormats[style.format],
    asStored ? {} : { threads: 1 },
  )
}
