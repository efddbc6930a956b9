/** The rows of what is open of a trace, with repeated siblings folded. A row costs only what is open. */
import { type Span, spanDuration, type TraceTree, withAncestors } from "./trace-tree.ts"

/** More siblings of one name in a row than this are folded into one row. */
export const mostSiblings = 6

export type TreeRow = { kind: "span"; span: Span; depth: number; isOpen: boolean } | GroupRow

export interface GroupRow {
  kind: "group"
  key: string
  name: string
  depth: number
  isOpen: boolean
  count: number
  failed: number
  /** Milliseconds from the begin of the trace, from the first begin to the last end. */
  start: number
  end: number
  medianMs: number
}

export interface OpenState {
  /** Calls whose inside is shown. */
  spans: ReadonlySet<number>
  /** Keys of groups that are unfolded. */
  groups: ReadonlySet<string>
  selected: number | null
  /** Repeated siblings are folded. */
  isFolding: boolean
}

export const groupKey = (parent: number | null, first: number) => `${parent ?? "root"}:${first}`

/** The visible rows from top to bottom. */
export function treeRows(tree: TraceTree, open: OpenState): TreeRow[] {
  const rows: TreeRow[] = []
  const way = new Set(withAncestors(tree, open.selected))
  // A list of what is still to be shown, and no recursion: calls may lie 10,000 deep.
  const left = entriesOf(tree, open, way, { parent: null, indexes: tree.roots, depth: 0 }).toReversed()
  for (let entry = left.pop(); entry !== undefined; entry = left.pop()) {
    if (typeof entry.shown !== "number") {
      rows.push(entry.shown)
      continue
    }
    const span = tree.spans[entry.shown]
    if (span === undefined) continue
    const isOpen = open.spans.has(span.index)
    rows.push({ kind: "span", span, depth: entry.depth, isOpen })
    if (!isOpen) continue
    const inside = { parent: span.index, indexes: span.children, depth: entry.depth + 1 }
    for (const inner of entriesOf(tree, open, way, inside).toReversed()) left.push(inner)
  }
  return rows
}

interface Entry {
  /** A call by its place, or a group. */
  shown: number | GroupRow
  depth: number
}

interface Siblings {
  parent: number | null
  indexes: readonly number[]
  depth: number
}

function entriesOf(
  tree: TraceTree,
  open: OpenState,
  way: ReadonlySet<number>,
  { parent, indexes, depth }: Siblings,
): Entry[] {
  if (!open.isFolding || indexes.length <= mostSiblings) return indexes.map((shown) => ({ shown, depth }))
  return runsOf(tree, indexes).flatMap((run): Entry[] => {
    if (run.length <= mostSiblings) return run.map((shown) => ({ shown, depth }))
    const key = groupKey(parent, run[0] ?? 0)
    const isOpen = open.groups.has(key)
    const members = isOpen ? run : standingOut(tree, run, way)
    return [
      { shown: groupRow(tree, run, { key, depth, isOpen }), depth },
      ...members.map((shown) => ({ shown, depth: depth + 1 })),
    ]
  })
}

function groupRow(
  tree: TraceTree,
  run: readonly number[],
  shown: Pick<GroupRow, "key" | "depth" | "isOpen">,
): GroupRow {
  const spans = run.flatMap((index) => tree.spans[index] ?? [])
  const lengths = Float64Array.from(spans, (span) => spanDuration(tree, span)).toSorted()
  return {
    kind: "group",
    ...shown,
    name: spans[0]?.name ?? "",
    count: spans.length,
    failed: spans.filter(isTroubled).length,
    start: spans[0]?.start ?? 0,
    end: spans.reduce((most, span) => Math.max(most, span.start + spanDuration(tree, span)), 0),
    medianMs: lengths[Math.floor(lengths.length / 2)] ?? 0,
  }
}

function runsOf(tree: TraceTree, indexes: readonly number[]): number[][] {
  const runs: number[][] = []
  let name: string | undefined
  for (const index of indexes) {
    const next = tree.spans[index]?.name
    if (next === name && runs.length > 0) runs.at(-1)?.push(index)
    else runs.push([index])
    name = next
  }
  return runs
}

/** Members that a folded group still shows: the selected one, the first that failed, and the slowest. */
function standingOut(tree: TraceTree, run: readonly number[], way: ReadonlySet<number>): number[] {
  const shown = new Set(run.filter((index) => way.has(index)))
  for (const index of run.filter((one) => isTroubled(tree.spans[one])).slice(0, 2)) shown.add(index)
  let slowest = run[0] ?? 0
  for (const index of run) if (lengthAt(tree, index) > lengthAt(tree, slowest)) slowest = index
  shown.add(slowest)
  return [...shown].toSorted((a, b) => run.indexOf(a) - run.indexOf(b))
}

const isTroubled = (span: Span | undefined) => span !== undefined && (span.isFailed || span.failedInside > 0)

function lengthAt(tree: TraceTree, index: number): number {
  const span = tree.spans[index]
  return span === undefined ? 0 : spanDuration(tree, span)
}

/** So many rows are open at first, if the trace has no more. */
const allOpen = 150

/** Calls that are open at first: all of a small trace, else the outermost and the way to the selected one. */
export function openAtFirst(tree: TraceTree, selected: number | null): Set<number> {
  if (tree.spans.length <= allOpen) return new Set(tree.spans.map(({ index }) => index))
  return new Set([...tree.roots, ...withAncestors(tree, selected).slice(1)])
}
