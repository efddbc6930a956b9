/** What is shown of calls, by id: payloads as the text they came as. */
import { failedDescendantsSql, latencySql } from "./call-query-fields.ts"
import { storageSizeSql } from "./calls-read.ts"
import type { CallsSelection } from "./calls-selection.ts"
import { isoTimeSql } from "./sql-time.ts"
import { type TraceStore, TraceStoreError, traceErrorCodes } from "./trace-store.ts"

/** Always read. '' of a clearable text is given as null. */
export interface CallRow {
  id: string
  op_name: string
  trace_id: string
  parent_id: string | null
  started_at: string
  ended_at?: string | null
  display_name?: string | null
  exception?: string | null
  thread_id?: string | null
  turn_id?: string | null
  wb_user_id?: string | null
  wb_run_id?: string | null
  /** 64-bit, in digits. */
  wb_run_step?: string | null
  wb_run_step_end?: string | null
  expire_at?: string | null
  /** JSON texts; null: never written. */
  attributes?: string | null
  inputs?: string | null
  output?: string | null
  summary?: string | null
  otel_dump?: string | null
  /** With `summary`. */
  latency_ms?: string | null
  failed_descendants?: boolean
  storage_size_bytes?: string
}

export type CallColumn = Exclude<keyof CallRow, "id" | "op_name" | "trace_id" | "parent_id" | "started_at">

/** SQL of what is shown under each name. */
const always = {
  id: "id",
  op_name: "op_name",
  trace_id: "trace_id",
  parent_id: "parent_id",
  started_at: isoTimeSql("started_at"),
}

const columnSql: Record<CallColumn, string> = {
  ended_at: isoTimeSql("ended_at"),
  display_name: "nullIf(display_name, '')",
  exception: "nullIf(exception, '')",
  thread_id: "thread_id",
  turn_id: "turn_id",
  wb_user_id: "wb_user_id",
  wb_run_id: "wb_run_id",
  wb_run_step: "wb_run_step",
  wb_run_step_end: "wb_run_step_end",
  expire_at: isoTimeSql("expire_at"),
  attributes: payloadSql("attributes"),
  inputs: payloadSql("inputs"),
  output: payloadSql("output"),
  summary: payloadSql("summary"),
  otel_dump: payloadSql("otel_dump"),
  latency_ms: latencySql,
  failed_descendants: `cast(${failedDescendantsSql}, 'Bool')`,
  storage_size_bytes: storageSizeSql,
}

/** Without the brackets that keep the text whole. */
function payloadSql(column: string): string {
  return `substring(${column}, 2, length(${column}) - 2)`
}

/** The most memory that one reading of rows may take before it is cut in two. */
const readingLimits = { bytes: 768 * 1024 ** 2 }

/** Names of the inner statement differ from the columns', which its conditions mean. */
function showSql(columns: readonly CallColumn[], calls: string): string {
  const shown = { ...always, ...Object.fromEntries(columns.map((column) => [column, columnSql[column]])) }
  const inner = Object.entries(shown).map(([name, sql]) => `${sql} as ${name}_shown`)
  const outer = Object.keys(shown).map((name) => `${name}_shown as ${name}`)
  return `select ${outer.join(", ")} from (select ${inner.join(", ")} from calls final ${calls})`
}

/** In the order of `ids`; calls that are gone by now are left out. */
export async function readCallRows(
  traces: TraceStore,
  projectId: string,
  ids: readonly string[],
  columns: readonly CallColumn[],
): Promise<CallRow[]> {
  const sql = showSql(
    columns,
    "where project_id = {projectId:UUID} and id in {ids:Array(String)} and started_at is not null and deleted_at is null",
  )
  try {
    const rows = await traces.rows<CallRow>(sql, { projectId, ids }, readingLimits)
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => byId.get(id) ?? [])
  } catch (error) {
    // Rows may be megabytes each: fewer at once need less memory.
    if (!(error instanceof TraceStoreError) || error.code !== traceErrorCodes.memory || ids.length < 2) throw error
    const half = Math.ceil(ids.length / 2)
    const first = await readCallRows(traces, projectId, ids.slice(0, half), columns)
    return [...first, ...(await readCallRows(traces, projectId, ids.slice(half), columns))]
  }
}

/** All calls of a selection at once, in order; null: there are more than `most`. Without payloads this is the quickest. */
export async function readAllCallRows(
  traces: TraceStore,
  { live, asked, order, parameters }: CallsSelection,
  columns: readonly CallColumn[],
  most: number,
): Promise<CallRow[] | null> {
  const sql = showSql(columns, `where ${live} and ${asked} order by ${order} limit ${most + 1}`)
  const rows = await traces.rows<CallRow>(sql, parameters)
  return rows.length > most ? null : rows
}

/** Bytes of the payloads of each trace. */
export async function readTraceBytes(
  traces: TraceStore,
  projectId: string,
  traceIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await traces.rows<{ trace: string; bytes: string }>(
    `select trace_id as trace, sum(${storageSizeSql}) as bytes from calls final
      where project_id = {projectId:UUID} and started_at is not null and deleted_at is null
        and id in (select id from calls_by_trace where project_id = {projectId:UUID} and trace_id in {traceIds:Array(String)})
        and trace_id in {traceIds:Array(String)}
      group by trace_id`,
    { projectId, traceIds },
  )
  return new Map(rows.map(({ trace, bytes }) => [trace, bytes]))
}
