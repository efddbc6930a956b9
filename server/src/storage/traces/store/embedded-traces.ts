/** The trace store in this process: chDB, several connections to one data folder. */
import type { Session } from "chdb"
import { mkdir } from "node:fs/promises"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import type { Limits } from "../../../limits.ts"
import type { FairQueue } from "../../../work/fair-queue.ts"
import { traceQueues } from "../../store-queues.ts"
import { Lane, Lanes, StatementStopper } from "./embedded-lanes.ts"
import { requireRoom, requireWritten } from "./embedded-room.ts"
import { FileSpool, insertRows, printStatement, type RowInsert } from "./file-spool.ts"
import { copyDefinitions, dropFrozen, frozenName, moveFrozen } from "./frozen-parts.ts"
import { InsertGate } from "./insert-gate.ts"
import { MergePause } from "./merge-pause.ts"
import { inlineParameters } from "./sql-literal.ts"
import {
  csvSettings,
  type PrintFormat,
  type PrintOptions,
  type QueryLimits,
  type TraceParameters,
  type FolderTraceStore,
  withLimits,
  withPrintSettings,
} from "./trace-store.ts"
import { dropUnwrittenMutations } from "./unwritten-mutations.ts"

/** Inserts that run at the same time have no order; one that was awaited is stored before the next begins. */
const writers = 4
/** With one thread each, an insert of one call takes an eighth less time, and two large inserts run at the same time. */
const writerSettings = "set max_threads = 1, max_insert_threads = 1, input_format_parallel_parsing = 0"
/** One core, because this process serves everything else. A print of 90,000 calls takes 70 MB; with four threads, 190 MB. */
const printThreads = 1
const connectionArguments = [
  `--config-file=${fileURLToPath(new URL("embedded-config.xml", import.meta.url))}`,
  // By default 128 threads remove merged parts by the thousand, and inserts wait a second for the file system.
  "--max_parts_cleaning_thread_pool_size=1",
  // Statements carry lists of ids: ClickHouse's own limit is 256 KiB.
  "--max_query_size=67108864",
  "--max_ast_elements=2000000",
  "--max_expanded_ast_elements=2000000",
]

export class EmbeddedTraces implements FolderTraceStore {
  /** ClickHouse locks its folder. */
  readonly isExclusive = true
  readonly queues: readonly FairQueue[]
  readonly #folder: string
  readonly #open: () => Session
  readonly #gate = new InsertGate()
  readonly #writers: Lanes
  readonly #readers: Lanes
  /** Separate from the readers, because an export may take minutes. */
  readonly #printers: Lanes
  readonly #stopper: StatementStopper
  readonly #spool: FileSpool
  readonly #mergePause: MergePause

  private constructor(folder: string, open: () => Session, spool: FileSpool, limits: Limits) {
    this.#folder = folder
    this.#open = open
    this.#spool = spool
    const { trace_queries_at_once: readers, trace_exports_at_once: printers } = limits
    const { queries, inserts, exports } = traceQueues(limits, { queries: readers, inserts: writers, exports: printers })
    this.queues = [queries, inserts, exports]
    const lanes = (count: number, connect: () => Session) => Array.from({ length: count }, () => new Lane(connect))
    this.#readers = new Lanes(queries, lanes(readers, open))
    this.#writers = new Lanes(
      inserts,
      lanes(writers, () => writing(open())),
    )
    this.#printers = new Lanes(exports, lanes(printers, open))
    this.#stopper = new StatementStopper(new Lane(open))
    this.#mergePause = new MergePause(folder, (statement) => this.#runAlone(statement))
  }

  static async open(folder: string, limits: Limits): Promise<EmbeddedTraces> {
    await mkdir(folder, { recursive: true })
    const { Session } = await loadChdb()
    await dropFrozen(folder)
    await dropUnwrittenMutations(folder)
    const spool = await FileSpool.open(`${folder}-spool`)
    const connect = () => new Session(folder, { connectionArgs: connectionArguments })
    try {
      return new EmbeddedTraces(folder, connect, spool, limits)
    } catch (cause) {
      throw unopened(folder, cause as Error)
    }
  }

  async rows<Row>(sql: string, parameters: TraceParameters = {}, limits: QueryLimits = {}): Promise<Row[]> {
    const result = await this.#readers.run(limits.kind ?? "heavy", (session) => {
      // The text is made only when it is the query's turn: a client that leaves before then costs nothing more.
      const text = withLimits(inlineParameters(sql, parameters), limits)
      return this.#stopper.whileAwaited((mark) => session.queryAsync(mark + text, { format: "JSONEachRow" }))
    })
    return parseLines<Row>(result.text())
  }

  /** Prints into a file: chDB cannot stream Parquet, and a stream would hold a connection for as long as its client reads. */
  async print(
    sql: string,
    parameters: TraceParameters,
    format: PrintFormat,
    { threads = printThreads }: PrintOptions = {},
  ): Promise<Readable> {
    const select = withPrintSettings(inlineParameters(sql, parameters), format, threads)
    return this.#spool.fill(format, async (file) => {
      const statement = printStatement(select, format, file)
      await this.#printers.run("heavy", (session) =>
        this.#stopper.whileAwaited((mark) => session.queryAsync(mark + statement)),
      )
    })
  }

  insert(table: string, rows: Buffer | string): Promise<void> {
    return this.#insert({ table, format: "JSONEachRow" }, typeof rows === "string" ? Buffer.from(rows) : rows)
  }

  insertCsv(table: string, columns: readonly string[], rows: Buffer): Promise<void> {
    return this.#insert({ table, columns: [...columns], format: "CSV", settings: { ...csvSettings } }, rows)
  }

  /** An insert that has begun is stored even if its client leaves. */
  async #insert(into: RowInsert, rows: Buffer): Promise<void> {
    if (rows.length === 0) return
    await this.#writers.run("heavy", (session) => this.#gate.pass(() => insertRows(session, this.#spool, into, rows)))
    await requireWritten(this.#folder)
  }

  async command(sql: string, parameters: TraceParameters = {}): Promise<void> {
    await this.#writers.run("heavy", async (session) => {
      const statement = inlineParameters(sql, parameters)
      await requireRoom(this.#folder, statement)
      const run = () => session.queryAsync(statement)
      // A mutation may take minutes, and a backup need not wait for it: it has the statement, and does the rest when opened.
      return isMutation.test(sql) ? run() : this.#gate.pass(run)
    })
  }

  /** The freezing has a connection of its own: those of the writers wait at the gate with what they are to insert. */
  async snapshot(target: string, moment: (freeze: () => Promise<void>) => Promise<void>): Promise<void> {
    const lane = new Lane(this.#open)
    try {
      await dropFrozen(this.#folder)
      await copyDefinitions(this.#folder, target)
      const found = await this.rows<{ name: string }>(
        "select name from system.tables where database = currentDatabase() and engine like '%MergeTree'",
      )
      const freeze = async () => {
        for (const { name } of found) {
          await lane.run((session) => session.queryAsync(`alter table ${name} freeze with name '${frozenName}'`))
        }
      }
      await moment(() => this.#gate.closed(freeze))
      await moveFrozen(this.#folder, target)
    } finally {
      await lane.close()
      await dropFrozen(this.#folder)
    }
  }

  /** Over a connection of its own: those of the writers may all wait for what the statement changes. */
  async #runAlone(statement: string): Promise<void> {
    const lane = new Lane(this.#open)
    try {
      await lane.run((session) => session.queryAsync(statement))
    } finally {
      await lane.close()
    }
  }

  async ping(): Promise<void> {
    await this.rows("select 1 as one", {}, { kind: "lookup" })
  }

  async close(): Promise<void> {
    await this.#mergePause.close()
    await Promise.all([this.#writers, this.#readers, this.#printers].map((lanes) => lanes.close()))
    await this.#stopper.close()
    await this.#spool.close()
  }
}

/** Statements that write parts anew in the background. */
const isMutation = /^\s*(alter|delete)\b/

function writing(session: Session): Session {
  session.query(writerSettings)
  return session
}

function parseLines<Row>(text: string): Row[] {
  if (text === "") return []
  return JSON.parse(`[${text.trimEnd().replaceAll("\n", ",")}]`) as Row[]
}

/** Freed pages go back to the system after one second. After five, the library's default, steady use kept 150 MB. */
const allocatorSettings = "dirty_decay_ms:1000"

/** Loaded only when a store is opened: the native library is large and exists for few platforms. */
async function loadChdb() {
  // Its allocator reads this once, while it is loaded.
  process.env["JE_MALLOC_CONF"] ??= allocatorSettings
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

/** A sentence for the operator. */
export function unopened(folder: string, cause: Error): Error {
  const message = `the trace store in ${folder} cannot be opened: ${cause.message}. Put a backup of the data folder in its place`
  return new Error(message, { cause })
}
