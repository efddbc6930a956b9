/**
 * Which rows a table has: their digests, in chunks. A statement takes milliseconds before it reads anything, so chunks
 * of pages are kept for a while; they stay right, as tables do not change.
 */
import { keepRecent } from "./recently-used.ts"
import { SqlParameters } from "./query/sql-parameters.ts"
import type { TraceStore } from "./store/trace-store.ts"
import { chunkRows, isThere } from "./table-rows.ts"

type Chunk = readonly string[]

interface Known {
  /** Names of tables that were seen to be there, which they stay. To look takes as long as to read a chunk. */
  tables: Set<string>
  /** By name of the table and number of the chunk, the most recently used last. */
  chunks: Map<string, Chunk>
}

/** Enough that the tables in use are among them; each takes some 150 bytes. */
const mostSeenTables = 10_000
/** 10 MB with digests of the usual 43 characters. */
const mostKeptChunks = 128
/** Where clients name digests of their own, they may be of any length: such chunks are not kept. */
const longestKeptChunk = 64 * chunkRows
/** Chunks of a read that are kept: those of a page. */
const mostOfPage = 2

const known = new WeakMap<TraceStore, Known>()

/** The digests of rows `from` up to `to` (null: the end), in order; null: no such table. */
export async function tableDigests(
  traces: TraceStore,
  projectId: string,
  digest: string,
  { from, to }: { from: number; to: number | null } = { from: 0, to: null },
): Promise<string[] | null> {
  const { tables, chunks } = known.getOrInsertComputed(traces, () => ({ tables: new Set(), chunks: new Map() }))
  const name = `${projectId}/${digest}`
  const first = Math.floor(from / chunkRows)
  const end = to === null ? Infinity : Math.ceil(to / chunkRows)
  let found = keptChunks(chunks, name, first, end)
  if (found === null) {
    const read = await readChunks(traces, projectId, digest, { first, end, isSeen: tables.has(name) })
    // A table that another request is storing may have later chunks only.
    if (!read.has(first)) return from === 0 && to !== 0 ? null : []
    if (tables.size >= mostSeenTables) tables.clear()
    tables.add(name)
    if (read.size <= mostOfPage) for (const [chunk, rows] of read) keep(chunks, `${name}/${chunk}`, rows)
    found = [...read.values()]
  }
  const start = from - first * chunkRows
  return found.flat().slice(start, to === null ? undefined : start + to - from)
}

/** null: not all of them are kept. */
function keptChunks(chunks: Map<string, Chunk>, name: string, first: number, end: number): Chunk[] | null {
  const found: Chunk[] = []
  for (let chunk = first; chunk < end; chunk++) {
    const key = `${name}/${chunk}`
    const rows = chunks.get(key)
    if (rows === undefined) return null
    keep(chunks, key, rows)
    found.push(rows)
    // The table's last one.
    if (rows.length < chunkRows) break
  }
  return found
}

function keep(chunks: Map<string, Chunk>, key: string, rows: Chunk): void {
  if (rows.reduce((sum, digest) => sum + digest.length, 0) > longestKeptChunk) return
  keepRecent(chunks, key, rows, mostKeptChunks)
}

interface Wanted {
  first: number
  /** Behind the last one. */
  end: number
  /** The table was seen to be there. */
  isSeen: boolean
}

/** By number, in order. */
async function readChunks(
  traces: TraceStore,
  projectId: string,
  digest: string,
  { first, end, isSeen }: Wanted,
): Promise<Map<number, string[]>> {
  const parameters = new SqlParameters()
  const table = `project_id = ${parameters.bind(projectId, "UUID")} and digest = ${parameters.bind(digest, "String")}`
  const last = end === Infinity ? "" : `and chunk < ${parameters.bind(end, "UInt64")}`
  // Where chunk 0 is read, it tells.
  const there = first === 0 || isSeen ? "" : `and ${isThere(table)}`
  const isFew = end - first <= mostOfPage
  const rows = await traces.rows<{ chunk: number; row_digests: string[] }>(
    `select chunk, row_digests from tables
      where ${table} and chunk >= ${parameters.bind(first, "UInt64")} ${last} ${there}`,
    parameters.values,
    { kind: end === Infinity ? "heavy" : "lookup", few: isFew, together: isFew },
  )
  // What was stored twice may come twice.
  return new Map(rows.toSorted((a, b) => a.chunk - b.chunk).map((row) => [row.chunk, row.row_digests]))
}
