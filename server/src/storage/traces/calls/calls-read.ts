/** Reads calls: first which ones and in which order, from narrow columns; then what is shown of them. */
import { type Expansion, payloadValue } from "./fields/call-ref-field.ts"
import { hasKey } from "./insert/call-keys.ts"
import { type CallKey, callKey, type StoredKey } from "./insert/call-places.ts"
import { type CallsQuery, type CallsSelection, selectCalls } from "./calls-selection.ts"
import { callsFinal } from "./calls-tables.ts"
import { type Candidate, nearestCandidates } from "./nearest-candidates.ts"
import { type Page, scanCalls } from "./scanned-calls.ts"
import { searchCalls, searched } from "./searched-calls.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

/** In the order asked for, some at a time as they are found. */
export async function* findCalls(traces: TraceStore, selection: CallsSelection, page: Page): AsyncGenerator<CallKey[]> {
  const nearest = await nearestCalls(traces, selection, page)
  if (nearest !== null) yield nearest
  else if (selection.searches.length > 0) yield* searchCalls(traces, selection, page)
  else yield await scanCalls(traces, selection, page)
}

/** How many candidates by time are tried before the whole project is read, and by what they grow. */
const firstCandidates = 128
const mostCandidates = 16_384
const growth = 8

/**
 * A page near one end of time, from the places in the order of time: null when the page is not one,
 * or is not full within {@link mostCandidates}. A candidate may be stale (the call was started again
 * at another time), so a call counts only when no call beyond the candidates could come before it.
 */
async function nearestCalls(traces: TraceStore, selection: CallsSelection, page: Page): Promise<CallKey[] | null> {
  if (selection.byTime === null || page.limit === null) return null
  const wanted = page.offset + page.limit
  const first = Math.max(firstCandidates, 2 * wanted)
  // Beyond that a search finds more in less time.
  const most = selection.searches.length > 0 ? Math.min(first * growth, mostCandidates) : mostCandidates
  for (let count = first; count <= most; count *= growth) {
    const candidates = await nearestCandidates(traces, selection, selection.byTime, count)
    const sure = candidates.at(-1)?.started_at
    const rows = sure === undefined ? [] : await verify(traces, selection, candidates, sure, wanted)
    const isEverything = candidates.length < count
    if (isEverything || rows.filter((row) => row.sure).length >= wanted) {
      return rows.slice(page.offset).map(callKey)
    }
    // Too few to hope for: at this rate the most candidates hold no full page.
    if (count > firstCandidates && rows.length * most < wanted * count) return null
  }
  return null
}

/** Those of the candidates that are asked for, in order; `sure` are the ones before the moment `last`. */
function verify(
  traces: TraceStore,
  { live, condition, order, byTime, parameters }: CallsSelection,
  candidates: readonly Candidate[],
  last: string,
  wanted: number,
): Promise<(StoredKey & { sure: boolean })[]> {
  const within = byTime === "asc" ? "<" : ">"
  const own = new SqlParameters("c")
  return traces.rows(
    `select id, sort_time, started_at ${within} {last:DateTime64(6, 'UTC')} as sure from ${callsFinal}
      where ${live} and ${hasKey(own, candidates)} and ${condition} order by ${order} limit ${wanted}`,
    { ...parameters, ...own.values, last },
  )
}

/** The different refs that stand at a path of the payloads of the calls that a filter names, at most `most`. */
export async function findRefs(
  traces: TraceStore,
  { projectId, projectName, filter }: Pick<CallsQuery, "projectId" | "projectName" | "filter">,
  { path, expansions }: { path: readonly string[]; expansions: readonly Expansion[] },
  most: number,
): Promise<string[]> {
  const { where, parameters } = selectCalls({
    projectId,
    projectName,
    retentionDays: null,
    filter,
    query: null,
    sortBy: null,
  })
  const own = new SqlParameters("r")
  const ref = payloadValue(path, expansions, own).as("text")
  const rows = await traces.rows<{ ref: string }>(
    `select distinct ${ref} as ref from ${callsFinal}
      where ${where} and startsWith(ref, 'weave:///') limit ${most}`,
    { ...parameters, ...own.values },
  )
  return rows.map((row) => row.ref)
}

/** How many calls there are, counted no further than `limit`. */
export async function countCalls(traces: TraceStore, selection: CallsSelection, limit: number | null): Promise<number> {
  const { where, parameters } = await searched(traces, selection)
  const from = `from ${callsFinal} where ${where}`
  const sql =
    limit === null ? `select count() as n ${from}` : `select count() as n from (select 1 ${from} limit ${limit})`
  const rows = await traces.rows<{ n: string }>(sql, parameters)
  return Number(rows[0]?.n ?? 0)
}

/** Bytes of the payloads of the whole traces of the calls that are roots, and were counted. */
export async function traceBytes(traces: TraceStore, selection: CallsSelection): Promise<number> {
  const { live, where, parameters } = await searched(traces, selection)
  const roots = `select trace_id from ${callsFinal} where ${where} and parent_id is null`
  const rows = await traces.rows<{ bytes: string }>(
    `select sum(${storageSizeSql}) as bytes from ${callsFinal} where ${live} and trace_id in (${roots})`,
    parameters,
  )
  return Number(rows[0]?.bytes ?? 0)
}

/** The payload columns hold two brackets more than the payload. */
export const storageSizeSql = ["attributes", "inputs", "output", "summary"]
  .map((column) => `if(isNull(${column}), 0, length(assumeNotNull(${column})) - 2)`)
  .join(" + ")
