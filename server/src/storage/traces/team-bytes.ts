import { callsTable } from "./calls/calls-tables.ts"
import type { TraceStore } from "./store/trace-store.ts"

/** Tables that clients fill, and which of their rows count. */
const tables = [
  { name: callsTable, live: "deleted_at is null" },
  { name: "feedback", live: "true" },
  { name: "agent_spans", live: "true" },
  { name: "table_rows", live: "true" },
  { name: "tables", live: "true" },
  { name: "run_history", live: "true" },
  { name: "run_lines", live: "true" },
  { name: "training_rows", live: "true" },
  { name: "token_prices", live: "true" },
]

/** Nobody waits for it. */
const longestMeasureSeconds = 1800

/** Bytes that these projects hold, as ClickHouse has them in memory. It reads all of them, so it takes one core only. */
export async function bytesInTraces(traces: TraceStore, projectIds: readonly string[]): Promise<number> {
  if (projectIds.length === 0) return 0
  let bytes = 0
  for (const { name, live } of tables) {
    const [row] = await traces.rows<{ bytes: string }>(
      `select sum(byteSize(*)) as bytes from ${name} final where project_id in {projectIds:Array(UUID)} and ${live}`,
      { projectIds },
      { threads: 1, seconds: longestMeasureSeconds },
    )
    bytes += Number(row?.bytes ?? 0)
  }
  return bytes
}
