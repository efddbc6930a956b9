/** Gives back the disk that payloads of deleted calls take. The rows stay, and say that the call is deleted. */
import type { TraceStore } from "../../store/trace-store.ts"
import { type CallRange, type CallSlice, inSlice, sliceParameters, slicesOf } from "./call-slices.ts"
import { callsTable } from "../calls-tables.ts"

/** Columns that clients fill, of any size. */
const payloads = ["attributes", "inputs", "output", "summary", "otel_dump", "exception"]

/** The rows that say so stay for ever: those of one slice are held at a time. */
const isDeleted = `(sort_time, id) in (select sort_time, id from ${callsTable} where ${inSlice} and isNotNull(deleted_at))`
const hasPayload = `(${payloads.map((column) => `notEmpty(${column})`).join(" or ")})`
const condition = `${inSlice} and ${isDeleted} and ${hasPayload}`

const sliceRows = 262_144
/** A mutation writes whole columns of a part anew, however few of its rows are meant: it takes several slices together. */
const mostSlices = 4

/** Returns whether there was anything to remove. Where there is nothing, nothing is written. */
export async function removeDeletedPayloads(traces: TraceStore): Promise<boolean> {
  let isFound = false
  for (const range of await deletedRanges(traces)) {
    for await (const slice of slicesWithPayloads(traces, range)) {
      isFound = true
      await emptyPayloads(traces, slice)
    }
  }
  return isFound
}

/** Of each project where deleted calls lie. */
async function deletedRanges(traces: TraceStore): Promise<CallRange[]> {
  const rows = await traces.rows<{ project_id: string; from: string; to: string }>(
    `select project_id, min(sort_time) as from, max(sort_time) as to from ${callsTable}
      where isNotNull(deleted_at) group by project_id order by project_id`,
    {},
    { threads: 1 },
  )
  return rows.map(({ project_id, from, to }) => ({ projectId: project_id, from: Number(from), to: Number(to) }))
}

async function* slicesWithPayloads(traces: TraceStore, range: CallRange): AsyncGenerator<CallSlice> {
  let open: CallSlice | null = null
  let count = 0
  for await (const slice of slicesOf(traces, range, sliceRows)) {
    const found = await traces.rows(`select 1 from ${callsTable} where ${condition} limit 1`, sliceParameters(slice), {
      threads: 1,
    })
    if (found.length > 0) {
      open = { ...slice, after: (open ?? slice).after }
      count += 1
    }
    if (open !== null && (found.length === 0 || count === mostSlices)) {
      yield open
      open = null
      count = 0
    }
  }
  if (open !== null) yield open
}

/** Empty instead of null, over which ClickHouse would leave the text where it was. */
async function emptyPayloads(traces: TraceStore, slice: CallSlice): Promise<void> {
  const emptied = payloads.map((column) => `${column} = ''`).join(", ")
  await traces.command(
    `alter table ${callsTable} update ${emptied} where ${condition} settings mutations_sync = 2`,
    sliceParameters(slice),
    true,
  )
}
