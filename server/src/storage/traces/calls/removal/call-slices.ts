/**
 * Rows of a project in the order in which they are stored, so many at a time. What changes many calls does so slice by slice:
 * a statement holds no more than the ids of one slice, and other work comes in between.
 */
import type { TraceStore } from "../../store/trace-store.ts"
import { callsTable } from "../calls-tables.ts"

/** Where a row of a project is stored. */
export interface CallPosition {
  sort_time: string | number
  id: string
}

/** Rows of a project by their sort time: inclusive. */
export interface CallRange {
  projectId: string
  from: number
  to: number
}

/** Rows behind one position, up to another. All rows of a call are in the same slice. */
export interface CallSlice {
  projectId: string
  after: CallPosition
  last: CallPosition
}

/** SQL over {@link sliceParameters}. The sort times alone tell ClickHouse which part of the table it is. */
export const inSlice = `project_id = {projectId:UUID}
  and sort_time >= {fromTime:Int64} and sort_time <= {toTime:Int64}
  and (sort_time, id) > ({fromTime:Int64}, {fromId:String}) and (sort_time, id) <= ({toTime:Int64}, {toId:String})`

export function sliceParameters({ projectId, after, last }: CallSlice) {
  return { projectId, fromTime: after.sort_time, fromId: after.id, toTime: last.sort_time, toId: last.id }
}

/** One after the other; `rows` of the table each, of which a call has one to three until they are merged. */
export async function* slicesOf(
  traces: TraceStore,
  { projectId, from, to }: CallRange,
  rows: number,
): AsyncGenerator<CallSlice> {
  // No call has an empty id: the first slice begins with the first call of its sort time, the last ends with the last.
  const end = { sort_time: to + 1, id: "" }
  for (let after: CallPosition = { sort_time: from, id: "" }; after !== end;) {
    const last: CallPosition = (await nthBehind(traces, { projectId, after, last: end }, rows)) ?? end
    yield { projectId, after, last }
    after = last
  }
}

async function nthBehind(traces: TraceStore, slice: CallSlice, rows: number): Promise<CallPosition | null> {
  const [row] = await traces.rows<CallPosition>(
    `select sort_time, id from ${callsTable} where ${inSlice}
      order by project_id, sort_time, id limit 1 offset ${rows - 1}`,
    sliceParameters(slice),
    { threads: 1 },
  )
  return row ?? null
}
