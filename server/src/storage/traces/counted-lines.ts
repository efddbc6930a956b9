/** Rows that are stored in one table and counted for the quotas of their teams. */
import { usageOf } from "../team-usage.ts"
import type { TraceStore } from "./store/trace-store.ts"

export interface CountedLines {
  /** JSON Lines. */
  lines: Buffer
  /** How many of the bytes each project's rows take. */
  bytesOf: ReadonlyMap<string, number>
}

/** Stores all rows or none. */
export async function insertCounted(
  traces: TraceStore,
  table: string,
  { lines, bytesOf }: CountedLines,
): Promise<void> {
  await traces.insert(table, lines)
  const usage = usageOf(traces)
  for (const [projectId, bytes] of bytesOf) usage?.ofProject(projectId, bytes)
}
