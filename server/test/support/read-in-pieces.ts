/** Tells whether large things are read some at a time. */
import { vi } from "vitest"
import type { TraceStore } from "../../src/storage/traces/store/trace-store.ts"

/**
 * Whether, while `work` was done in this process, rows were stored in `table` before the last reading whose statement
 * contains `part`: not all was in memory at once then.
 */
export async function storesBeforeLastRead(
  traces: TraceStore,
  { table, part }: { table: string; part: string },
  work: () => Promise<void>,
): Promise<boolean> {
  const [rows, insert] = [vi.spyOn(traces, "rows"), vi.spyOn(traces, "insert")]
  try {
    await work()
    const reads = placesOf(rows.mock, (sql) => sql.includes(part))
    const stores = placesOf(insert.mock, (name) => name === table)
    if (reads.length === 0 || stores.length === 0) throw new Error(`${reads.length} reads, ${stores.length} inserts`)
    return Math.min(...stores) < Math.max(...reads)
  } finally {
    rows.mockRestore()
    insert.mockRestore()
  }
}

/** Where the calls whose first argument is like this stand among those of all spies. */
function placesOf(
  { calls, invocationCallOrder }: { calls: readonly (readonly unknown[])[]; invocationCallOrder: readonly number[] },
  isOne: (first: string) => boolean,
): number[] {
  return invocationCallOrder.filter((_, at) => isOne(String(calls[at]?.[0])))
}
