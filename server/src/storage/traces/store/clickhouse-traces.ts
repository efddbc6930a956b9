/** The trace store on a ClickHouse server, over HTTP. */
import { type BaseQueryParams, type ClickHouseClient, ClickHouseLogLevel, createClient } from "@clickhouse/client"
import type { Agent } from "node:http"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import type { Log } from "../../../log.ts"
import { isStoreUnavailable } from "../../../errors.ts"
import type { Limits } from "../../../limits.ts"
import type { FairQueue } from "../../../work/fair-queue.ts"
import { currentScope } from "../../../work/work-scope.ts"
import { Reachability } from "../../reachability.ts"
import { type TraceQueues, traceQueues } from "../../store-queues.ts"
import { clickHouseFailure } from "./clickhouse-failure.ts"
import { connectionPool } from "./connection-pool.ts"
import {
  csvSettings,
  longestPrintSeconds,
  longestQuerySeconds,
  type PrintFormat,
  type PrintOptions,
  type QueryLimits,
  type TraceParameters,
  type TraceStore,
  withLimits,
  withPrintSettings,
} from "./trace-store.ts"

export class ClickHouseTraces implements TraceStore {
  readonly queues: readonly FairQueue[]
  readonly isExclusive = false
  readonly #client: ClickHouseClient
  /** For statements that may take longer than a query. Of a machine that vanished TCP tells after a quarter of an hour or so. */
  readonly #patient: ClickHouseClient
  readonly #queues: TraceQueues
  readonly #reachability: Reachability

  private constructor(url: string, pool: Agent, log: Log | null, limits: Limits) {
    this.#client = connect(url, pool, longestQuerySeconds)
    this.#patient = connect(url, pool, longestPrintSeconds)
    const { clickhouse_queries_at_once: atOnce, clickhouse_exports_at_once: exports } = limits
    this.#queues = traceQueues(limits, { queries: atOnce, inserts: atOnce, exports })
    this.queues = Object.values(this.#queues)
    this.#reachability = new Reachability("the trace store (ClickHouse)", log)
  }

  /**
   * `url`: `http(s)://[user:password@]host:port[/database]`; a database that is not there is made.
   * `log` null: nobody hears when the server goes away.
   * @throws {Error} with a sentence for the operator when the server does not answer, or refuses.
   */
  static async open(url: string, log: Log | null, limits: Limits): Promise<ClickHouseTraces> {
    if (!isAddress(url)) {
      throw new Error(
        "HEDDLE_CLICKHOUSE_URL is not a URL such as http://user:password@host:8123/heddle; " +
          "in a password, / is written %2F, @ %40, # %23 and % %25",
      )
    }
    try {
      await reach(url)
      const connections = 2 * limits.clickhouse_queries_at_once + limits.clickhouse_exports_at_once
      const traces = new ClickHouseTraces(url, connectionPool(url, connections), log, limits)
      await traces.ping()
      return traces
    } catch (cause) {
      throw new Error(
        `the ClickHouse server at ${new URL(url).host} (HEDDLE_CLICKHOUSE_URL) cannot be used: ${reasonOf(cause)}. ` +
          "See that the setting is right, that the server runs and that it has this user",
        { cause },
      )
    }
  }

  async rows<Row>(sql: string, parameters: TraceParameters = {}, limits: QueryLimits = {}): Promise<Row[]> {
    const query = withLimits(sql, limits)
    return this.#queues.queries.run(limits.kind ?? "heavy", () =>
      this.#ask(async () => {
        const options = { query, query_params: { ...parameters }, format: "JSONEachRow", ...stopsWithClient() } as const
        const client = (limits.seconds ?? 0) > longestQuerySeconds ? this.#patient : this.#client
        const result = await client.query(options)
        // The client heeds the signal until the answer begins.
        const close = () => result.close()
        options.abort_signal?.addEventListener("abort", close)
        try {
          return await result.json<Row>()
        } finally {
          options.abort_signal?.removeEventListener("abort", close)
        }
      }),
    )
  }

  /** The server goes on with the select as its result is read: it has its place until then. */
  async print(
    sql: string,
    parameters: TraceParameters,
    format: PrintFormat,
    { threads = 4 }: PrintOptions = {},
  ): Promise<Readable> {
    const query = `${withPrintSettings(sql, format, threads)}\nformat ${format}`
    const leave = await this.#queues.exports.enter("heavy")
    try {
      const options = { query, query_params: { ...parameters }, ...stopsWithClient() }
      const { stream } = await this.#ask(() => this.#patient.exec(options))
      stream.once("close", () => leave(!stream.readableEnded))
      return stream
    } catch (error) {
      leave(currentScope()?.signal?.aborted)
      throw error
    }
  }

  insert(table: string, rows: Buffer | string): Promise<void> {
    const values = typeof rows === "string" ? Buffer.from(rows) : rows
    return this.#insert(`insert into ${table} format JSONEachRow`, values)
  }

  insertCsv(table: string, columns: readonly string[], rows: Buffer): Promise<void> {
    const settings = Object.entries(csvSettings).map(([name, value]) => `${name} = ${value}`)
    return this.#insert(`insert into ${table} (${columns.join(", ")}) settings ${settings.join(", ")} format CSV`, rows)
  }

  async #insert(query: string, rows: Buffer): Promise<void> {
    if (rows.length === 0) return
    await this.#queues.inserts.run("heavy", () =>
      this.#ask(async () => {
        const values = Readable.from([rows], { objectMode: false })
        const { stream } = await this.#client.exec({ query, values })
        // A connection that breaks in the middle of the answer must fail the insert.
        await buffer(stream)
      }),
    )
  }

  /** A mutation of many rows takes as long as it takes. One that is given up goes on, and is then done again beside itself. */
  async command(sql: string, parameters: TraceParameters = {}, isLong = false): Promise<void> {
    const client = isLong ? this.#patient : this.#client
    await this.#queues.inserts.run("heavy", () =>
      this.#ask(() => client.command({ query: sql, query_params: { ...parameters } })),
    )
  }

  async ping(): Promise<void> {
    await this.rows("select 1 as one", {}, { kind: "lookup" })
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.close(), this.#patient.close()])
  }

  /** @throws {HeddleError} `traces_unavailable`, `store_overloaded`. @throws {TraceStoreError} */
  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work()
      this.#reachability.answered()
      return result
    } catch (error) {
      // Why a statement failed that was stopped is of no interest.
      currentScope()?.signal?.throwIfAborted()
      const failure = clickHouseFailure(error)
      if (isStoreUnavailable(failure)) this.#reachability.failed(error)
      throw failure
    }
  }
}

/** The message of the server or the network. A server that is no ClickHouse may answer with a whole page. */
function reasonOf(error: unknown): string {
  const { message, code } = (isStoreUnavailable(error) ? error.cause : error) as { message: string; code?: string }
  const reason = (message || (code ?? String(error))).replace(/\s+/g, " ").trim()
  return reason.length > longestReason ? `${reason.slice(0, longestReason)}…` : reason.replace(/\.$/, "")
}

const longestReason = 200

function isAddress(url: string): boolean {
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return false
  try {
    decodeURIComponent(parsed.username + parsed.password + parsed.pathname)
    return true
  } catch {
    return false
  }
}

/** At the start somebody waits: what says nothing for so long is not there. */
const longestStartSeconds = 10
/** How much longer than a statement may run its answer is waited for: the server's own limit should speak first. */
const graceSeconds = 30

/**
 * Closes the connection when the client leaves, which makes the server stop the query. It does so only for queries that
 * may not write: `readonly` 2 is that, with settings allowed.
 */
function stopsWithClient(): Pick<BaseQueryParams, "abort_signal" | "clickhouse_settings"> {
  const signal = currentScope()?.signal
  if (signal == null) return {}
  const clickhouse_settings = { cancel_http_readonly_queries_on_client_close: 1, readonly: "2" } as const
  return { abort_signal: signal, clickhouse_settings }
}

/** `seconds`: the longest that a statement may run. The server says nothing until it has the beginning of a result. */
function connect(url: string, pool: Agent, seconds: number, grace = graceSeconds): ClickHouseClient {
  return createClient({
    url,
    http_agent: pool,
    // Idle connections are left to the pool. The client's own timer for them outlives a request that was aborted before
    // it had its connection, and then closes the connection under somebody else's query (@clickhouse/client 1.23.1).
    keep_alive: { idle_socket_ttl: 0 },
    request_timeout: (seconds + grace) * 1000,
    // Lists of ids do not fit into an address.
    use_multipart_params_auto: true,
    clickhouse_settings: {
      // Rows that are the same as before mean something: a name set to what it once was (law 2 is kept by their key).
      insert_deduplicate: 0,
      // Law 1 also where other replicas answer.
      select_sequential_consistency: "1",
    },
    // A failure is told by what it makes fail.
    log: { level: ClickHouseLogLevel.OFF },
  })
}

/** Makes the database that the URL names, if it is not there. */
async function reach(url: string): Promise<void> {
  const server = new URL(url)
  const name = decodeURIComponent(server.pathname.slice(1))
  server.pathname = "/"
  const client = connect(server.href, connectionPool(server.href, 1), longestStartSeconds, 0)
  const query = name === "" ? "select 1" : "create database if not exists {name:Identifier}"
  try {
    await client.command({ query, query_params: name === "" ? {} : { name } })
  } catch (error) {
    // A user who may not make databases has one already, or hears of it at the first table.
    if ((error as { type?: string }).type !== "ACCESS_DENIED") throw clickHouseFailure(error)
  } finally {
    await client.close()
  }
}
