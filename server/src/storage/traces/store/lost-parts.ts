/**
 * Rows that an embedded store has lost: a part of a table that is cut off or damaged, as a cut of power or a copy that did not
 * come to its end leaves it, is moved aside by chDB in silence, and the store opens without its rows.
 */
import type { TraceStore } from "./trace-store.ts"

interface LostPart {
  table: string
  path: string
}

/**
 * Parts are merged into larger ones and kept for minutes after it: of a damaged one, all rows may lie in one that it was merged
 * into, or in those that it was made of, which chDB then goes back to. A part stands for a stretch of numbers, one for each
 * insert, and those that are read never overlap.
 */
const lostParts = `
  with least(kept.last, lost.max_block_number) - greatest(kept.first, lost.min_block_number) + 1 as numbers_kept
  select lost.table as table, lost.path as path
  from system.detached_parts as lost
  left join (
    select table, partition_id, min_block_number as first, max_block_number as last
    from system.parts where database = currentDatabase() and active
  ) as kept on kept.table = lost.table and kept.partition_id = lost.partition_id
  where lost.database = currentDatabase() and lost.reason = 'broken-on-start'
  group by table, path, lost.min_block_number, lost.max_block_number
  having sumIf(numbers_kept, kept.table != '' and numbers_kept > 0) < lost.max_block_number - lost.min_block_number + 1
  order by path`

/** @throws {Error} with a sentence for the operator, at each start until the parts are removed. */
export async function requireNoLostParts(traces: TraceStore, folder: string): Promise<void> {
  const lost = await traces.rows<LostPart>(lostParts)
  if (lost.length === 0) return
  const tables = [...new Set(lost.map(({ table }) => table))].join(", ")
  throw new Error(
    `the trace store in ${folder} is damaged: rows of ${tables} cannot be read. Put a backup of the data folder in its ` +
      `place. To go on without these rows, remove ${lost.map(({ path }) => path).join(" and ")}`,
  )
}
