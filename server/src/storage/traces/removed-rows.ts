/** Removes rows for good. */
import type { TraceParameters, TraceStore } from "./store/trace-store.ts"

/**
 * Removes from each of the tables the rows that meet the condition; returns whether there were any. A mutation writes the parts
 * that have such rows anew, without them, so that the disk is given back; it runs only where there is something to remove.
 * To do it again changes nothing.
 */
export async function removeRows(
  traces: TraceStore,
  tables: readonly string[],
  condition: string,
  parameters: TraceParameters,
): Promise<boolean> {
  let found = false
  for (const table of tables) {
    const rows = await traces.rows(`select 1 from ${table} where ${condition} limit 1`, parameters)
    if (rows.length === 0) continue
    found = true
    await traces.command(`alter table ${table} delete where ${condition} settings mutations_sync = 2`, parameters, true)
  }
  return found
}
