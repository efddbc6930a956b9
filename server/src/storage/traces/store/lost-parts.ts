/**
 * Rows that an embedded store has lost: a part of a table that is cut off or damaged, as a cut of power or a copy that did not
 * come to its end leaves it, is moved aside by chDB in silence, and the store opens without its rows.
 */
import { existsSync } from "node:fs"
import { stat, writeFile } from "node:fs/promises"
import path from "node:path"
import type { TraceStore } from "./trace-store.ts"

/** A part stands for a stretch of numbers, one for each insert. Those of one table that are read never overlap. */
interface Part {
  table: string
  partition_id: string
  /** 64-bit numbers are text. */
  first: string
  last: string
  path: string
}

/**
 * Empty files in the folders of damaged parts, which say what was found when they were first seen. Later it cannot be found
 * any more: parts are merged over the place of a lost one, and those that hold the rows of another may be deleted.
 */
const marks = { lost: "rows-are-lost", kept: "rows-are-in-others" } as const

/**
 * `openedAt`: before the store was opened, in milliseconds since 1970.
 * @throws {Error} with a sentence for the operator, at each start until the parts are removed.
 */
export async function requireNoLostParts(traces: TraceStore, folder: string, openedAt: number): Promise<void> {
  const damaged = await traces.rows<Part>(
    `select table, ifNull(partition_id, '') as partition_id, ifNull(min_block_number, 0) as first,
      ifNull(max_block_number, 0) as last, path
    from system.detached_parts where database = currentDatabase() and reason = 'broken-on-start' order by path`,
  )
  if (damaged.length === 0) return
  const kept = await partsOfBefore(traces, openedAt)
  const lost: Part[] = []
  for (const part of damaged) {
    const has = (mark: string) => existsSync(path.join(part.path, mark))
    const isLost = has(marks.lost) || (!has(marks.kept) && !holdRowsOf(kept, part))
    await writeFile(path.join(part.path, isLost ? marks.lost : marks.kept), "")
    if (isLost) lost.push(part)
  }
  if (lost.length === 0) return
  const tables = [...new Set(lost.map(({ table }) => table))].join(", ")
  throw new Error(
    `the trace store in ${folder} is damaged: rows of ${tables} cannot be read. Put a backup of the data folder in its ` +
      `place. To go on without these rows, remove ${lost.map((part) => part.path).join(" and ")}`,
  )
}

/** A merge over the place of a lost part makes one that stands for its number too, without its rows: such a one does not count. */
async function partsOfBefore(traces: TraceStore, openedAt: number): Promise<Part[]> {
  const parts = await traces.rows<Part>(
    `select table, partition_id, min_block_number as first, max_block_number as last, path
    from system.parts where database = currentDatabase() and active`,
  )
  const made = await Promise.all(parts.map((part) => madeAt(part)))
  return parts.filter((_, index) => (made[index] ?? Infinity) < openedAt)
}

/** null: it was merged meanwhile, and removed. */
async function madeAt(part: Part): Promise<number | null> {
  const found = await stat(path.join(part.path, "checksums.txt")).catch(() => null)
  return found?.mtimeMs ?? null
}

/**
 * Parts are merged into larger ones, and kept for minutes after it: the rows of a damaged one may all lie in one that it was
 * merged into, or in those that it was made of, which chDB goes back to.
 */
function holdRowsOf(kept: readonly Part[], { table, partition_id, first, last }: Part): boolean {
  const numbers = kept
    .filter((part) => part.table === table && part.partition_id === partition_id)
    .map((part) => Math.min(Number(part.last), Number(last)) - Math.max(Number(part.first), Number(first)) + 1)
    .filter((count) => count > 0)
  return numbers.reduce((sum, count) => sum + count, 0) === Number(last) - Number(first) + 1
}
