/**
 * Pages of a table in its own order, read ahead. The Python client (weave 0.54.0, `trace/vals.py`) takes a
 * table in pages of 100 rows, one after the other. Rows lie where their digests put them, far apart, and to
 * read a thousand takes hardly longer than a hundred: so a page that goes on from an earlier one brings rows
 * behind it too. What was read is kept for a while; it stays right, as neither tables nor rows change.
 */
import { mostNamed } from "./query/named-at-once.ts"
import { needsLessMemory } from "./store/store-failure.ts"
import type { TraceStore } from "./store/trace-store.ts"
import { tableDigests } from "./table-digests.ts"
import { neighbouringTexts } from "./table-row-parts.ts"
import { chunkRows, type RowPiece } from "./table-rows.ts"

interface TablePart {
  projectId: string
  tableDigest: string
  from: number
  /** The first row behind it. */
  to: number
}

/** Rows that follow one another, all of them stored. */
interface Stretch extends TablePart, RowPiece {
  /** The table ends with them. */
  last: boolean
  weight: number
}

/** Read-ahead factor: a reader who stops early has cost little. */
const growth = 8
/** In characters, as are all weights. Read ahead at once, if the rows are as large as those before them. */
const aheadWeight = 2 * 1024 * 1024
/** Read at once however large the rows are, and kept of one stretch. */
const heaviestStretch = 4 * aheadWeight
const limits = { resultBytes: heaviestStretch }
/** Kept of a store: 64 MiB, should all characters have two bytes. */
const mostWeight = 32 * 1024 * 1024
/** Few enough to look through all of them for each page. */
const mostStretches = 256
/** Approximate weight of a row without its text. */
const rowWeight = 200

/** The most recently used last. */
const keptStretches = new WeakMap<TraceStore, Stretch[]>()

/** No rows of a table that is not there; null: they are too large to be read at once. */
export async function readTablePage(traces: TraceStore, part: TablePart): Promise<RowPiece | null> {
  const kept = keptStretches.get(traces) ?? []
  keptStretches.set(traces, kept)
  const near = findStretch(kept, part)
  const stretch = near !== null && covers(near, part) ? near : await readFrom(traces, part, near)
  if (stretch === null) return null
  keep(kept, stretch)
  return { digests: stretch.digests.slice(part.from - stretch.from, part.to - stretch.from), texts: stretch.texts }
}

/** One that the part begins in, or goes on from. */
function findStretch(kept: readonly Stretch[], part: TablePart): Stretch | null {
  const near = kept.filter(
    ({ projectId, tableDigest, from, to }) =>
      tableDigest === part.tableDigest && projectId === part.projectId && from <= part.from && part.from <= to,
  )
  return near.findLast((stretch) => covers(stretch, part)) ?? near.at(-1) ?? null
}

function covers(stretch: Stretch, part: TablePart): boolean {
  return part.to <= stretch.to || stretch.last
}

function keep(kept: Stretch[], stretch: Stretch): void {
  const at = kept.indexOf(stretch)
  if (at >= 0) kept.splice(at, 1)
  // Rows that are not stored may come yet, and a table that is not there too.
  else if (!isWhole(stretch) || stretch.weight > heaviestStretch) return
  kept.push(stretch)
  let weight = kept.reduce((sum, one) => sum + one.weight, 0)
  while (weight > mostWeight || kept.length > mostStretches) weight -= kept.shift()?.weight ?? weight
}

function isWhole({ digests, texts }: Stretch): boolean {
  return digests.length > 0 && digests.every((digest) => texts.has(digest))
}

/** The part, and what follows it if it goes on from rows that were read before. */
async function readFrom(traces: TraceStore, part: TablePart, before: Stretch | null): Promise<Stretch | null> {
  const count = before === null ? 0 : countAhead(before, part.to - part.from)
  const ahead = { ...part, to: Math.max(part.to, part.from + count) }
  // Where rows suddenly become much larger, reading ahead reads too much.
  const stretch = await readStretch(traces, ahead)
  return stretch === null && ahead.to > part.to ? readStretch(traces, part) : stretch
}

/** Rows to read: whole pages, so that none of them lies half in what is kept. */
function countAhead({ digests, weight }: Stretch, page: number): number {
  const rows = Math.min(digests.length * growth, (digests.length / weight) * aheadWeight, mostNamed)
  return Math.floor(rows / page) * page
}

/** null: the rows are too large to be read at once. */
async function readStretch(traces: TraceStore, part: TablePart): Promise<Stretch | null> {
  const { projectId, tableDigest, from, to } = part
  const digests = (await tableDigests(traces, projectId, tableDigest, { from, to })) ?? []
  try {
    const neighbourhood = `${projectId}/${tableDigest}/${Math.floor(from / chunkRows)}`
    const texts = await neighbouringTexts(traces, { projectId, neighbourhood }, digests, limits)
    let weight = digests.length * rowWeight
    for (const text of texts.values()) weight += text.length
    const end = from + digests.length
    return { projectId, tableDigest, from, to: end, digests, texts, last: end < to, weight }
  } catch (error) {
    if (!needsLessMemory(error)) throw error
    return null
  }
}
