/** What no route sees: bytes that Node's parser gives up on, written to a socket as they are. */
import type { FastifyInstance } from "fastify"
import { once } from "node:events"
import { type AddressInfo, connect } from "node:net"
import { Readable } from "node:stream"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { registerRoutes } from "../register-routes.ts"
import { route } from "../route.ts"
import { createHttpServer } from "../server.ts"

const shared = { method: "POST", access: "public", summary: "", tag: "", schemas: {}, response: z.unknown() } as const
const whole = route({ ...shared, path: "/v1/messages", dialect: "anthropic", handle: async () => ({}) })
/** Begins its answer before the body has come. */
const early = route({
  ...shared,
  path: "/early",
  dialect: "reason",
  streamsBody: true,
  handle: async ({ request, reply }) => {
    const answer = new Readable({ read: () => undefined })
    answer.push("early")
    request.raw.on("error", () => answer.destroy())
    request.raw.resume()
    return reply.type("text/plain").send(answer)
  },
})

/** Answers nothing for as long as its client stays. */
const waiting = route({
  ...shared,
  path: "/waiting",
  dialect: "reason",
  handle: async ({ signal }) => {
    await once(signal, "abort")
    return {}
  },
})
let kept: WeakRef<object>
const remembered = route({
  ...shared,
  path: "/remembered",
  dialect: "reason",
  handle: async ({ request }) => {
    kept = new WeakRef(request)
    return {}
  },
})

let server: FastifyInstance
let port: number
beforeAll(async () => {
  server = await createHttpServer({ logLevel: "silent", prefix: "/team/heddle" })
  registerRoutes(server, [whole, early, waiting, remembered], async () => null)
  await server.listen({ host: "127.0.0.1", port: 0 })
  port = (server.server.address() as AddressInfo).port
})
afterAll(() => server.close())

/** All that comes back until the server ends the connection. `parts` after the first are sent once something has come. */
async function exchange(...parts: string[]): Promise<string> {
  const socket = connect(port, "127.0.0.1")
  const [first = "", ...others] = parts
  socket.write(first, "latin1")
  let text = ""
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1")
    const next = others.shift()
    if (next !== undefined) socket.write(next, "latin1")
  })
  socket.on("error", () => undefined)
  await once(socket, "close")
  return text
}

async function refusal(...parts: string[]) {
  const [head = "", body = ""] = (await exchange(...parts)).split("\r\n\r\n")
  expect(head.toLowerCase()).toContain("content-type: application/json")
  expect(head.toLowerCase()).toContain("connection: close")
  return { status: Number(head.split(" ")[1]), body: JSON.parse(body) as unknown }
}

const containing = (text: string): unknown => expect.stringContaining(text)

test("law 4: a line that is no request line is refused and shown", async () => {
  expect(await refusal("GARBAGE\r\n\r\n")).toEqual({
    status: 400,
    body: { reason: containing('Invalid method encountered, at "GARBAGE"'), error_type: "InvalidRequest" },
  })
})

test.each([
  ["/v1/preview/models", { detail: containing('at "bad header"') }],
  ["/team/heddle/v1/preview/models", { detail: containing('at "bad header"') }],
  ["/v1/models", { error: { message: containing('at "bad header"'), code: "bad_request" } }],
  ["/v1/messages", { type: "error", error: { type: "invalid_request_error", message: containing('at "bad header"') } }],
  ["/calls/query", { reason: containing('at "bad header"'), error_type: "InvalidRequest" }],
])("law 4: a broken header is told in the form that the clients of %s read", async (path, body) => {
  const told = await refusal(`GET ${path} HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n`)
  expect(told).toMatchObject({ status: 400, body })
})

test("law 4: headers that are too long are 431, with how long they may be", async () => {
  const told = await refusal(`GET /v1/models HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`)
  expect(told).toMatchObject({
    status: 431,
    body: { error: { message: containing("more than 16384 bytes"), code: "headers_too_large" } },
  })
})

test("law 4: a body that breaks off its encoding is told in the form of its route", async () => {
  const told = await refusal("POST /v1/messages HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
  expect(told).toMatchObject({ status: 400, body: { type: "error", error: { message: containing("chunk size") } } })
})

test("an answer that has begun is cut off where the rest of its request cannot be read", async () => {
  const head = "POST /early HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
  const text = await exchange(head, "zz\r\n")
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"])
})

test("an answer that has begun stays as it is when a later request on its connection cannot be read", async () => {
  const later = "POST /waiting HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n"
  const text = await exchange("POST /early HTTP/1.1\r\nHost: a\r\n\r\n", later)
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"])
})

test("a request that was answered before its body came is not answered again when that cannot be read", async () => {
  const text = await exchange("POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "zz\r\n")
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 404"])
})

test("law 4: the line that is shown of a body is the one at fault", async () => {
  const head = "POST /v1/messages HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
  const { body } = await refusal(`${head}2\r\n{}\r\nzz\r\n`)
  expect(body).toMatchObject({ error: { message: containing("body does not come as its headers say") } })
  expect(body).toMatchObject({ error: { message: containing('at "zz"') } })
})

test("law 8: an idle connection keeps nothing of the request that came last", async () => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  const socket = connect(port, "127.0.0.1")
  socket.write("POST /remembered HTTP/1.1\r\nHost: a\r\n\r\n")
  await once(socket, "data")
  await expect
    .poll(() => {
      collect()
      return kept.deref()
    })
    .toBeUndefined()
  socket.destroy()
})

test("RFC 9112 3.2: a request without the header Host is refused, one of HTTP/1.0 is not", async () => {
  expect(await refusal("POST /v1/messages HTTP/1.1\r\nConnection: close\r\n\r\n")).toMatchObject({
    status: 400,
    body: { type: "error", error: { message: containing("no header Host") } },
  })
  expect(await exchange("POST /v1/messages HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /)
})

test("RFC 9110 10.1.1: an Expect that is not known is ignored", async () => {
  const text = await exchange("POST /v1/messages HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: tea\r\n\r\n")
  expect(text).toMatch(/^HTTP\/1\.1 200 /)
})
