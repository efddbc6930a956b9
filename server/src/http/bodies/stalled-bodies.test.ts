/** Bodies that stop on their way, or hardly move, on a server with little patience. */
import type { FastifyInstance } from "fastify"
import { connect, type Socket } from "node:net"
import { setTimeout } from "node:timers/promises"
import { gzipSync } from "node:zlib"
import { afterEach, beforeEach, expect, test } from "vitest"
import { z } from "zod"
import { defaultLimits } from "../../limits.ts"
import { bodyStream } from "./body-stream.ts"
import { readUpload } from "./multipart-upload.ts"
import { registerRoutes } from "../register-routes.ts"
import { type ErrorDialect, route } from "../route.ts"
import { createHttpServer } from "../server.ts"

const soon = { timeout: 30_000 }
const mebibyte = 1024 * 1024
const shared = { method: "POST", access: "public", summary: "", tag: "", response: z.unknown() } as const

const parsed = (["detail", "openai", "reason", "graphql", "otlp"] as const).map((dialect: ErrorDialect) =>
  route({
    ...shared,
    path: `/parsed/${dialect}`,
    dialect,
    schemas: { body: z.unknown() },
    handle: async () => ({}),
  }),
)
const raw = route({
  ...shared,
  path: "/raw",
  dialect: "reason",
  rawBody: true,
  schemas: {},
  handle: async ({ body }) => ({ length: body.length }),
})
const streamed = route({
  ...shared,
  path: "/streamed",
  dialect: "detail",
  streamsBody: true,
  schemas: {},
  handle: async ({ request }) => {
    let length = 0
    for await (const part of bodyStream(request.raw, 64 * mebibyte)) length += part.length
    return { length }
  },
})
const form = route({
  ...shared,
  path: "/form",
  dialect: "openai",
  streamsBody: true,
  schemas: {},
  handle: async ({ request, held }) => {
    const keeper = {
      store: async (content: AsyncIterable<Buffer>) => lengthOf(content),
      discard: async () => undefined,
    }
    return { length: (await readUpload(request.raw, { maximumBytes: mebibyte, held }, keeper)).stored }
  },
})
async function lengthOf(content: AsyncIterable<Buffer>): Promise<number> {
  let length = 0
  for await (const part of content) length += part.length
  return length
}
/** Begins to read when the test says so. */
const late = route({
  ...shared,
  path: "/late",
  dialect: "detail",
  streamsBody: true,
  schemas: {},
  handle: async ({ request }) => {
    await gate.promise
    return { length: await lengthOf(bodyStream(request.raw, 64 * mebibyte)) }
  },
})
/** Never reads, and never answers. */
const deaf = route({
  ...shared,
  path: "/deaf",
  dialect: "detail",
  streamsBody: true,
  schemas: {},
  handle: () => new Promise(() => undefined),
})
/** Answers when the test says so. */
const slow = route({
  ...shared,
  path: "/slow",
  dialect: "openai",
  schemas: { body: z.unknown() },
  handle: async () => {
    await gate.promise
    return { slow: true }
  },
})

let gate: PromiseWithResolvers<void>
let server: FastifyInstance
let port: number
let sockets: Socket[]

async function start(limits: { body_idle_ms: number; body_bytes_per_second: number; connections?: number }) {
  server = await createHttpServer({
    logLevel: "silent",
    prefix: null,
    limits: { ...defaultLimits, body_memory_bytes: mebibyte, body_wait_ms: 200, ...limits },
  })
  registerRoutes(server, [...parsed, raw, streamed, form, late, deaf, slow], async () => null)
  port = Number(new URL(await server.listen({ host: "127.0.0.1", port: 0 })).port)
}
beforeEach(() => {
  gate = Promise.withResolvers()
  sockets = []
})
afterEach(async () => {
  gate.resolve()
  for (const socket of sockets) socket.destroy()
  await server.close()
})

interface Client {
  socket: Socket
  /** All that came, once the server has closed the connection. */
  closed: Promise<string>
  /** The text received so far. */
  text: () => string
}

function begin(path: string, headers: string[], body: string | Buffer = ""): Client {
  const socket = connect(port, "127.0.0.1")
  sockets.push(socket)
  socket.on("error", () => undefined)
  let text = ""
  socket.on("data", (data) => (text += data.toString()))
  socket.write([`POST ${path} HTTP/1.1`, "host: x", ...headers, "", ""].join("\r\n"))
  socket.write(body)
  return { socket, closed: new Promise((resolve) => socket.once("close", () => resolve(text))), text: () => text }
}

const impatient = { body_idle_ms: 200, body_bytes_per_second: 1024 }
const chunked = "transfer-encoding: chunked"
const why = "the request's body did not arrive: nothing of it came for 0.2 s; nothing was done"

test.each([
  ["/parsed/detail", ["content-length: 100"], '{"half', '{"detail":"'],
  ["/parsed/openai", [chunked], '6\r\n{"half\r\n', '"code":"request_timeout"'],
  ["/parsed/reason", ["content-length: 100"], "", '"error_type":"request_timeout"'],
  ["/parsed/graphql", ["content-length: 100"], "{", '"extensions":{"code":"REQUEST_TIMEOUT"}'],
  ["/parsed/otlp", ["content-length: 100"], "{", '"code":4'],
  ["/raw", ["content-length: 100", "content-encoding: gzip"], gzipSync("x".repeat(500)).subarray(0, 12), '"reason":"'],
  ["/streamed", ["content-length: 100"], "half", '{"detail":"'],
  ["/streamed", [chunked, "content-encoding: gzip"], "", '{"detail":"'],
  [
    "/form",
    ["content-length: 900", "content-type: multipart/form-data; boundary=b"],
    '--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\nhalf',
    '"code":"request_timeout"',
  ],
])(
  "law 8: a body that stops on its way to %s (%j) is 408, and its connection is closed",
  async (path, headers, body, told) => {
    await start(impatient)
    const text = await begin(path, headers, body).closed
    expect(text).toMatch(/^HTTP\/1.1 408 /)
    expect(text).toContain(why)
    expect(text).toContain(told)
    expect(text).toMatch(/\r\nconnection: close\r\n/i)
  },
)

test("law 8: a body that hardly moves is 408", async () => {
  await start(impatient)
  const { socket, closed } = begin("/raw", ["content-length: 100000"])
  const drip = setInterval(() => socket.write("."), 50)
  const text = await closed.finally(() => clearInterval(drip))
  expect(text).toMatch(/^HTTP\/1.1 408 /)
  expect(text).toContain("it comes slower than 1024 bytes a second")
})

test("law 8: stalled bodies give back the memory that they held, and others are served", async () => {
  await start(impatient)
  const bomb = gzipSync(Buffer.alloc(mebibyte)).subarray(0, 900)
  const attackers = Array.from({ length: 20 }, () =>
    begin("/raw", ["content-length: 100000", "content-encoding: gzip"], bomb),
  )
  for (const text of await Promise.all(attackers.map(({ closed }) => closed))) {
    expect(text).toMatch(/^HTTP\/1.1 (408|503) /)
  }
  const body = Buffer.alloc(mebibyte)
  const { status } = await fetch(`http://127.0.0.1:${port}/raw`, { method: "POST", body })
  expect(status).toBe(200)
})

test("a body that keeps its pace passes, however long it takes", async () => {
  await start({ body_idle_ms: 1000, body_bytes_per_second: 1024 })
  const parts = 40
  const { socket, text } = begin("/streamed", [`content-length: ${parts * 4096}`])
  for (let part = 0; part < parts; part++) {
    socket.write(Buffer.alloc(4096))
    await setTimeout(100)
  }
  await expect.poll(text, soon).toContain(`{"length":${parts * 4096}}`)
})

test("a body that waits for the server is left alone", async () => {
  await start(impatient)
  const client = begin("/late", [`content-length: ${4 * mebibyte}`], Buffer.alloc(4 * mebibyte))
  await setTimeout(1500)
  expect(client.text()).toBe("")
  gate.resolve()
  await expect.poll(client.text, soon).toContain(`{"length":${4 * mebibyte}}`)
})

test("inference-api 11.5: who has sent all waits for the answer as long as it takes, also with a body that came bit by bit", async () => {
  await start(impatient)
  const client = begin("/slow", ["content-length: 2"], "{")
  client.socket.write("}")
  await setTimeout(1500)
  expect(client.text()).toBe("")
  gate.resolve()
  await expect.poll(client.text, soon).toContain('{"slow":true}')
})

test("a request without a connection, as tests inject it, waits for its answer as long as it takes", async () => {
  await start(impatient)
  const answered = Promise.resolve(server.inject({ method: "POST", url: "/slow", payload: {} }))
  // Longer than it takes to refuse a body and then to close its connection.
  await setTimeout(1500)
  gate.resolve()
  expect((await answered).json()).toEqual({ slow: true })
})

test("a connection whose body nobody reads is closed when it stalls", async () => {
  await start(impatient)
  expect(await begin("/deaf", ["content-length: 100"]).closed).toBe("")
})

test("law 8: heads that do not end are bounded by Node, and connections by the limit", async () => {
  await start({ ...impatient, connections: 3 })
  expect(server.server.headersTimeout).toBe(60_000)
  const held = Array.from({ length: 3 }, () => begin("/slow", ["content-length: 2"], "{}"))
  await expect.poll(() => connections(), soon).toBe(3)
  expect(await begin("/slow", ["content-length: 2"], "{}").closed).toBe("")
  gate.resolve()
  for (const { text } of held) await expect.poll(text, soon).toContain('{"slow":true}')
  held[0]?.socket.destroy()
  await expect.poll(() => connections(), soon).toBe(2)
  const next = begin("/slow", ["content-length: 2"], "{}")
  await expect.poll(next.text, soon).toContain('{"slow":true}')
})

function connections(): Promise<number> {
  return new Promise((resolve) => server.server.getConnections((_error, count) => resolve(count)))
}
