/**
 * Serves ClickHouse's HTTP protocol from chDB in a process of its own, so that the server's tests run over HTTP where
 * there is no ClickHouse package. It is for tests only: every caller may do everything, results are held in memory, and
 * the data is deleted with the process.
 *
 * Usage: node server/test/support/clickhouse-http.ts
 * The first line on standard output is the address; SIGTERM ends it.
 */
import { Busboy } from "@fastify/busboy"
import { Session } from "chdb"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { gunzipSync } from "node:zlib"
import { FileSpool, insertRows, type RowInsert } from "../../src/storage/traces/store/file-spool.ts"

/** Number of queries of one database that may run at a time. */
const lanesPerDatabase = 3

/** Query parameters that are no settings, or would bind the connection, which serves other queries later. */
const transport = new Set("query query_id database default_format session_id role user password readonly".split(" "))
const httpSetting = /^(enable_http_compression|wait_end_of_query|send_progress_in_http_headers|http_.*)$/

/** Matches inserts whose rows are in the body. */
const insertForm =
  /^\s*insert\s+into\s+(?<table>\S+)(?:\s+\((?<columns>[^)]+)\))?(?:\s+settings\s+(?<settings>.+?))?\s+format\s+(?<format>JSONEachRow|CSV)\s*$/i

interface Query {
  database: string
  sql: string
  /** Rows of an insert. */
  data: Buffer
  parameters: [name: string, value: string][]
  settings: [name: string, value: string][]
}

const without = { database: "default", data: Buffer.alloc(0), parameters: [], settings: [] }

/** True when the query ends with its client; as in ClickHouse, this needs the setting `readonly`, too. */
function stopsWithClient({ settings }: Query, request: IncomingMessage): boolean {
  const address = new URL(request.url ?? "/", "http://harness").searchParams
  return settings.some(([name]) => name === "cancel_http_readonly_queries_on_client_close") && address.has("readonly")
}

class Databases {
  readonly #folder: string
  readonly #lanes = new Map<string, Lane[]>()

  constructor(folder: string) {
    this.#folder = folder
  }

  run(query: Query): Promise<Uint8Array | string> {
    const lanes = this.#lanes.get(query.database) ?? []
    this.#lanes.set(query.database, lanes)
    const idle = lanes.find((lane) => lane.waiting === 0)
    if (idle !== undefined) return idle.run(query)
    if (lanes.length < lanesPerDatabase) {
      lanes.push(new Lane(new Session(this.#folder, { connectionArgs: ["--max_query_size=67108864"] })))
    }
    return lanes.reduce((best, lane) => (lane.waiting < best.waiting ? lane : best)).run(query)
  }

  /** Ends a running query. */
  async stop({ sql }: Query): Promise<void> {
    await this.run({ ...without, sql: `kill query where startsWith(query, ${literal(sql)}) async` })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lanes.values()].flat().map((lane) => lane.close()))
  }
}

/** A connection. It runs one query at a time and keeps its database, settings and parameters. */
class Lane {
  readonly #session: Session
  #last: Promise<unknown> = Promise.resolve()
  waiting = 0

  constructor(session: Session) {
    this.#session = session
  }

  run(query: Query): Promise<Uint8Array | string> {
    this.waiting += 1
    const result = this.#last.then(() => this.#answer(query))
    this.#last = result.catch(() => undefined).finally(() => (this.waiting -= 1))
    return result
  }

  async close(): Promise<void> {
    await this.#last
    this.#session.close()
  }

  async #answer({ database, sql, data, parameters, settings }: Query): Promise<Uint8Array | string> {
    await this.#session.queryAsync(`use \`${database}\``)
    const assignments = [
      ...settings.map(([name, value]) => `${name} = ${literal(value)}`),
      ...parameters.map(([name, value]) => `${name} = ${literal(value)}`),
    ]
    if (assignments.length > 0) await this.#session.queryAsync(`set ${assignments.join(", ")}`)
    const insert = insertForm.exec(sql)?.groups
    if (insert === undefined) return (await this.#session.queryAsync(sql)).bytes()
    const { table = "", columns, settings: ofInsert = "" } = insert
    const into: RowInsert = {
      table,
      format: insert["format"]?.toUpperCase() === "CSV" ? "CSV" : "JSONEachRow",
      settings: Object.fromEntries(ofInsert.split(", ").flatMap((one) => (one === "" ? [] : [one.split(" = ")]))),
      ...(columns === undefined ? {} : { columns: columns.split(", ") }),
    }
    await insertRows(this.#session, spool, into, data)
    return ""
  }
}

/** The value as a literal for `set`; it is already in the escaped form of the protocol. */
function literal(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\0", "\\0")}'`
}

async function readQuery(request: IncomingMessage): Promise<Query> {
  const address = new URL(request.url ?? "/", "http://harness").searchParams
  const fields = [...address]
  const isForm = request.headers["content-type"]?.startsWith("multipart/form-data") === true
  let body = await buffer(request)
  if (request.headers["content-encoding"] === "gzip") body = gunzipSync(body)
  if (isForm) fields.push(...(await formFields(request, body)))
  const query = fields.find(([name]) => name === "query")?.[1]
  return {
    database: address.get("database") ?? "default",
    sql: query ?? body.toString("utf8"),
    data: body,
    parameters: fields.filter(([name]) => name.startsWith("param_")),
    settings: fields.filter(([name]) => !name.startsWith("param_") && !transport.has(name) && !httpSetting.test(name)),
  }
}

async function formFields(request: IncomingMessage, body: Buffer): Promise<[string, string][]> {
  const contentType = request.headers["content-type"] ?? ""
  const form = new Busboy({
    headers: { "content-type": contentType },
    limits: { fieldSize: Number.MAX_SAFE_INTEGER, fields: 100_000 },
  })
  const fields: [string, string][] = []
  form.on("field", (name: string, value: string) => fields.push([name, value]))
  await new Promise((resolve, reject) => {
    form.on("finish", resolve).on("error", reject)
    Readable.from([body]).pipe(form)
  })
  return fields
}

async function answer(databases: Databases, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === "/ping") {
    response.end("Ok.\n")
    return
  }
  try {
    const query = await readQuery(request)
    response.once("close", () => {
      const hasLeft = !response.writableFinished
      if (hasLeft && stopsWithClient(query, request)) void databases.stop(query)
    })
    response.end(await databases.run(query))
  } catch (error) {
    const { message, clickhouseCode = 1002 } = error as { message: string; clickhouseCode?: number }
    response.statusCode = 500
    response.setHeader("X-ClickHouse-Exception-Code", clickhouseCode)
    response.end(message)
  }
}

const folder = await mkdtemp(path.join(tmpdir(), "heddle-clickhouse-"))
const spool = await FileSpool.open(path.join(folder, "spool"))
const databases = new Databases(folder)
const server = createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
  void answer(databases, request, response)
})
// Longer than any test: otherwise a busy machine closes an idle connection while its next request is on the way.
server.keepAliveTimeout = 600_000
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once("SIGTERM", () => void stop())

async function stop(): Promise<void> {
  server.close()
  server.closeAllConnections()
  await databases.close()
  await rm(folder, { recursive: true, force: true })
  process.exit(0)
}
