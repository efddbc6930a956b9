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
    if (!URL.canParse(url))
      throw new Error("HEDDLE_CLICKHOUSE_URL is not a URL such as http://user:password@host:8123/heddle")
    try {
      await makeDatabase(url)
      const traces = new ClickHouseTraces(connect(url), log)
      await traces.ping()
      return traces
    } catch (cause) {
      throw new Error(
        `the ClickHouse server at ${new URL(url).host} (HEDDLE_CLICKHOUSE_URL) cannot be used: ${reasonOf(cause)}`,
        {
          cause,
        },
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

/** What the server or the network said. */
function reasonOf(error: unknown): string {
  const { message, code } = (isStoreAway(error) ? error.cause : error) as { message: string; code?: string }
  return message || (code ?? String(error))
}

/** Else the server goes on with a query whose connection is closed. */
const stopsWithClient = { cancel_http_readonly_queries_on_client_close: 1 } as const

function connect(url: string): ClickHouseClient {
  return createClient({
    url,
    max_open_connections: 16,
    // The server's own limit on a query should speak first.
    request_timeout: (longestQuerySeconds + 30) * 1000,
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

async function makeDatabase(url: string): Promise<void> {
  const server = new URL(url)
  const name = decodeURIComponent(server.pathname.slice(1))
  if (name === "") return
  server.pathname = "/"
  const client = connect(server.href)
  try {
    await client.command({ query: "create database if not exists {name:Identifier}", query_params: { name } })
  } catch (error) {
    // A user who may not make databases has one already, or hears of it at the first table.
    if ((error as { type?: string }).type !== "ACCESS_DENIED") throw clickHouseFailure(error)
  } finally {
    await client.close()
  }
}
