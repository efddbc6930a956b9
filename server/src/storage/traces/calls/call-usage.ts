/** What calls report of their tokens, from narrow columns: evaluation-store-calls 4.1. */
import type { CallsSelection } from "./calls-selection.ts"
import { isoTimeSql } from "../query/sql-time.ts"
import type { TraceStore } from "../store/trace-store.ts"

export interface CallUsageRow {
  id: string
  parent_id: string | null
  /** ISO 8601, UTC. */
  started_at: string
  is_running: boolean
  /** JSON text of `summary.usage`; empty: none. */
  usage: string
}

/** The first `limit` calls of the selection. */
export async function readCallUsage(
  traces: TraceStore,
  selection: CallsSelection,
  limit: number,
): Promise<CallUsageRow[]> {
  return traces.rows<CallUsageRow>(
    `select id, parent_id, ${isoTimeSql("calls.started_at")} as started_at, ended_at is null as is_running,
      JSONExtractRaw(ifNull(summary, ''), 1, 'usage') as usage
      from calls final where ${selection.live} and ${selection.asked} order by ${selection.order} limit ${limit}`,
    selection.parameters,
  )
}

/** Each once. */
export async function readTraceIds(traces: TraceStore, selection: CallsSelection): Promise<string[]> {
  const rows = await traces.rows<{ trace_id: string }>(
    `select distinct trace_id from calls final where ${selection.live} and ${selection.asked}`,
    selection.parameters,
  )
  return rows.map((row) => row.trace_id)
}
