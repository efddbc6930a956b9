/** Bodies that are read as streams, a part at a time, on a server with little memory for bodies. */
import type { FastifyInstance } from "fastify"
import { parquetWriteBuffer } from "hyparquet-writer"
import { mkdtemp, rm } from "node:fs/promises"
import { type ClientRequest, request as send } from "node:http"
import { tmpdir } from "node:os"
import path from "node:path"
import { Readable } from "node:stream"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { eachBatch } from "../../src/transfer/import/import-source.ts"
import { CsvEnds, LineEnds, wholeRows } from "../../src/transfer/import/whole-rows.ts"
import { BodyBudget, type HeldBody } from "../../src/http/bodies/body-budget.ts"
import { bodyStream } from "../../src/http/bodies/body-stream.ts"
import { readUpload } from "../../src/http/bodies/multipart-upload.ts"
import { registerRoutes } from "../../src/http/register-routes.ts"
import { route } from "../../src/http/route.ts"
import { createHttpServer } from "../../src/http/server.ts"
import { defaultLimits } from "../../src/limits.ts"
import { ThreadPool } from "../../src/threads/thread-pool.ts"
import { TrajectoryReader } from "../../src/training/trajectories/trajectory-reader.ts"

const mebibyte = 1024 ** 2
const trajectories = new TrajectoryReader()
let folder: string
let files = 0

async function counted(rows: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const _ of rows) count++
  return count
}
type Read = (body: AsyncIterable<Buffer>, held: HeldBody) => Promise<number>
const readers: Record<string, Read> = {
  jsonl: (body, held) => counted(wholeRows(body, new LineEnds(), { held, partBytes: mebibyte / 2 })),
  csv: (body, held) => counted(wholeRows(body, new CsvEnds(), { held, partBytes: mebibyte / 2 })),
  trajectories: async (body, held) =>
    (await trajectories.read(body, path.join(folder, String(files++)), "log", held)).issues.length,
}

const shared = {
  method: "POST",
  access: "public",
  dialect: "reason",
  summary: "",
  tag: "",
  streamsBody: true,
  schemas: {},
  response: z.unknown(),
} as const
let tally = openTally()
const threads = new ThreadPool(new URL("../../src/task-thread.ts", import.meta.url), defaultLimits)
const parquet = route({
  ...shared,
  path: "/parquet",
  handle: async ({ request }) => {
    const { held } = tally
    const temporaryPath = () => path.join(folder, String(files++))
    const reading = { threads, temporaryPath, mostColumns: 10, partBytes: mebibyte }
    await eachBatch({ ...reading, request, held, format: "parquet" }, async () => ({
      rows: 1,
      header: null,
      hasMore: false,
    }))
    return {}
  },
})
const upload = route({
  ...shared,
  path: "/upload",
  handle: async ({ request }) => {
    const { held } = tally
    await readUpload(request.raw, { maximumBytes: 10 * mebibyte, held }, { store: counted, discard: async () => {} })
    return {}
  },
})

let server: FastifyInstance
let url: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-streams-"))
  await trajectories.ping()
  server = await createHttpServer({
    logLevel: "silent",
    prefix: null,
    limits: { ...defaultLimits, body_memory_bytes: 2 * mebibyte, body_wait_ms: 1_500 },
  })
  const routes = Object.entries(readers).map(([name, read]) =>
    route({
      ...shared,
      path: `/${name}`,
      handle: async ({ request, held }) => ({ count: await read(bodyStream(request.raw, 1024 * mebibyte), held) }),
    }),
  )
  registerRoutes(server, [...routes, parquet, upload], async () => null)
  url = await server.listen({ host: "127.0.0.1", port: 0 })
})
afterAll(async () => {
  await server.close()
  await threads.close()
  await trajectories.close()
  await rm(folder, { recursive: true, force: true })
})

function begin(name: string, headers = {}): { request: ClientRequest; status: Promise<number> } {
  const request = send(`${url}/${name}`, { method: "POST", headers, agent: false })
  request.on("error", () => undefined)
  const status = new Promise<number>((resolve) =>
    request.on("response", (answer) => resolve(answer.resume().statusCode ?? 0)),
  )
  return { request, status }
}

describe.each([
  ["jsonl", '{"a":"', '"}\n'],
  ["csv", 'a\n"', '"\n'],
  ["trajectories", '{"trajectory_groups":[{"trajectories":[{"a":"', '"}]}]}'],
])("law 8: %s", (name, start, end) => {
  test("clients whose rows do not end are refused where there is no room for all of them", async () => {
    const clients = Array.from({ length: 6 }, () => begin(name))
    for (const { request } of clients) request.write(start + "x".repeat(1.5 * mebibyte))
    let refused = 0
    for (const { status } of clients) void status.then((is) => (refused += is === 503 ? 1 : 0))
    // Some bodies fit the budget, and at least four do not.
    await expect.poll(() => refused, { timeout: 20_000 }).toBeGreaterThanOrEqual(4)
    for (const { request } of clients) request.end(end)
    const statuses = await Promise.all(clients.map(({ status }) => status))
    expect(statuses.filter((status) => status === 200).length).toBe(6 - refused)
    expect(refused).toBeLessThan(6)
  })

  test("a body of many rows takes as much as one of them", async () => {
    const rows =
      name === "trajectories"
        ? `{"trajectory_groups":[{"trajectories":[${Array(8)
            .fill(`{"a":"${"x".repeat(mebibyte)}"}`)
            .join(",")}]}]}`
        : `${start}${"x".repeat(mebibyte)}${end}`.repeat(8)
    const clients = [begin(name), begin(name)]
    for (const { request } of clients) request.end(rows)
    expect(await Promise.all(clients.map(({ status }) => status))).toEqual([200, 200])
  })
})

/** A count of a body's memory; `most` is the largest that it was. */
function openTally(): { held: HeldBody; most: number } {
  const opened = { most: 0, held: {} as HeldBody }
  opened.held = {
    take: () => null,
    atLeast: (bytes) => {
      opened.most = Math.max(opened.most, bytes)
      return null
    },
    release: () => undefined,
  }
  return opened
}

test("law 8: a Parquet file counts what its largest group of rows takes, which may be many times its own bytes", async () => {
  const data = Array.from({ length: 1_500 }, (_, row) => `${row}`.padEnd(1_000))
  const file = Buffer.from(parquetWriteBuffer({ columnData: [{ name: "a", data, type: "STRING" }] }))
  expect(file.length).toBeLessThan(mebibyte / 4)
  tally = openTally()
  const { request, status } = begin("parquet")
  request.end(file)
  expect(await status).toBe(200)
  expect(tally.most).toBeGreaterThan(1_000_000)
})

test("law 8: the fields of a form count, and its file does not", async () => {
  const part = (name: string, content: string) =>
    `--cut\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`
  const file = `--cut\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n`
  const fields = Array.from({ length: 19 }, (_, n) => part(`f${n}`, "x".repeat(64_000))).join("")
  tally = openTally()
  const { request, status } = begin("upload", { "content-type": "multipart/form-data; boundary=cut" })
  request.end(`${fields}${file}${"x".repeat(5 * mebibyte)}\r\n--cut--\r\n`)
  expect(await status).toBe(200)
  expect(tally.most).toBeGreaterThan(19 * 64_000)
  expect(tally.most).toBeLessThan(19 * 64_000 + 1_000)
})

describe("law 8: fields beside the trajectories", () => {
  test("a field of a group counts until the group ends", async () => {
    const body = async function* () {
      yield Buffer.from(`{"trajectory_groups":[{"metadata":{"text":"${"x".repeat(8 * mebibyte)}"},"trajectories":[`)
      for (let n = 0; n < 8; n++) yield Buffer.from(`${n > 0 ? "," : ""}{"a":"${"x".repeat(mebibyte)}"}`)
      yield Buffer.from("]}]}")
    }
    const group = openTally()
    await trajectories.read(body(), path.join(folder, "group"), "log", group.held)
    expect(group.most).toBeGreaterThan(9 * mebibyte)
  })

  test("fields that nobody reads are not kept", async () => {
    const unknown = Array.from({ length: 30 }, (_, n) => `"u${n}":"${"x".repeat(mebibyte)}"`).join(",")
    const body = Buffer.from(`{"split":"val","trajectory_groups":[{${unknown},"trajectories":[]}],${unknown}}`)
    const read = await trajectories.read(
      Readable.from([body]),
      path.join(folder, "unknown"),
      "log",
      new BodyBudget(defaultLimits).open(),
    )
    expect(read).toMatchObject({ fields: { split: "val" }, issues: [], groups: 1 })
    expect(Object.keys(read.fields)).toEqual(["split"])
  })

  test.each([
    [
      "a configuration",
      `{"experimental_config":{"a":"${"x".repeat(mebibyte)}"}}`,
      '"experimental_config" has 1048584 bytes',
    ],
    [
      "metrics of trajectories",
      `{"trajectory_groups":[{"trajectories":[{"metrics":{${Array.from({ length: 10_001 }, (_, n) => `"m${n}":1`).join(",")}}}]}]}`,
      "more than 10000 names",
    ],
  ])("%s without measure: 413", async (_, text, message) => {
    const held = new BodyBudget(defaultLimits).open()
    const read = trajectories.read(Readable.from([Buffer.from(text)]), path.join(folder, "large"), "log", held)
    await expect(read).rejects.toMatchObject({ code: "payload_too_large", message: expect.stringContaining(message) })
  })
})
