/**
 * Deletes the calls of a project that began at or before a moment, as `/calls/delete` does. However many they are, their rows
 * stay in ClickHouse, which is given a slice of the project at a time.
 */
import { deleteAgentSpansWhere } from "../../agents/span-table.ts"
import type { TraceStore } from "../../store/trace-store.ts"
import { type CallRange, type CallSlice, inSlice, sliceParameters, slicesOf } from "./call-slices.ts"
import { callsFinal, callsTable, liveCall } from "../calls-tables.ts"
import { addPlacesByTime, removePlacesByTime } from "../insert/call-places.ts"

export interface ExpiredCalls {
  projectId: string
  /** As times are stored, `2026-01-02 03:04:05.123456`: inclusive. */
  startedUntil: string
}

export interface ExpiredRange extends CallRange {
  /** Of calls. */
  count: number
}

const sliceRows = 65_536
/** More where calls are only counted, from narrow columns. */
const countedRows = 1_048_576

const isExpired = `${liveCall} and started_at <= {startedUntil:DateTime64(6, 'UTC')}`

/** null: there are none. */
export async function findExpired(traces: TraceStore, expired: ExpiredCalls): Promise<ExpiredRange | null> {
  const { projectId, startedUntil } = expired
  const range = await startedRange(traces, expired)
  if (range === null) return null
  const found = { projectId, from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY, count: 0 }
  for await (const slice of slicesOf(traces, range, countedRows)) {
    const [row] = await traces.rows<{ n: string; from: string; to: string }>(
      `select count() as n, min(sort_time) as from, max(sort_time) as to from ${callsFinal}
        where ${inSlice} and ${isExpired}`,
      { ...sliceParameters(slice), startedUntil },
      { threads: 1 },
    )
    if (row === undefined || Number(row.n) === 0) continue
    found.from = Math.min(found.from, Number(row.from))
    found.to = Math.max(found.to, Number(row.to))
    found.count += Number(row.n)
  }
  return found.count === 0 ? null : found
}

/** Where starts lie that are old enough, also those of calls that were deleted or started again; null: there are none. */
async function startedRange(traces: TraceStore, { projectId, startedUntil }: ExpiredCalls): Promise<CallRange | null> {
  const [row] = await traces.rows<{ n: string; from: string; to: string }>(
    `select count() as n, min(sort_time) as from, max(sort_time) as to from ${callsTable}
      where project_id = {projectId:UUID} and started_at <= {startedUntil:DateTime64(6, 'UTC')}`,
    { projectId, startedUntil },
    { threads: 1 },
  )
  return row === undefined || Number(row.n) === 0 ? null : { projectId, from: Number(row.from), to: Number(row.to) }
}

/** Yields after each slice how many calls of it were deleted. Whoever stops in between leaves the rest as it is. */
export async function* deleteExpired(
  traces: TraceStore,
  { startedUntil }: ExpiredCalls,
  range: ExpiredRange,
): AsyncGenerator<number> {
  for await (const slice of slicesOf(traces, range, sliceRows)) yield await deleteFrom(traces, slice, startedUntil)
}

async function deleteFrom(traces: TraceStore, slice: CallSlice, startedUntil: string): Promise<number> {
  const expired = `from ${callsFinal} where ${inSlice} and ${isExpired}`
  const parameters = { ...sliceParameters(slice), startedUntil }
  const [row] = await traces.rows<{ n: string }>(`select count() as n ${expired}`, parameters, { threads: 1 })
  const count = Number(row?.n ?? 0)
  if (count === 0) return 0
  // First: a deletion that is repeated after a failure finds no call that was deleted already.
  const ofThese = `project_id = {projectId:UUID} and span_id in (select id ${expired})`
  await deleteAgentSpansWhere(traces, ofThese, parameters)
  const deletedAt = new Date().toISOString().slice(0, -1).replace("T", " ")
  await traces.command(
    `insert into ${callsTable} (project_id, sort_time, id, deleted_at)
      select project_id, sort_time, id, {deletedAt:DateTime64(3, 'UTC')} ${expired}
      settings max_threads = 1, max_insert_threads = 1`,
    { ...parameters, deletedAt },
    true,
  )
  return count
}

/**
 * Without this a list of the oldest calls would go through all that ever expired. A call that came meanwhile, behind the slices,
 * gets its place back: it goes with the next run, or stays when the limit is changed before. The rows of a call are stored
 * before its places, so that none is missed.
 */
export async function forgetExpiredStarts(traces: TraceStore, expired: ExpiredCalls): Promise<void> {
  const { projectId, startedUntil } = expired
  await removePlacesByTime(traces, projectId, startedUntil)
  const late = await findExpired(traces, expired)
  if (late === null) return
  for await (const slice of slicesOf(traces, late, countedRows)) {
    await addPlacesByTime(traces, `${inSlice} and ${isExpired}`, { ...sliceParameters(slice), startedUntil })
  }
}
