/**
 * Rows that an embedded store has lost: a part of a table that is cut off or damaged, as a cut of power or a copy that did not
 * come to its end leaves it, is moved aside by chDB in silence, and the store opens without its rows.
 */
import type { TraceStore } from "./trace-store.ts"

interface LostPart {
  table: string
  path: string
}

/** @throws {Error} with a sentence for the operator, at each start until the parts are removed. */
export async function requireNoLostParts(traces: TraceStore, folder: string): Promise<void> {
  const lost = await traces.rows<LostPart>(
    "select table, path from system.detached_parts where database = currentDatabase() and reason = 'broken-on-start' order by path",
  )
  if (lost.length === 0) return
  const tables = [...new Set(lost.map(({ table }) => table))].join(", ")
  throw new Error(
    `the trace store in ${folder} is damaged: rows of ${tables} cannot be read. Put a backup of the data folder in its ` +
      `place. To go on without these rows, remove ${lost.map(({ path }) => path).join(" and ")}`,
  )
}
