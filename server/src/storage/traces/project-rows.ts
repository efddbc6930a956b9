/** Tables with rows of projects. Each such table must be listed here. */
import { callPlacesTable, callsTable } from "./calls/calls-tables.ts"
import { removeRows } from "./removed-rows.ts"
import type { TraceStore } from "./store/trace-store.ts"

const tables = [
  callsTable,
  callPlacesTable,
  "agent_spans",
  "annotation_queue_calls",
  "feedback",
  "run_history",
  "run_lines",
  "table_rows",
  "tables",
  "token_ledger",
  "token_prices",
  "training_rows",
]

/** Removes every row of these projects; returns whether there were any. */
export async function removeProjectRows(traces: TraceStore, projectIds: readonly string[]): Promise<boolean> {
  if (projectIds.length === 0) return false
  return removeRows(traces, tables, "project_id in {projectIds:Array(UUID)}", { projectIds })
}
