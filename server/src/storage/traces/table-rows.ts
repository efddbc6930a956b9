/**
 * Tables of the evaluation store: evaluation-store-calls 6. A row is stored once in its project,
 * whatever tables it is in; a table is the list of its rows' digests, in chunks, so that a page is
 * read without the rest. A table is there once its chunk 0 is, which comes in the same insert as the
 * others or after all of them: it is read whole, or not at all.
 */
import { insertCounted } from "./counted-lines.ts"
import { inPieces } from "./query/in-pieces.ts"
import { namedAtOnce } from "./query/named-at-once.ts"
import { nullWhenTooLarge } from "./store/store-failure.ts"
import { kindOf, type QueryLimits, type TraceParameters, type TraceStore } from "./store/trace-store.ts"

export const tableTables = [
  // A row is looked up by its digest, which puts the rows of a page far apart. So granules are small, and each lies in
  // one piece: of 100,000 rows of 1.5 KB, 50 took 31 ms of CPU with granules of 64 and a file for each column, and 15 ms
  // so, one row 16 and 7 ms, for a fifth more on the disk.
  `create table if not exists table_rows (
    project_id UUID,
    digest String codec(ZSTD),
    val String codec(ZSTD)
  ) engine = ReplacingMergeTree order by (project_id, digest)
  settings index_granularity = 16, min_bytes_for_wide_part = 1000000000000000, min_rows_for_wide_part = 1000000000000000`,
  `create table if not exists tables (
    project_id UUID,
    digest String codec(ZSTD),
    chunk UInt32,
    row_count UInt64,
    row_digests Array(String) codec(ZSTD)
  ) engine = ReplacingMergeTree order by (project_id, digest, chunk)
  settings index_granularity = 4`,
]

/** Digests in a chunk. */
export const chunkRows = 1024

/** A line of {@link insertTableRows}. `text`: the JSON text of the row. */
export function tableRowLine(projectId: string, digest: string, text: string): string {
  // `[text]`: a nested value for a String column is stored as its text.
  return `{"project_id":"${projectId}","digest":"${digest}","val":[${text}]}\n`
}

/** Stores rows; the same one again changes nothing. */
export async function insertTableRows(traces: TraceStore, projectId: string, lines: Buffer): Promise<void> {
  await insertCounted(traces, "table_rows", { lines, bytesOf: new Map([[projectId, lines.length]]) })
}

/** Some of the chunks of a table that is stored in several inserts. */
export interface TablePlace {
  /** The index of the first row, which begins a chunk. */
  firstRow: number
  /** Of the whole table. */
  rowCount: number
}

/** Rows stored for a table itself: JSON Lines of its chunks. */
export function tableLines(
  projectId: string,
  digest: string,
  rowDigests: readonly string[],
  { firstRow, rowCount }: TablePlace = { firstRow: 0, rowCount: rowDigests.length },
): Buffer {
  const lines: string[] = []
  for (let from = 0; from === 0 || from < rowDigests.length; from += chunkRows) {
    const row_digests = rowDigests.slice(from, from + chunkRows)
    const chunk = (firstRow + from) / chunkRows
    lines.push(JSON.stringify({ project_id: projectId, digest, chunk, row_count: rowCount, row_digests }))
  }
  return Buffer.from(lines.join("\n"))
}

/** Stores a table, or a part of one, after its rows. The part with chunk 0, which makes the table readable, comes last. */
export async function insertTable(traces: TraceStore, projectId: string, lines: Buffer): Promise<void> {
  await insertCounted(traces, "tables", { lines, bytesOf: new Map([[projectId, lines.length]]) })
}

/** How many rows each table has; tables that are not there are left out. */
export async function tableCounts(
  traces: TraceStore,
  projectId: string,
  digests: readonly string[],
): Promise<Map<string, number>> {
  if (digests.length === 0) return new Map()
  const rows = await traces.rows<{ digest: string; row_count: string }>(
    `select digest, row_count from tables
      where project_id = {projectId:UUID} and digest in {digests:Array(String)} and chunk = 0 limit 1 by digest`,
    { projectId, digests },
    limitsOf(digests),
  )
  return new Map(rows.map((row) => [row.digest, Number(row.row_count)]))
}

/** Bytes of the different rows of each table. */
export async function tableSizes(
  traces: TraceStore,
  projectId: string,
  digests: readonly string[],
): Promise<Map<string, number>> {
  if (digests.length === 0) return new Map()
  const rows = await traces.rows<{ digest: string; bytes: string }>(
    `select member.digest as digest, sum(length(val) - 2) as bytes
      from table_rows as stored final
      inner join (
        select distinct digest, row_digest from tables array join row_digests as row_digest
        where project_id = {projectId:UUID} and digest in {digests:Array(String)}
      ) as member on member.row_digest = stored.digest
      where stored.project_id = {projectId:UUID}
      group by member.digest`,
    { projectId, digests },
  )
  return new Map(rows.map((row) => [row.digest, Number(row.bytes)]))
}

/** SQL that is true when the `table` that this condition selects is there whole. */
export function isThere(table: string): string {
  return `(select count() from tables where ${table} and chunk = 0) > 0`
}

/** Limit on several rows together: they are parsed at once, on the main thread. One row has 3.5 MiB at most. */
const pieceLimits: QueryLimits = { resultBytes: 16 * 1024 ** 2 }

/** The JSON texts of rows by digest. */
export type RowTexts = ReadonlyMap<string, string>

/** Digests in their order, with the texts of those rows that are there. */
export interface RowPiece {
  digests: readonly string[]
  texts: RowTexts
}

/** All of them, in pieces: rows may be megabytes each. */
export async function* rowPieces(
  traces: TraceStore,
  projectId: string,
  digests: readonly string[],
): AsyncGenerator<RowPiece> {
  const read = async (some: readonly string[]) => ({
    digests: some,
    texts: await namedTexts(traces, projectId, some, pieceLimits),
  })
  for (const some of namedAtOnce(digests)) yield* inPieces(some, read)
}

/** The texts of at most `mostNamed` rows. @throws {HeddleError} `query_memory` beyond the limits. */
export function namedTexts(
  traces: TraceStore,
  projectId: string,
  digests: readonly string[],
  limits?: QueryLimits,
): Promise<RowTexts> {
  const named = [...new Set(digests)]
  return readTexts(traces, "{named:Array(String)}", { projectId, named }, { ...limits, ...limitsOf(named) })
}

export interface PlacedText {
  digest: string
  text: string
  /** Name of the part of the store that the row lies in; it is gone once the part is merged with others. */
  part: string
}

/** {@link namedTexts} of rows that lie in these parts (null: in any), with the part of each. */
export function textsInParts(
  traces: TraceStore,
  projectId: string,
  named: readonly string[],
  parts: readonly string[] | null,
  limits: QueryLimits,
): Promise<PlacedText[]> {
  // Each granule of the right part holds a row that is wanted; most of those of the others hold none.
  const together = parts?.length === 1
  return traces.rows<PlacedText>(
    `select digest, ${textSql}, _part as part from table_rows
      where project_id = {projectId:UUID} and digest in {named:Array(String)}
        ${parts === null ? "" : "and _part in {parts:Array(String)}"} limit 1 by digest`,
    { projectId, named, ...(parts === null ? {} : { parts }) },
    { ...limits, ...limitsOf(named), together, asWritten: together },
  )
}

/** Names of the parts that some of the rows lie in. */
export async function partsOf(traces: TraceStore, projectId: string, named: readonly string[]): Promise<string[]> {
  const rows = await traces.rows<{ part: string }>(
    `select distinct _part as part from table_rows
      where project_id = {projectId:UUID} and digest in {named:Array(String)}`,
    { projectId, named },
    limitsOf(named),
  )
  return rows.map(({ part }) => part)
}

const textSql = "substring(val, 2, length(val) - 2) as text"

function limitsOf(named: readonly string[]): QueryLimits {
  const kind = kindOf(named)
  return { kind, few: kind === "lookup" }
}

/** The texts of rows `from` up to `to` of a table, and of their neighbours; null: they are too many or too large for one piece. */
export function rangeTexts(
  traces: TraceStore,
  projectId: string,
  tableDigest: string,
  { from, to }: { from: number; to: number },
): Promise<RowTexts | null> {
  const members = `(
    select arrayJoin(row_digests) from tables
    where project_id = {projectId:UUID} and digest = {tableDigest:String}
      and chunk >= {first:UInt64} and chunk < {end:UInt64}
  )`
  const chunks = { first: Math.floor(from / chunkRows), end: Math.ceil(to / chunkRows) }
  return readTexts(traces, members, { projectId, tableDigest, ...chunks }, pieceLimits).catch(nullWhenTooLarge)
}

async function readTexts(
  traces: TraceStore,
  digestsSql: string,
  parameters: TraceParameters,
  limits: QueryLimits,
): Promise<RowTexts> {
  const rows = await traces.rows<{ digest: string; text: string }>(
    `select digest, ${textSql} from table_rows
      where project_id = {projectId:UUID} and digest in ${digestsSql} limit 1 by digest`,
    parameters,
    limits,
  )
  return new Map(rows.map(({ digest, text }) => [digest, text]))
}
