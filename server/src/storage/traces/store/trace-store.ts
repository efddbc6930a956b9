/**
 * The trace store seam: ClickHouse SQL, either in this process (chDB) or on a ClickHouse server.
 * What it owns: transport, parameters, one failure type. What it does not: any table or query.
 */

/** A value for a `{name:Type}` placeholder. Times are given as ISO text or as numbers, as their type reads them. */
export type TraceParameter = string | number | bigint | boolean | null | readonly TraceParameter[]

export type TraceParameters = Readonly<Record<string, TraceParameter>>

export interface QueryLimits {
  /** Longest run, in seconds. */
  seconds?: number
  /** Most memory, in bytes. */
  bytes?: number
  /** Cores at most; by default all. */
  threads?: number
}

/** One row of a result, by column name. 64-bit integers come as strings, times as `YYYY-MM-DD hh:mm:ss.ffffff`. */
export type TraceRow = Readonly<Record<string, unknown>>

export interface TraceStore {
  /** Runs a select; `{name:Type}` in `sql` takes its value from `parameters`. */
  rows<Row = TraceRow>(sql: string, parameters?: TraceParameters, limits?: QueryLimits): Promise<Row[]>
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
export const traceErrorCodes = { timeout: 159, tooSlow: 160, memory: 241 } as const

/** Of a query without a limit of its own. */
export const longestQuerySeconds = 60

const defaultLimits = { seconds: longestQuerySeconds, bytes: 4 * 1024 ** 3 }

/** The `settings` clause of a select: its limits, and results in a form that JavaScript reads without loss. */
export function withLimits(sql: string, limits: QueryLimits = {}): string {
  const { seconds, bytes, threads } = { ...defaultLimits, ...limits }
  const cores = threads === undefined ? "" : ` max_threads = ${threads},`
  return `${sql}\nsettings${cores} max_execution_time = ${seconds}, max_memory_usage = ${bytes}, output_format_json_quote_64bit_integers = 1`
}
