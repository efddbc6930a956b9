/** The trace store on a ClickHouse server, over HTTP. */
import { type ClickHouseClient, createClient } from "@clickhouse/client"
import { Readable } from "node:stream"
import { type QueryLimits, type TraceParameters, type TraceStore, TraceStoreError, withLimits } from "./trace-store.ts"

export class ClickHouseTraces implements TraceStore {
  readonly #client: ClickHouseClient

  /** `url`: `http(s)://[user:password@]host:port[/database]`. */
  constructor(url: string) {
    this.#client = createClient({ url, max_open_connections: 16 })
  }

  async rows<Row>(sql: string, parameters: TraceParameters = {}, limits?: QueryLimits): Promise<Row[]> {
    const query = withLimits(sql, limits)
    const answer = this.#client.query({ query, query_params: { ...parameters }, format: "JSONEachRow" })
    return answer.then((result) => result.json<Row>()).catch(rethrow)
  }

  async insert(table: string, rows: Buffer | string): Promise<void> {
    if (rows.length === 0) return
    const values = Readable.from([typeof rows === "string" ? Buffer.from(rows) : rows], { objectMode: false })
    await this.#client
      .exec({ query: `insert into ${table} format JSONEachRow`, values })
      .then(({ stream }) => stream.resume())
      .catch(rethrow)
  }

  async command(sql: string, parameters: TraceParameters = {}): Promise<void> {
    await this.#client.command({ query: sql, query_params: { ...parameters } }).catch(rethrow)
  }

  async ping(): Promise<void> {
    await this.rows("select 1 as one")
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}

function rethrow(error: unknown): never {
  const { message, code } = error as { message: string; code?: string }
  throw new TraceStoreError(message, code === undefined || Number.isNaN(Number(code)) ? null : Number(code), error)
}
