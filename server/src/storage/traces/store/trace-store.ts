/**
 * The trace store seam: ClickHouse SQL, either in this process (chDB) or on a ClickHouse server.
 * What it owns: transport, parameters, what failures mean. What it does not: any table or query.
 */
import type { Readable } from "node:stream"
import type { FairQueue } from "../../../work/fair-queue.ts"
import type { WorkKind } from "../../../work/turns.ts"

/** A value for a `{name:Type}` placeholder. Times are given as ISO text or as numbers, as their type reads them. */
export type TraceParameter = string | number | bigint | boolean | null | readonly TraceParameter[]

export type TraceParameters = Readonly<Record<string, TraceParameter>>

export interface QueryLimits {
  /** `lookup`: few rows by primary key. There is always room for those; by default a query is `heavy`. */
  kind?: WorkKind
  /** Longest run, in seconds. */
  seconds?: number
  /** Most memory, in bytes. */
  bytes?: number
  /** Largest result, in bytes as ClickHouse holds it. What is held here is a few times as much. */
  resultBytes?: number
  /** Cores at most; by default all. */
  threads?: number
  /** The rows are few: to divide the work, or to compile its expressions, would take longer than the work. */
  few?: boolean
  /** The rows lie far apart: cores share them however few they are. */
  scattered?: boolean
  /** Keys choose the rows, and nearly all that is read of them is wanted: no column is read before the others. */
  together?: boolean
  /**
   * The statement is planned as it stands: no set comes from a subquery, it needs no order of a table, and with `final` its
   * keys are in `prewhere`.
   */
  asWritten?: boolean
}

const mostLookedUp = 100

/** Kind of a read by primary key: a look-up as long as it names few keys. */
export function kindOf(keys: readonly unknown[]): WorkKind {
  return keys.length <= mostLookedUp ? "lookup" : "heavy"
}

/** One row of a result, by column name. 64-bit integers come as strings, times as `YYYY-MM-DD hh:mm:ss.ffffff`. */
export type TraceRow = Readonly<Record<string, unknown>>

/**
 * Formats of a printed select. `TSVRaw` writes the texts of one column unchanged, each with a line end; `JSONEachRow` is what
 * {@link TraceStore.insert} takes.
 */
export type PrintFormat = "TSVRaw" | "CSVWithNames" | "Parquet" | "JSONEachRow"

export interface PrintOptions {
  /** Cores at most. Each of them that sorts keeps blocks of all that it has put on the disk: large sorts take one. */
  threads?: number
}

/**
 * Statements wait for the turn of the scope that asks (`work-scope.ts`). When its client leaves, they are dropped, or
 * stopped where they only read, and reject.
 */
export interface TraceStore {
  /** Running and waiting work. */
  readonly queues: readonly FairQueue[]
  /** No other process writes to the store. */
  readonly isExclusive: boolean
  /** Runs a select; `{name:Type}` in `sql` takes its value from `parameters`. */
  rows<Row = TraceRow>(sql: string, parameters?: TraceParameters, limits?: QueryLimits): Promise<Row[]>
  /**
   * Prints the rows of a select of any size in flat memory; large sorts use the disk. Rejects when the
   * select fails; a result that is not read to its end must be destroyed.
   */
  print(sql: string, parameters: TraceParameters, format: PrintFormat, options?: PrintOptions): Promise<Readable>
  /**
   * Stores rows given as JSON Lines (ClickHouse's `JSONEachRow`). Resolves once they are stored and
   * every later read sees them. A nested object or array for a String column is stored as its text.
   */
  insert(table: string, rows: Buffer | string): Promise<void>
  /**
   * {@link insert} of rows given as CSV of these columns, which ClickHouse reads twice as fast. A text stands between
   * apostrophes, those in it doubled; `\\N` is null, nothing is the default of the column.
   */
  insertCsv(table: string, columns: readonly string[], rows: Buffer): Promise<void>
  /** Runs a statement that gives no rows. `isLong`: it goes through many rows, and may take half an hour. */
  command(sql: string, parameters?: TraceParameters, isLong?: boolean): Promise<void>
  /** Rejects when the store does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** A store in the data folder, whose files a backup of the running server copies. */
export interface FolderTraceStore extends TraceStore {
  /**
   * Makes a folder `target` that such a store opens, with the rows that are stored when `moment` calls `freeze`: then inserts
   * wait. The rest of the work, which may take longer, is done before and after `moment`.
   */
  snapshot(target: string, moment: (freeze: () => Promise<void>) => Promise<void>): Promise<void>
}

/** Why the store refused what no client is to blame for: `code` is ClickHouse's error number, null when it did not say. */
export class TraceStoreError extends Error {
  override readonly name = "TraceStoreError"
  readonly code: number | null

  constructor(message: string, code: number | null, cause: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** Time limit of a query that sets none. */
export const longestQuerySeconds = 60

/** A result is one text before it is rows: by this, of ids and digests too, it stays within V8's longest, 512 MiB. */
const largestResultBytes = 320 * 1024 ** 2

const defaultLimits = { seconds: longestQuerySeconds, bytes: 4 * 1024 ** 3, resultBytes: largestResultBytes }

/** Threads that format parts of a result, and one that collects them, take longer to start than a few rows to be written. */
const forFewRows =
  " max_threads = 1, compile_expressions = 0, compile_sort_description = 0, output_format_parallel_formatting = 0,"

/** Settings of {@link TraceStore.insertCsv}: values may hold line ends, so one core reads all; there is no header. */
export const csvSettings = {
  format_csv_allow_single_quotes: 1,
  input_format_csv_detect_header: 0,
  input_format_parallel_parsing: 0,
} as const

/** Without this one core reads everything below 160,000 rows and 240 MiB of a part. */
const shareFewRows = " merge_tree_min_rows_for_concurrent_read = 1, merge_tree_min_bytes_for_concurrent_read = 1,"

/**
 * Rows of one block. What `final` merges fills a block whatever its rows weigh: with ClickHouse's own 65,409 a count over
 * 120,000 calls of 1 KB took 250 MB, with these 85, in the same time.
 */
const blockRows = 4096

/**
 * With `final`, what is asked of the sorting key is checked before other columns are read: rows of one key are all taken or
 * none. Without, a call was read from a granule of every part that might hold it: one took 20.8 ms of CPU, and takes 11.6.
 */
const keysFirst = " optimize_move_to_prewhere_if_final = 1,"

/** To look for a better plan of a call by id takes a millisecond of seven. */
const noBetterPlan = " query_plan_enable_optimizations = 0,"

/** The `settings` clause of a select: its limits, and results in a form that JavaScript reads without loss. */
export function withLimits(sql: string, limits: QueryLimits = {}): string {
  const { seconds, bytes, resultBytes, threads, few, scattered, together, asWritten } = { ...defaultLimits, ...limits }
  const cores = threads === undefined ? "" : ` max_threads = ${threads},`
  const work = few === true ? forFewRows : cores
  const result = ` max_result_bytes = ${resultBytes}, result_overflow_mode = 'throw',`
  const sharing = scattered === true ? shareFewRows : ""
  const reading = together === true ? " optimize_move_to_prewhere = 0," : ""
  const planning = asWritten === true ? noBetterPlan : keysFirst
  return `${sql}\nsettings${work}${result}${sharing}${reading}${planning} max_block_size = ${blockRows}, max_execution_time = ${seconds}, max_memory_usage = ${bytes}, output_format_json_quote_64bit_integers = 1`
}

/** Longest run of a select that is printed. */
export const longestPrintSeconds = 1800

const mebibyte = 1024 ** 2

/** The `settings` clause of a select that is printed. */
export function withPrintSettings(sql: string, format: PrintFormat, threads: number): string {
  const settings = {
    // What is no number, or infinite, would else be null.
    ...(format === "JSONEachRow" ? { output_format_json_quote_denormals: 1 } : {}),
    max_execution_time: longestPrintSeconds,
    max_memory_usage: 2048 * mebibyte,
    // Less is not better: a merge keeps blocks of every part that was put on the disk.
    max_bytes_before_external_sort: 256 * mebibyte,
    max_bytes_ratio_before_external_sort: 0,
    // Memory holds some blocks of each thread, and a buffer of each column of each part; rows may be large.
    max_block_size: 1024,
    max_read_buffer_size: 64 * 1024,
    max_threads: threads,
    // An expression may have the name of the column that it shows.
    prefer_column_name_to_alias: 1,
    // A text is between quotes, also an empty one; null is nothing.
    format_csv_null_representation: "''",
    output_format_json_escape_forward_slashes: 0,
    // Bloom filters, page indexes and a higher level halve the speed; readers of whole files have no use for them.
    output_format_parquet_write_bloom_filter: 0,
    output_format_parquet_write_page_index: 0,
    output_format_compression_level: 1,
    output_format_parquet_row_group_size: 65_536,
    output_format_parquet_row_group_size_bytes: 8 * mebibyte,
  }
  const listed = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  return `${sql}\nsettings ${listed.join(", ")}`
}
