/** Bytes of JSON that a project holds: evaluation-store-objects 10. */
import { storageSizeSql } from "./calls/calls-read.ts"
import { callsFinal } from "./calls/calls-tables.ts"
import type { TraceStore } from "./store/trace-store.ts"

/** Of the payloads of its calls. */
export async function callBytes(traces: TraceStore, projectId: string): Promise<number> {
  const shown = "project_id = {projectId:UUID} and started_at is not null and deleted_at is null"
  return sum(traces, `select sum(${storageSizeSql}) as bytes from ${callsFinal} where ${shown}`, projectId)
}

/** Of its table rows, each once. The column holds two brackets more than the row. */
export async function rowBytes(traces: TraceStore, projectId: string): Promise<number> {
  const rows = "from table_rows final where project_id = {projectId:UUID}"
  return sum(traces, `select sum(length(val) - 2) as bytes ${rows}`, projectId)
}

async function sum(traces: TraceStore, sql: string, projectId: string): Promise<number> {
  const [row] = await traces.rows<{ bytes: string }>(sql, { projectId })
  return Number(row?.bytes ?? 0)
}
