/** Reads calls by id, their payloads as the text that was sent. */
import { hasId, hasKey } from "./insert/call-keys.ts"
import { type CallKey, callKey, isCandidate, type StoredKey, traceCandidates } from "./insert/call-places.ts"
import { storageSizeSql } from "./calls-read.ts"
import type { CallsSelection } from "./calls-selection.ts"
import { callsFinal, liveCall } from "./calls-tables.ts"
import { nearestCandidates } from "./nearest-candidates.ts"
import type { Page } from "./scanned-calls.ts"
import { inPieces } from "../query/in-pieces.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { nullWhenTooLarge } from "../store/store-failure.ts"
import { kindOf, type QueryLimits, type TraceStore } from "../store/trace-store.ts"

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
const times = ["started_at", "ended_at"] as const
const payloads = ["attributes", "inputs", "output", "summary", "otel_dump"] as const
const clearable = ["display_name", "exception"] as const
/** A summary is a payload, but a small one. */
const wide = new Set<CallColumn>(["attributes", "inputs", "output", "otel_dump"])

/** The most memory that one reading of rows may take before it is cut in two. */
const readingLimits = { bytes: 768 * 1024 ** 2 }
const fewRowsLimits = { ...readingLimits, few: true, kind: "lookup", asWritten: true } as const
const scatteredLimits = { ...readingLimits, scattered: true }
/** Limit on several rows together: they are parsed at once, on the main thread. One row may have 32 MiB. */
const pieceBytes = 16 * 1024 ** 2
/** Limit on all rows of a list together: an exception is no payload, and may be as long. */
const wholeBytes = 128 * 1024 ** 2
const fewPieceLimits = { ...fewRowsLimits, resultBytes: pieceBytes } as const

/** Bare columns: what is computed of them in the statement would take ClickHouse longer to plan than to read. */
function showSql(columns: readonly CallColumn[], calls: string): string {
  const names: string[] = [...always, ...columns.filter((column) => column !== "storage_size_bytes")]
  if (columns.includes("storage_size_bytes")) names.push(`${storageSizeSql} as storage_size_bytes`)
  return `select ${names.join(", ")} from ${callsFinal} ${calls}`
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
export function readCallRows(
  traces: TraceStore,
  projectId: string,
  ids: readonly string[],
  columns: readonly CallColumn[],
): Promise<CallRow[]> {
  return collected(readCallPieces(traces, projectId, ids, columns))
}

/** {@link readCallRows}, in pieces: rows may be megabytes each. */
export function readCallPieces(
  traces: TraceStore,
  projectId: string,
  ids: readonly string[],
  columns: readonly CallColumn[],
): AsyncGenerator<CallRow[]> {
  const areThese = (some: readonly string[], parameters: SqlParameters) => hasId(parameters, projectId, some)
  return readPieces(traces, projectId, ids, columns, areThese)
}

/** {@link readCallRows} of calls whose keys are known. */
export function readRowsOf(
  traces: TraceStore,
  projectId: string,
  keys: readonly CallKey[],
  columns: readonly CallColumn[],
): Promise<CallRow[]> {
  return collected(piecesOf(traces, projectId, keys, columns))
}

/** {@link readRowsOf}, in pieces: rows may be megabytes each. */
export function piecesOf(
  traces: TraceStore,
  projectId: string,
  keys: readonly CallKey[],
  columns: readonly CallColumn[],
): AsyncGenerator<CallRow[]> {
  const ids = keys.map(({ id }) => id)
  const sortTimes = new Map(keys.map(({ id, sort_time }) => [id, sort_time]))
  return readPieces(traces, projectId, ids, columns, (some, parameters) =>
    hasKey(
      parameters,
      some.map((id) => ({ id, sort_time: sortTimes.get(id) as number })),
    ),
  )
}

async function collected(pieces: AsyncGenerator<CallRow[]>): Promise<CallRow[]> {
  const all: CallRow[][] = []
  for await (const piece of pieces) all.push(piece)
  return all.flat()
}

function limitsOf(ids: readonly string[]): QueryLimits {
  return ids.length === 1 ? fewRowsLimits : { ...scatteredLimits, resultBytes: pieceBytes, kind: kindOf(ids) }
}

/** In order. `areThese`: SQL of calls with these ids. */
async function* readPieces(
  traces: TraceStore,
  projectId: string,
  ids: readonly string[],
  columns: readonly CallColumn[],
  areThese: (ids: readonly string[], parameters: SqlParameters) => string,
): AsyncGenerator<CallRow[]> {
  if (ids.length === 0) return
  yield* inPieces(ids, async (some) => {
    const parameters = new SqlParameters()
    const keys = `project_id = {projectId:UUID} and ${areThese(some, parameters)}`
    const sql = showSql(columns, `prewhere ${keys} where ${liveCall}`)
    const rows = await traces.rows<CallRow>(sql, { ...parameters.values, projectId }, limitsOf(some))
    const byId = new Map(rows.map((row) => [row.id, toCallRow(row)]))
    return some.flatMap((id) => byId.get(id) ?? [])
  })
}

/** More candidates than calls are wanted, as some may be deleted. */
const spareCandidates = 14
/** Rows of a page that are read in the first query, with payloads and without. */
const mostFirstRows = 50
const mostNarrowRows = 500

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
  { project, order, parameters }: CallsSelection,
  { candidates, condition, isAll }: NonNullable<CallsSelection["traces"]>,
  columns: readonly CallColumn[],
): Promise<CallRow[] | null> {
  const found = await traces.rows<StoredKey>(`${candidates} limit ${mostFirstRows + 1}`, parameters, fewRowsLimits)
  if (found.length > mostFirstRows) return null
  const own = new SqlParameters("c")
  const calls = hasKey(own, found.map(callKey))
  const rows = `prewhere ${project} and ${calls} where ${liveCall} and ${condition} order by ${order}`
  const limits = { ...fewPieceLimits, asWritten: isAll }
  return traces.rows<CallRow>(showSql(columns, rows), { ...parameters, ...own.values }, limits).catch(nullWhenTooLarge)
}

/** The calls at one end of time, under no condition but of their start. */
async function nearestRows(
  traces: TraceStore,
  { projectId, project, condition, startedAt, isByStart, order, byTime, parameters }: CallsSelection,
  { limit, offset }: Page,
  columns: readonly CallColumn[],
): Promise<CallRow[] | null> {
  const wanted = (limit ?? Number.POSITIVE_INFINITY) + offset
  const most = columns.some((column) => wide.has(column)) ? mostFirstRows : mostNarrowRows
  if (byTime === null || !isByStart || wanted > most) return null
  const count = wanted + spareCandidates
  const candidates = await nearestCandidates(traces, { projectId, startedAt, parameters }, byTime, count)
  const own = new SqlParameters("c")
  const isWanted = `${liveCall} and ${condition}`
  const page = `prewhere ${project} and ${hasKey(own, candidates)} where ${isWanted} order by ${order} limit ${wanted}`
  const rows = await traces
    .rows<CallRow>(showSql(columns, page), { ...parameters, ...own.values }, fewPieceLimits)
    .catch(nullWhenTooLarge)
  if (rows === null) return null
  // A call that is not among the candidates could come before one that is no earlier than the last of them.
  const last = candidates.at(-1)?.started_at ?? ""
  const sure = rows.filter((row) => (byTime === "asc" ? row.started_at < last : row.started_at > last))
  return candidates.length === count && sure.length < wanted ? null : rows
}

/** All calls of a selection at once, in order; null: they are more than `most`, or large. Without payloads this is the quickest. */
export async function readAllCallRows(
  traces: TraceStore,
  { where, order, parameters }: CallsSelection,
  columns: readonly CallColumn[],
  most: number,
): Promise<CallRow[] | null> {
  const sql = showSql(columns, `where ${where} order by ${order} limit ${most + 1}`)
  const rows = await traces.rows<CallRow>(sql, parameters, { resultBytes: wholeBytes }).catch(nullWhenTooLarge)
  return rows === null || rows.length > most ? null : rows.map(toCallRow)
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
    `select trace_id as trace, sum(${storageSizeSql}) as bytes from ${callsFinal}
      where project_id = {projectId:UUID} and ${liveCall}
        and ${isCandidate(candidates)} and trace_id in {traceIds:Array(String)}
      group by trace_id`,
    { ...parameters.values, projectId, traceIds },
  )
  return new Map(rows.map(({ trace, bytes }) => [trace, bytes]))
}
