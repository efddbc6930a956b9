/**
 * Tables of the evaluation store: evaluation-store-calls 6. A row is stored once in its project,
 * whatever tables it is in; a table is the list of its rows' digests, in chunks, so that a page is
 * read without the rest. All chunks of a table come in one insert: it is there whole, or not at all.
 */
import { SqlParameters } from "./query/sql-parameters.ts"
import type { QueryLimits, TraceParameters, TraceStore } from "./store/trace-store.ts"

export const tableTables = [
  // A row is looked up by its digest, which puts the rows of a page far apart: small granules.
  `create table if not exists table_rows (
    project_id UUID,
    digest String codec(ZSTD),
    val String codec(ZSTD)
  ) engine = ReplacingMergeTree order by (project_id, digest)
  settings index_granularity = 64`,
  `create table if not exists tables (
    project_id UUID,
    digest String codec(ZSTD),
    chunk UInt32,
    row_count UInt64,
    row_digests Array(String) codec(ZSTD)
  ) engine = ReplacingMergeTree order by (project_id, digest, chunk)
  settings index_granularity = 16`,
]

/** Digests in a chunk. */
export const chunkRows = 1024

export interface TableRow {
  digest: string
  /** JSON text. */
  text: string
}

/** Stores rows; the same one again changes nothing. */
export async function insertRows(traces: TraceStore, projectId: string, rows: readonly TableRow[]): Promise<void> {
  const different = new Map(rows.map((row) => [row.digest, row.text]))
  // `[text]`: a nested value for a String column is stored as its text.
  const lines = Array.from(
    different,
    ([digest, text]) => `{"project_id":"${projectId}","digest":"${digest}","val":[${text}]}`,
  )
  await traces.insert("table_rows", Buffer.from(lines.join("\n")))
}

/** Stores a table, after its rows. */
export async function insertTable(
  traces: TraceStore,
  projectId: string,
  digest: string,
  rowDigests: readonly string[],
): Promise<void> {
  const lines: string[] = []
  for (let from = 0; from === 0 || from < rowDigests.length; from += chunkRows) {
    const row_digests = rowDigests.slice(from, from + chunkRows)
    const chunk = { project_id: projectId, digest, chunk: from / chunkRows, row_count: rowDigests.length, row_digests }
    lines.push(JSON.stringify(chunk))
  }
  await traces.insert("tables", Buffer.from(lines.join("\n")))
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

/** The digests of rows `from` up to `to` (null: the end), in order; null: no such table. */
export async function tableDigests(
  traces: TraceStore,
  projectId: string,
  digest: string,
  { from, to }: { from: number; to: number | null } = { from: 0, to: null },
): Promise<string[] | null> {
  const first = Math.floor(from / chunkRows)
  const parameters = new SqlParameters()
  const last = to === null ? "" : `and chunk < ${parameters.bind(Math.ceil(to / chunkRows), "UInt64")}`
  const chunks = await traces.rows<{ chunk: number; row_digests: string[] }>(
    `select chunk, row_digests from tables
      where project_id = ${parameters.bind(projectId, "UUID")} and digest = ${parameters.bind(digest, "String")}
        and chunk >= ${parameters.bind(first, "UInt64")} ${last}
      order by chunk limit 1 by chunk`,
    parameters.values,
  )
  if (chunks.length === 0 && from === 0 && to !== 0) return null
  const digests = chunks.flatMap((chunk) => chunk.row_digests)
  const start = from - first * chunkRows
  return digests.slice(start, to === null ? undefined : start + to - from)
}

/** Digests that one statement names; the time that ClickHouse takes to read a statement grows faster than it. */
export const mostNamedRows = 4096

/** The JSON texts of rows by digest; rows that are not there are left out. */
export async function rowTexts(
  traces: TraceStore,
  projectId: string,
  digests: readonly string[],
  limits?: QueryLimits,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  const different = [...new Set(digests)]
  for (let from = 0; from < different.length; from += mostNamedRows) {
    const named = different.slice(from, from + mostNamedRows)
    await addTexts(texts, traces, "{named:Array(String)}", { projectId, named }, limits)
  }
  return texts
}

/** {@link rowTexts} of the rows `from` up to `to` of a table, and of their neighbours. */
export async function rangeTexts(
  traces: TraceStore,
  projectId: string,
  tableDigest: string,
  { from, to }: { from: number; to: number },
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  const members = `(
    select arrayJoin(row_digests) from tables
    where project_id = {projectId:UUID} and digest = {tableDigest:String}
      and chunk >= {first:UInt64} and chunk < {end:UInt64}
  )`
  const chunks = { first: Math.floor(from / chunkRows), end: Math.ceil(to / chunkRows) }
  await addTexts(texts, traces, members, { projectId, tableDigest, ...chunks })
  return texts
}

async function addTexts(
  texts: Map<string, string>,
  traces: TraceStore,
  digestsSql: string,
  parameters: TraceParameters,
  limits?: QueryLimits,
): Promise<void> {
  const rows = await traces.rows<{ digest: string; text: string }>(
    `select digest, substring(val, 2, length(val) - 2) as text from table_rows
      where project_id = {projectId:UUID} and digest in ${digestsSql} limit 1 by digest`,
    parameters,
    limits,
  )
  for (const { digest, text } of rows) texts.set(digest, text)
}
