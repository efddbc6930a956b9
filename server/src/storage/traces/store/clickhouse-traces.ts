/** The trace store on a ClickHouse server, over HTTP. */
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from "@clickhouse/client"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { isStoreAway } from "../../../errors.ts"
import { Reachability, type ReachabilityLog } from "../../reachability.ts"
import { clickHouseFailure } from "./clickhouse-failure.ts"
import {
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
  readonly #client: ClickHouseClient

  readonly #reachability: Reachability

  private constructor(client: ClickHouseClient, log: ReachabilityLog | null) {
    this.#client = client
    this.#reachability = new Reachability("the trace store (ClickHouse)", log)
  }

  /**
   * `url`: `http(s)://[user:password@]host:port[/database]`; a database that is not there is made.
   * `log` null: nobody hears when the server goes away.
   * @throws {Error} with a sentence for the operator when the server does not answer, or refuses.
   */
  static async open(url: string, log: ReachabilityLog | null): Promise<ClickHouseTraces> {
    if (!isAddress(url)) {
      throw new Error(
        "HEDDLE_CLICKHOUSE_URL is not a URL such as http://user:password@host:8123/heddle; " +
          "in a password, / is written %2F, @ %40, # %23 and % %25",
      )
    }
    try {
      await reach(url)
      const traces = new ClickHouseTraces(connect(url), log)
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

  async rows<Row>(sql: string, parameters: TraceParameters = {}, limits?: QueryLimits): Promise<Row[]> {
    const query = withLimits(sql, limits)
    return this.#ask(async () => {
      const result = await this.#client.query({ query, query_params: { ...parameters }, format: "JSONEachRow" })
      return result.json<Row>()
    })
  }

  async print(
    sql: string,
    parameters: TraceParameters,
    format: PrintFormat,
    { signal, threads }: PrintOptions = {},
  ): Promise<Readable> {
    // The client does not look at a signal that was given before.
    signal?.throwIfAborted()
    const query = `${withPrintSettings(sql, threads)}\nformat ${format}`
    const stop = signal === undefined ? {} : { abort_signal: signal, clickhouse_settings: stopsWithClient }
    return this.#ask(async () => (await this.#client.exec({ query, query_params: { ...parameters }, ...stop })).stream)
  }

  async insert(table: string, rows: Buffer | string): Promise<void> {
    if (rows.length === 0) return
    const values = Readable.from([typeof rows === "string" ? Buffer.from(rows) : rows], { objectMode: false })
    await this.#ask(async () => {
      const { stream } = await this.#client.exec({ query: `insert into ${table} format JSONEachRow`, values })
      // A connection that breaks in the middle of the answer must fail the insert.
      await buffer(stream)
    })
  }

  async command(sql: string, parameters: TraceParameters = {}): Promise<void> {
    await this.#ask(() => this.#client.command({ query: sql, query_params: { ...parameters } }))
  }

  async ping(): Promise<void> {
    await this.rows("select 1 as one")
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  /** @throws {HeddleError} `traces_unavailable`, `store_overloaded`. @throws {TraceStoreError} */
  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work()
      this.#reachability.answered()
      return result
    } catch (error) {
      const failure = clickHouseFailure(error)
      if (isStoreAway(failure)) this.#reachability.failed(error)
      throw failure
    }
  }
}

/** What the server or the network said; what is no ClickHouse may answer with a whole page. */
function reasonOf(error: unknown): string {
  const { message, code } = (isStoreAway(error) ? error.cause : error) as { message: string; code?: string }
  const said = (message || (code ?? String(error))).replace(/\s+/g, " ").trim()
  return said.length > longestReason ? `${said.slice(0, longestReason)}…` : said.replace(/\.$/, "")
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

/** The server's own limit on a query should speak first. */
const longestRequestMs = (longestQuerySeconds + 30) * 1000
/** At the start somebody waits: what says nothing for so long is not there. */
const longestStartMs = 10_000

/** Else the server goes on with a query whose connection is closed. */
const stopsWithClient = { cancel_http_readonly_queries_on_client_close: 1 } as const

function connect(url: string, requestMs = longestRequestMs): ClickHouseClient {
  return createClient({
    url,
    max_open_connections: 16,
    request_timeout: requestMs,
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
  const client = connect(server.href, longestStartMs)
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
