/**
 * What differs between two versions of a dataset. Equal rows have equal digests, wherever they stand. Of the others a row
 * is a changed one when it shares a value with an old row that no other row of either version has in that column, or when
 * at its place half of the cells stayed; what is left was added or removed.
 */
import { type JsonText, memberTexts } from "../json/json-text.ts"

export interface TableRow {
  digest: string
  /** Its place in the table, from 0. */
  original_index: number
  val: JsonText
}

export type RowChange =
  | { kind: "changed"; before: TableRow; after: TableRow; columns: readonly string[] }
  | { kind: "added"; after: TableRow }
  | { kind: "removed"; before: TableRow }

export interface ChangeCounts {
  added: number
  removed: number
  changed: number
}

type Cells = ReadonlyMap<string, JsonText>

export function countChanges(changes: readonly RowChange[]): ChangeCounts {
  const count = (kind: RowChange["kind"]) => changes.filter((change) => change.kind === kind).length
  return { added: count("added"), removed: count("removed"), changed: count("changed") }
}

/** Changed rows first, then what was added, then what was removed; each in the order of its table. */
export function diffRows(before: readonly TableRow[], after: readonly TableRow[]): RowChange[] {
  const gone = rowsBeyond(before, after)
  const come = rowsBeyond(after, before)
  const cells = new Map([...gone, ...come].map((row) => [row, cellsOf(row)]))
  const cellsAt = (row: TableRow): Cells => cells.get(row) ?? new Map()
  const pairs = new Map<TableRow, TableRow>()
  const taken = new Set<TableRow>()
  const pair = (old: TableRow, now: TableRow) => {
    if (taken.has(old) || pairs.has(now)) return
    taken.add(old)
    pairs.set(now, old)
  }
  if (gone.length > 0 && come.length > 0) {
    const lone = { before: loneValues(before), after: loneValues(after) }
    for (const [old, now] of pairsByValue({ gone, come, cellsAt, lone })) pair(old, now)
    const goneAt = new Map(gone.map((row) => [row.original_index, row]))
    for (const now of come) {
      const old = goneAt.get(now.original_index)
      if (old !== undefined && keepsHalf(cellsAt(old), cellsAt(now))) pair(old, now)
    }
  }
  return [
    ...come.flatMap((now): RowChange[] => {
      const old = pairs.get(now)
      if (old === undefined) return []
      return [{ kind: "changed", before: old, after: now, columns: columnsThatDiffer(cellsAt(old), cellsAt(now)) }]
    }),
    ...come.filter((row) => !pairs.has(row)).map((row): RowChange => ({ kind: "added", after: row })),
    ...gone.filter((row) => !taken.has(row)).map((row): RowChange => ({ kind: "removed", before: row })),
  ]
}

/** A row that is no object has one cell without a name. */
export function cellsOf({ val }: Pick<TableRow, "val">): Cells {
  return val.trimStart().startsWith("{") ? memberTexts(val) : new Map([["", val]])
}

/** Rows that `others` lacks; of rows that come several times those beyond as many. */
function rowsBeyond(rows: readonly TableRow[], others: readonly TableRow[]): TableRow[] {
  const left = new Map<string, number>()
  for (const { digest } of others) left.set(digest, (left.get(digest) ?? 0) + 1)
  return rows.filter(({ digest }) => {
    const count = left.get(digest) ?? 0
    if (count > 0) left.set(digest, count - 1)
    return count === 0
  })
}

/** For each column its values that only one row has. */
function loneValues(rows: readonly TableRow[]): Map<string, Map<string, boolean>> {
  const columns = new Map<string, Map<string, boolean>>()
  for (const row of rows) {
    for (const [column, value] of cellsOf(row)) {
      const values = columns.get(column) ?? new Map<string, boolean>()
      columns.set(column, values.set(value, !values.has(value)))
    }
  }
  return columns
}

interface Search {
  gone: readonly TableRow[]
  come: readonly TableRow[]
  cellsAt: (row: TableRow) => Cells
  lone: Record<"before" | "after", Map<string, Map<string, boolean>>>
}

/** Rows that share a value which nobody else has; those that share most of them first. */
function pairsByValue({ gone, come, cellsAt, lone }: Search): [TableRow, TableRow][] {
  const isLone = (column: string, value: string) =>
    lone.before.get(column)?.get(value) === true && lone.after.get(column)?.get(value) === true
  const owners = new Map<string, TableRow>()
  const key = (column: string, value: string) => JSON.stringify([column, value])
  for (const row of gone) {
    for (const [column, value] of cellsAt(row)) if (isLone(column, value)) owners.set(key(column, value), row)
  }
  const found = come.flatMap((now) => {
    const shared = new Map<TableRow, number>()
    for (const [column, value] of cellsAt(now)) {
      const old = owners.get(key(column, value))
      if (old !== undefined) shared.set(old, (shared.get(old) ?? 0) + 1)
    }
    return [...shared].map(([old, count]) => ({ old, now, count }))
  })
  return found.toSorted((a, b) => b.count - a.count).map(({ old, now }) => [old, now])
}

function keepsHalf(before: Cells, after: Cells): boolean {
  const columns = new Set([...before.keys(), ...after.keys()])
  return columns.size > 1 && columnsThatDiffer(before, after).length <= columns.size / 2
}

function columnsThatDiffer(before: Cells, after: Cells): string[] {
  const columns = new Set([...before.keys(), ...after.keys()])
  return [...columns].filter((column) => before.get(column) !== after.get(column))
}
