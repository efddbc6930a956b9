/**
 * Calls that a search for a text finds. The search reads rows as they are stored, which is less work than to make one of
 * the rows of each call, and ClickHouse remembers in which parts of the table it found nothing, so that the next one for
 * the same text reads little. What it finds is held against the whole condition afterwards.
 */
import { hasKey } from "./insert/call-keys.ts"
import { type CallKey, callKey, sortTimesOfFirst, type StoredKey } from "./insert/call-places.ts"
import { type Page, scanCalls } from "./scanned-calls.ts"
import type { CallsSelection } from "./calls-selection.ts"
import { callsTable } from "./calls-tables.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

/** More may lie in all parts of the table, whose payloads would then be read twice. */
const mostFound = 400
/** Calls at one end of time that are searched before all others. */
const nearCalls = 65_536

/** In the order asked for. Those that are found at the end of time that comes first are there before the others are searched. */
export async function* searchCalls(
  traces: TraceStore,
  selection: CallsSelection,
  page: Page,
): AsyncGenerator<CallKey[]> {
  const near = page.limit === null ? null : await nearEnd(traces, selection)
  if (near === null || page.limit === null) {
    return yield await readAmong(traces, selection, await searchedKeys(traces, selection), page)
  }
  const keys = await searchedKeys(traces, near.selection)
  const wanted = page.offset + page.limit
  const found = await readAmong(traces, near.selection, keys, { limit: wanted, offset: 0 })
  yield found.slice(page.offset)
  if (found.length === wanted) return
  const others = keys === null ? null : await searchedKeys(traces, near.others)
  const left = { limit: wanted - Math.max(found.length, page.offset), offset: Math.max(page.offset - found.length, 0) }
  // A call that began later or earlier than those of the near end may lie among them.
  yield await readAmong(traces, near.later, keys === null || others === null ? null : [...keys, ...others], left)
}

/** `keys`: of calls among which all of the selection are; null: nothing is known of them. */
async function readAmong(
  traces: TraceStore,
  selection: CallsSelection,
  keys: readonly CallKey[] | null,
  page: Page,
): Promise<CallKey[]> {
  if (keys?.length === 0) return []
  return scanCalls(traces, keys === null ? selection : among(selection, keys), page)
}

/** The selection, with the keys of the calls that a search finds, if they are few. */
export async function searched(traces: TraceStore, selection: CallsSelection): Promise<CallsSelection> {
  const keys = await searchedKeys(traces, selection)
  return keys === null ? selection : among(selection, keys)
}

function among(selection: CallsSelection, keys: readonly CallKey[]): CallsSelection {
  const own = new SqlParameters("k")
  return narrower(selection, hasKey(own, keys), own)
}

function narrower(selection: CallsSelection, condition: string, { values }: SqlParameters): CallsSelection {
  return {
    ...selection,
    where: `${condition} and ${selection.where}`,
    parameters: { ...selection.parameters, ...values },
  }
}

/** Of a few calls, among them all that are asked for; null: there is no search, or none finds few. */
async function searchedKeys(
  traces: TraceStore,
  { project, within, searches, parameters }: CallsSelection,
): Promise<CallKey[] | null> {
  for (const search of searches) {
    const rows = await traces.rows<StoredKey>(
      `select distinct sort_time, id from ${callsTable}
        where ${project} and ${within} and ${search} limit ${mostFound + 1}`,
      parameters,
      { scattered: true },
    )
    if (rows.length <= mostFound) return rows.map(callKey)
  }
  return null
}

interface NearEnd {
  /** The calls of the selection at the end of time that it begins with. */
  selection: CallsSelection
  /** Where calls lie that are not searched with those. */
  others: CallsSelection
  /** The calls that come after those. */
  later: CallsSelection
}

/** null: the selection is not in the order of time, or has few calls. */
async function nearEnd(traces: TraceStore, selection: CallsSelection): Promise<NearEnd | null> {
  const { byTime, projectId, startedAt } = selection
  if (byTime === null) return null
  const first = new SqlParameters("n")
  const [near] = await traces.rows<{ bound: string; from: string; to: string; calls: string }>(
    sortTimesOfFirst(first, { projectId, startedAt }, byTime, nearCalls),
    { ...selection.parameters, ...first.values },
    { few: true },
  )
  if (near === undefined || Number(near.calls) === 0) return null
  const own = new SqlParameters("e")
  const lie = `sort_time between ${own.bind(near.from, "Int64")} and ${own.bind(near.to, "Int64")}`
  const begin = `started_at ${byTime === "asc" ? "<" : ">"} ${own.bind(near.bound, "DateTime64(6, 'UTC')")}`
  const nearest = narrower(selection, `${lie} and ${begin}`, own)
  return {
    selection: { ...nearest, within: `${selection.within} and ${lie}` },
    others: { ...nearest, within: `${selection.within} and not (${lie})` },
    later: narrower(selection, `not (${begin})`, own),
  }
}
