/**
 * The trace store seam: ClickHouse SQL, either in this process (chDB) or on a ClickHouse server.
 * What it owns: transport, parameters, one failure type. What it does not: any table or query.
 */
import type { Readable } from "node:stream"

/** A value for a `{name:Type}` placeholder. Times are given as ISO text or as numbers, as their type reads them. */
export type TraceParameter = string | number | bigint | boolean | null | readonly TraceParameter[]

export type TraceParameters = Readonly<Record<string, TraceParameter>>

export interface QueryLimits {
  /** Longest run, in seconds. */
  seconds?: number
  /** Most memory, in bytes. */
  bytes?: number
  /** Largest result, in bytes as ClickHouse holds it; by default any. What is held here is a few times as much. */
  resultBytes?: number
  /** Cores at most; by default all. */
  threads?: number
  /** The rows lie far apart: cores share them however few they are. */
  scattered?: boolean
}

/** One row of a result, by column name. 64-bit integers come as strings, times as `YYYY-MM-DD hh:mm:ss.ffffff`. */
export type TraceRow = Readonly<Record<string, unknown>>

/** What a select can be printed as: `TSVRaw` writes the texts of one column, each with a line end, as they are. */
export type PrintFormat = "TSVRaw" | "CSVWithNames" | "Parquet"

export interface PrintOptions {
  /** The one who asked has left: the select is stopped, and the print rejects. */
  signal?: AbortSignal
  /** Cores at most. Each of them that sorts keeps blocks of all that it has put on the disk: large sorts take one. */
  threads?: number
}

export interface TraceStore {
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
  /** Runs a statement that gives no rows. */
  command(sql: string, parameters?: TraceParameters): Promise<void>
  /** Rejects when the store does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Why the store refused: `code` is ClickHouse's error number, null when it did not say. */
export class TraceStoreError extends Error {
  override readonly name = "TraceStoreError"
  readonly code: number | null

  constructor(message: string, code: number | null, cause: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** Numbers of ClickHouse's `ErrorCodes.cpp` that stand for a limit of ours or of the operator. */
export const traceErrorCodes = { timeout: 159, tooSlow: 160, memory: 241, result: 396 } as const

/** Of a query without a limit of its own. */
export const longestQuerySeconds = 60

const defaultLimits = { seconds: longestQuerySeconds, bytes: 4 * 1024 ** 3 }

/** Else one core reads what is less than 160,000 rows and 240 MiB of a part. */
const shareFewRows = " merge_tree_min_rows_for_concurrent_read = 1, merge_tree_min_bytes_for_concurrent_read = 1,"

/** The `settings` clause of a select: its limits, and results in a form that JavaScript reads without loss. */
export function withLimits(sql: string, limits: QueryLimits = {}): string {
  const { seconds, bytes, resultBytes, threads, scattered } = { ...defaultLimits, ...limits }
  const cores = threads === undefined ? "" : ` max_threads = ${threads},`
  const result = resultBytes === undefined ? "" : ` max_result_bytes = ${resultBytes}, result_overflow_mode = 'throw',`
  const sharing = scattered === true ? shareFewRows : ""
  return `${sql}\nsettings${cores}${result}${sharing} max_execution_time = ${seconds}, max_memory_usage = ${bytes}, output_format_json_quote_64bit_integers = 1`
}

/** Longest run of a select that is printed. */
export const longestPrintSeconds = 1800

const mebibyte = 1024 ** 2

/** The `settings` clause of a select that is printed. */
export function withPrintSettings(sql: string, threads = 4): string {
  const settings = {
    max_execution_time: longestPrintSeconds,
    max_memory_usage: 2048 * mebibyte,
    // Less is not better: a merge keeps blocks of every part that was put on the disk.
    max_bytes_before_external_sort: 256 * mebibyte,
    max_bytes_ratio_before_external_sort: 0,
    // Memory holds some blocks of each thread; rows may be large.
    max_block_size: 4096,
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
    output_format_parquet_row_group_size_bytes: 32 * mebibyte,
  }
  const listed = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  return `${sql}\nsettings ${listed.join(", ")}`
}
