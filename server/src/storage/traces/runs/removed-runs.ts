/** Removes what deleted runs have logged. */
import { removeRows } from "../removed-rows.ts"
import type { TraceStore } from "../store/trace-store.ts"
import type { RunKey } from "./run-tables.ts"

const tables = ["run_history", "run_lines"]

/** Removes every row of these runs; returns whether there were any. */
export async function removeRunRows(traces: TraceStore, runs: readonly RunKey[]): Promise<boolean> {
  if (runs.length === 0) return false
  const condition = "project_id in {projectIds:Array(UUID)} and run_id in {runIds:Array(UUID)}"
  const projectIds = [...new Set(runs.map(({ projectId }) => projectId))]
  return removeRows(traces, tables, condition, { projectIds, runIds: runs.map(({ runId }) => runId) })
}
