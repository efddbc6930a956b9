/** Bytes of JSON that a project holds: evaluation-store-objects 10. */
import { storageSizeSql } from "./calls/calls-read.ts"
import { callsFinal, liveCall } from "./calls/calls-tables.ts"
import type { TraceStore } from "./store/trace-store.ts"

/** Size of the payloads of the project's calls. */
export async function callBytes(traces: TraceStore, projectId: string): Promise<number> {
  const live = `project_id = {projectId:UUID} and ${liveCall}`
  return sum(traces, `select sum(${storageSizeSql}) as bytes from ${callsFinal} where ${live}`, projectId)
}

/** Size of the project's table rows, each counted once. The column holds two brackets more than the row. */
export async function rowBytes(traces: TraceStore, projectId: string): Promise<number> {
  const rows = "from table_rows final where project_id = {projectId:UUID}"
  return sum(traces, `select sum(length(val) - 2) as bytes ${rows}`, projectId)
}

async function sum(traces: TraceStore, sql: string, projectId: string): Promise<number> {
  const [row] = await traces.rows<{ bytes: string }>(sql, { projectId })
  return Number(row?.bytes ?? 0)
}
