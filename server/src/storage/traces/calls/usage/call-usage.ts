/** Tokens that calls report, from narrow columns: evaluation-store-calls 4.1. */
import type { CallsSelection } from "../calls-selection.ts"
import { callsFinal } from "../calls-tables.ts"
import type { TraceStore } from "../../store/trace-store.ts"
import { reportColumns, type UsageReport } from "./usage-reports.ts"

export interface CallUsageRow extends UsageReport {
  is_running: boolean
}

/** The first `limit` calls of the selection. */
export async function readCallUsage(
  traces: TraceStore,
  selection: CallsSelection,
  limit: number,
): Promise<CallUsageRow[]> {
  return traces.rows<CallUsageRow>(
    `select ${reportColumns()}, ended_at is null as is_running
      from ${callsFinal} where ${selection.where} order by ${selection.order} limit ${limit}`,
    selection.parameters,
  )
}

/** Each once. */
export async function readTraceIds(traces: TraceStore, selection: CallsSelection): Promise<string[]> {
  const rows = await traces.rows<{ trace_id: string }>(
    `select distinct trace_id from ${callsFinal} where ${selection.where}`,
    selection.parameters,
  )
  return rows.map((row) => row.trace_id)
}
