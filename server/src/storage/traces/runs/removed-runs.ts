/** Removes what deleted runs have logged. */
import type { TraceStore } from "../store/trace-store.ts"
import type { RunKey } from "./run-tables.ts"

const tables = ["run_history", "run_lines"]

/**
 * Removes every row of these runs; returns whether there were any. As with deleted projects, parts are written anew without
 * them, and only where there is something to remove.
 */
export async function removeRunRows(traces: TraceStore, runs: readonly RunKey[]): Promise<boolean> {
  if (runs.length === 0) return false
  const parameters = {
    projectIds: [...new Set(runs.map(({ projectId }) => projectId))],
    runIds: runs.map(({ runId }) => runId),
  }
  const condition = "project_id in {projectIds:Array(UUID)} and run_id in {runIds:Array(UUID)}"
  let found = false
  for (const table of tables) {
    const rows = await traces.rows(`select 1 from ${table} where ${condition} limit 1`, parameters)
    if (rows.length === 0) continue
    found = true
    await traces.command(`alter table ${table} delete where ${condition} settings mutations_sync = 2`, parameters)
  }
  return found
}
