/** Tables with rows of projects. Each such table must be listed here. */
import { callPlacesTable, callsTable } from "./calls/calls-tables.ts"
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

/**
 * Removes every row of these projects; returns whether there were any. A mutation writes the parts that have such rows
 * anew, without them, so that the disk is given back; it runs only where there is something to remove. To do it again
 * changes nothing.
 */
export async function removeProjectRows(traces: TraceStore, projectIds: readonly string[]): Promise<boolean> {
  if (projectIds.length === 0) return false
  let found = false
  for (const table of tables) {
    const condition = "project_id in {projectIds:Array(UUID)}"
    const rows = await traces.rows(`select 1 from ${table} where ${condition} limit 1`, { projectIds })
    if (rows.length === 0) continue
    found = true
    await traces.command(`alter table ${table} delete where ${condition} settings mutations_sync = 2`, { projectIds })
  }
  return found
}
