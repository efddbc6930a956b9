/** The trace store in this process: chDB, several connections to one data folder. */
import type { Session } from "chdb"
import { mkdir } from "node:fs/promises"
import type { Readable } from "node:stream"
import { PrintSpool, printStatement } from "./print-spool.ts"
import { inlineParameters } from "./sql-literal.ts"
import {
  type PrintFormat,
  type PrintOptions,
  type QueryLimits,
  type TraceParameters,
  type TraceStore,
  TraceStoreError,
  withLimits,
  withPrintSettings,
} from "./trace-store.ts"

/** A connection runs one query at a time, so a long read holds up only its own. */
const readers = 4
/** Of inserts that run at once either may count as the newer; one that was awaited is older than the next. */
const writers = 4
/** An insert of one call takes an eighth less than with several threads; of large ones two run at once. */
const writerSettings = "set max_threads = 1, max_insert_threads = 1, input_format_parallel_parsing = 0"
const connectionArguments = [
  // Else 128 threads remove merged parts by the thousand, and inserts wait a second for the file system.
  "--max_parts_cleaning_thread_pool_size=1",
  // Statements carry lists of ids: ClickHouse's own limit is 256 KiB.
  "--max_query_size=67108864",
  "--max_ast_elements=2000000",
  "--max_expanded_ast_elements=2000000",
]

export class EmbeddedTraces implements TraceStore {
  readonly #writers: Lane[]
  readonly #readers: Lane[]
  /** Of prints, which may take minutes: one at a time. */
  readonly #printer: Lane
  readonly #spool: PrintSpool

  private constructor(open: () => Session, spool: PrintSpool) {
    this.#spool = spool
    this.#printer = new Lane(open)
    this.#writers = Array.from({ length: writers }, () => new Lane(() => writing(open())))
    this.#readers = Array.from({ length: readers }, () => new Lane(open))
  }

  static async open(folder: string): Promise<EmbeddedTraces> {
    await mkdir(folder, { recursive: true })
    const { Session } = await loadChdb()
    const spool = await PrintSpool.open(`${folder}-spool`)
    return new EmbeddedTraces(() => new Session(folder, { connectionArgs: connectionArguments }), spool)
  }

  async rows<Row>(sql: string, parameters: TraceParameters = {}, limits?: QueryLimits): Promise<Row[]> {
    const text = withLimits(inlineParameters(sql, parameters), limits)
    const result = await freest(this.#readers).run((session) => session.queryAsync(text, { format: "JSONEachRow" }))
    return parseLines<Row>(result.text())
  }

  /** chDB streams texts but not Parquet, and holds its connection as long as a client reads: hence the file. */
  async print(
    sql: string,
    parameters: TraceParameters,
    format: PrintFormat,
    { signal, threads }: PrintOptions = {},
  ): Promise<Readable> {
    const select = withPrintSettings(inlineParameters(sql, parameters), threads)
    return this.#spool.fill(format, async (file) => {
      const statement = printStatement(select, format, file)
      const stop = () => void this.#stopPrint(file).catch(() => undefined)
      await this.#printer.run(async (session) => {
        signal?.throwIfAborted()
        signal?.addEventListener("abort", stop)
        await session.queryAsync(statement).finally(() => signal?.removeEventListener("abort", stop))
      })
    })
  }

  /** A statement is known by the file that it writes; this one names it too. */
  async #stopPrint(file: string): Promise<void> {
    await this.command("kill query where startsWith(query, 'select') and position(query, {file:String}) > 0 async", {
      file,
    })
  }

  async insert(table: string, rows: Buffer | string): Promise<void> {
    if (rows.length === 0) return
    const values = typeof rows === "string" ? Buffer.from(rows) : rows
    await freest(this.#writers).run((session) => session.insert({ table, values, format: "JSONEachRow" }))
  }

  async command(sql: string, parameters: TraceParameters = {}): Promise<void> {
    await freest(this.#writers).run((session) => session.queryAsync(inlineParameters(sql, parameters)))
  }

  async ping(): Promise<void> {
    await this.rows("select 1 as one")
  }

  async close(): Promise<void> {
    await Promise.all([...this.#writers, ...this.#readers, this.#printer].map((lane) => lane.close()))
  }
}

function writing(session: Session): Session {
  session.query(writerSettings)
  return session
}

/** One is enough as far as it was seen. */
const mostDiscards = 5

function freest(lanes: readonly Lane[]): Lane {
  return lanes.reduce((best, lane) => (lane.waiting < best.waiting ? lane : best))
}

/** One connection and the queries that wait for it. */
class Lane {
  readonly #open: () => Session
  #session: Session
  #last: Promise<unknown> = Promise.resolve()
  waiting = 0

  constructor(open: () => Session) {
    this.#open = open
    this.#session = open()
  }

  run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.waiting += 1
    const result = this.#last.then(() => work(this.#session)).catch(rethrow)
    this.#last = result.catch(() => this.#discardRest()).finally(() => (this.waiting -= 1))
    return result
  }

  /**
   * chDB keeps what a query printed before it failed and puts it ahead of the next answer of the
   * connection: rows of one tenant in an answer to another. The connection serves nobody before it is gone.
   */
  async #discardRest(): Promise<void> {
    for (let tries = 0; tries < mostDiscards; tries++) {
      const answer = await this.#session.queryAsync("select 1 as clean", { format: "JSONEachRow" }).catch(() => null)
      if (answer?.text().trimEnd() === '{"clean":1}') return
    }
    this.#session.close()
    this.#session = this.#open()
  }

  async close(): Promise<void> {
    await this.#last
    this.#session.close()
  }
}

function rethrow(error: unknown): never {
  const { message, clickhouseCode } = error as { message: string; clickhouseCode?: number }
  throw new TraceStoreError(message, clickhouseCode ?? null, error)
}

function parseLines<Row>(text: string): Row[] {
  if (text === "") return []
  return JSON.parse(`[${text.trimEnd().replaceAll("\n", ",")}]`) as Row[]
}

/** Loaded only when a store is opened: the native library is large and exists for few platforms. */
async function loadChdb() {
  try {
    return await import("chdb")
  } catch (cause) {
    throw new Error(
      `the embedded trace store (chDB) cannot be loaded on ${process.platform}-${process.arch}. ` +
        "It runs on Linux with glibc and on macOS, each on x64 and arm64; on Windows use WSL 2, " +
        "or set HEDDLE_CLICKHOUSE_URL to a ClickHouse server",
      { cause },
    )
  }
}
