/** What is shown of calls, by id: payloads as the text they came as. */
import { timeCandidates, traceCandidates } from "./call-places.ts"
import { type Page, storageSizeSql } from "./calls-read.ts"
import type { CallsSelection } from "./calls-selection.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { type TraceStore, TraceStoreError, traceErrorCodes } from "../store/trace-store.ts"

/** Times are ISO 8601 in UTC, to the microsecond. The first five are always read. */
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
  storage_size_bytes?: string
}

export type CallColumn = Exclude<keyof CallRow, "id" | "op_name" | "trace_id" | "parent_id" | "started_at">

const always = ["id", "op_name", "trace_id", "parent_id", "started_at"] as const
const times = ["started_at", "ended_at", "expire_at"] as const
const payloads = ["attributes", "inputs", "output", "summary", "otel_dump"] as const
const clearable = ["display_name", "exception"] as const

/** The most memory that one reading of rows may take before it is cut in two. */
const readingLimits = { bytes: 768 * 1024 ** 2 }
/** For a few rows, to divide the work takes longer than the work. */
const fewRowsLimits = { ...readingLimits, threads: 1 }
const scatteredLimits = { ...readingLimits, scattered: true }

/** Bare columns: what is computed of them in the statement would take ClickHouse longer to plan than to read. */
function showSql(columns: readonly CallColumn[], calls: string): string {
  const shown: string[] = [...always, ...columns.filter((column) => column !== "storage_size_bytes")]
  if (columns.includes("storage_size_bytes")) shown.push(`${storageSizeSql} as storage_size_bytes`)
  return `select ${shown.join(", ")} from calls final ${calls}`
}

/** From the columns as they are stored to what they mean. */
function toCallRow(stored: CallRow): CallRow {
  const row = stored
  for (const name of times) if (typeof row[name] === "string") row[name] = `${row[name].replace(" ", "T")}Z`
  // Without the brackets that keep the text whole.
  for (const name of payloads) if (typeof row[name] === "string") row[name] = row[name].slice(1, -1)
  for (const name of clearable) if (row[name] === "") row[name] = null
  return row
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
    const rows = await traces.rows<CallRow>(sql, { projectId, ids }, ids.length === 1 ? fewRowsLimits : scatteredLimits)
    const byId = new Map(rows.map((row) => [row.id, toCallRow(row)]))
    return ids.flatMap((id) => byId.get(id) ?? [])
  } catch (error) {
    // Rows may be megabytes each: fewer at once need less memory.
    if (!(error instanceof TraceStoreError) || error.code !== traceErrorCodes.memory || ids.length < 2) throw error
    const half = Math.ceil(ids.length / 2)
    const first = await readCallRows(traces, projectId, ids.slice(0, half), columns)
    return [...first, ...(await readCallRows(traces, projectId, ids.slice(half), columns))]
  }
}

/** More candidates than calls are wanted, as some may be deleted. */
const spareCandidates = 14
/** Of the page that is read at once. */
const mostFirstRows = 50

/**
 * A page of few calls that are found by the places of calls: two statements, where to find the ids,
 * check them and read the calls takes three. null: not such a page, or the candidates do not settle it.
 */
export async function readFirstRows(
  traces: TraceStore,
  selection: CallsSelection,
  page: Page,
  columns: readonly CallColumn[],
): Promise<CallRow[] | null> {
  const rows =
    selection.traces === null
      ? await nearestRows(traces, selection, page, columns)
      : await rowsOfTraces(traces, selection, selection.traces, columns)
  return rows?.slice(page.offset, page.limit === null ? undefined : page.offset + page.limit).map(toCallRow) ?? null
}

/** All calls of traces that have few. */
async function rowsOfTraces(
  traces: TraceStore,
  { live, order, parameters }: CallsSelection,
  { candidates, asked }: NonNullable<CallsSelection["traces"]>,
  columns: readonly CallColumn[],
): Promise<CallRow[] | null> {
  const found = await traces.rows<{ id: string }>(`${candidates} limit ${mostFirstRows + 1}`, parameters, fewRowsLimits)
  if (found.length > mostFirstRows) return null
  const ids = found.map(({ id }) => id)
  const sql = showSql(columns, `where ${live} and id in {ids:Array(String)} and ${asked} order by ${order}`)
  return traces.rows<CallRow>(sql, { ...parameters, ids }, fewRowsLimits).catch(nullWhenTooLarge)
}

/** The calls at one end of time, under no other condition. */
async function nearestRows(
  traces: TraceStore,
  { projectId, live, asked, order, byTime, parameters }: CallsSelection,
  { limit, offset }: Page,
  columns: readonly CallColumn[],
): Promise<CallRow[] | null> {
  const wanted = (limit ?? Number.POSITIVE_INFINITY) + offset
  if (byTime === null || asked !== "true" || wanted > mostFirstRows) return null
  const count = wanted + spareCandidates
  const places = new SqlParameters("c")
  const candidates = await traces.rows<{ id: string; started_at: string }>(
    timeCandidates(places, projectId, byTime, count),
    places.values,
    fewRowsLimits,
  )
  const ids = candidates.map(({ id }) => id)
  const sql = showSql(columns, `where ${live} and id in {ids:Array(String)} order by ${order} limit ${wanted}`)
  const rows = await traces.rows<CallRow>(sql, { ...parameters, ids }, fewRowsLimits).catch(nullWhenTooLarge)
  if (rows === null) return null
  // A call that is not among the candidates could come before one that is no earlier than the last of them.
  const last = candidates.at(-1)?.started_at ?? ""
  const sure = rows.filter((row) => (byTime === "asc" ? row.started_at < last : row.started_at > last))
  return candidates.length === count && sure.length < wanted ? null : rows
}

function nullWhenTooLarge(error: unknown): null {
  if (error instanceof TraceStoreError && error.code === traceErrorCodes.memory) return null
  throw error
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
  return rows.length > most ? null : rows.map(toCallRow)
}

/** Bytes of the payloads of each trace. */
export async function readTraceBytes(
  traces: TraceStore,
  projectId: string,
  traceIds: readonly string[],
): Promise<Map<string, string>> {
  const parameters = new SqlParameters()
  const candidates = traceCandidates(parameters, projectId, traceIds)
  const rows = await traces.rows<{ trace: string; bytes: string }>(
    `select trace_id as trace, sum(${storageSizeSql}) as bytes from calls final
      where project_id = {projectId:UUID} and started_at is not null and deleted_at is null
        and id in (${candidates}) and trace_id in {traceIds:Array(String)}
      group by trace_id`,
    { ...parameters.values, projectId, traceIds },
  )
  return new Map(rows.map(({ trace, bytes }) => [trace, bytes]))
}
