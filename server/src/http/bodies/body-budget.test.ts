/** Bodies of many requests at once, on a server that has little memory for them. */
import type { FastifyInstance } from "fastify"
import { type ClientRequest, request as send } from "node:http"
import { text } from "node:stream/consumers"
import { Readable } from "node:stream"
import { setTimeout } from "node:timers/promises"
import { gzipSync } from "node:zlib"
import { afterEach, beforeEach, expect, test } from "vitest"
import { z } from "zod"
import { registerRoutes } from "../register-routes.ts"
import { type ErrorDialect, route } from "../route.ts"
import { createHttpServer } from "../server.ts"
import { defaultLimits } from "../../limits.ts"
import { contentCodings } from "../../../test/support/content-codings.ts"

const mebibyte = 1024 * 1024
const soon = { timeout: 15_000 }

const shared = { method: "POST", access: "public", summary: "", tag: "", response: z.unknown() } as const
/** Answers when the gate opens. */
const raw = route({
  ...shared,
  path: "/raw",
  dialect: "reason",
  rawBody: true,
  schemas: {},
  handle: async ({ body }) => {
    entered.push(body.subarray(0, 1).toString())
    await gate.promise
    return { length: body.length }
  },
})
const parsed = (["detail", "openai", "reason", "graphql", "otlp"] as const).map((dialect: ErrorDialect) =>
  route({
    ...shared,
    path: `/parsed/${dialect}`,
    dialect,
    schemas: { body: z.unknown() },
    handle: async () => {
      entered.push(dialect)
      await gate.promise
      return {}
    },
  }),
)
const checked = route({
  ...shared,
  path: "/checked",
  dialect: "detail",
  schemas: { body: z.object({ name: z.string() }) },
  handle: async () => ({}),
})
const broken = route({
  ...shared,
  path: "/broken",
  dialect: "reason",
  rawBody: true,
  schemas: {},
  handle: async () => {
    throw new TypeError("of undefined")
  },
})
const streamed = route({
  ...shared,
  path: "/streamed",
  dialect: "openai",
  rawBody: true,
  schemas: {},
  handle: async ({ body, reply }) => {
    entered.push("streamed")
    reply.send(Readable.from(untilOpen(body)))
  },
})
async function* untilOpen(body: Buffer) {
  yield "begun "
  await gate.promise
  yield String(body.length)
}

let entered: string[]
let gate: PromiseWithResolvers<void>
let server: FastifyInstance
let url: string
let open: ClientRequest[]

async function start(bytes: number, patienceMs: number) {
  server = await createHttpServer({
    logLevel: "silent",
    prefix: null,
    limits: { ...defaultLimits, body_memory_bytes: bytes, body_wait_ms: patienceMs },
  })
  registerRoutes(server, [raw, ...parsed, checked, broken, streamed], async () => null)
  url = await server.listen({ host: "127.0.0.1", port: 0 })
}
beforeEach(() => {
  entered = []
  open = []
  gate = Promise.withResolvers()
})
afterEach(async () => {
  gate.resolve()
  for (const request of open) request.destroy()
  await server.close()
})

async function post(path: string, body: Uint8Array | string, headers: Record<string, string> = {}) {
  const answer = await fetch(url + path, { method: "POST", body: Buffer.from(body), headers })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

/** A body that comes in pieces, when the test says so. */
function begin(path: string, headers: Record<string, string | number> = {}) {
  const request = send(url + path, { method: "POST", headers, agent: false })
  request.on("error", () => undefined)
  open.push(request)
  const status = new Promise<number>((resolve) =>
    request.on("response", (answer) => {
      text(answer).then(
        () => resolve(answer.statusCode ?? 0),
        () => undefined,
      )
    }),
  )
  return { request, status }
}

const mebibytes = (count: number, letter = "x") => Buffer.alloc(count * mebibyte, letter)

/** Sends requests one after the other while the gate is closed: `room` of them get to their handlers, and the next does not. */
async function expectRoom(room: number, request: () => Promise<{ status: number }>): Promise<void> {
  gate = Promise.withResolvers()
  entered = []
  const answers = []
  for (let count = 1; count <= room; count++) {
    answers.push(request())
    await expect.poll(() => entered.length, soon).toBe(count)
  }
  answers.push(request())
  await setTimeout(300)
  expect(entered).toHaveLength(room)
  gate.resolve()
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200)
  gate = Promise.withResolvers()
}

const aMebibyte = () => post("/raw", mebibytes(1))

test("law 8: all bodies at once take no more than the budget and one body; the rest waits and is served", async () => {
  await start(3 * mebibyte, 20_000)
  await expectRoom(4, aMebibyte)
})

test("law 8: of many that come at once all are served, and never more than there is room for", async () => {
  await start(3 * mebibyte, 20_000)
  const answers = Array.from({ length: 30 }, () => post("/raw", mebibytes(1)))
  await expect.poll(() => entered.length, soon).toBeGreaterThan(0)
  for (let answered = 0; answered < 30;) {
    await setTimeout(20)
    expect(entered.length - answered).toBeLessThanOrEqual(4)
    answered = entered.length
    gate.resolve()
    gate = Promise.withResolvers()
  }
  for (const { status, body } of await Promise.all(answers)) expect([status, body]).toEqual([200, { length: mebibyte }])
})

test.each(contentCodings)("law 8: a %s body counts what it decodes to", async (coding, encode) => {
  await start(3 * mebibyte, 20_000)
  const bomb = encode(mebibytes(1))
  expect(bomb.length).toBeLessThan(2000)
  await expectRoom(4, () => post("/raw", bomb, { "content-encoding": coding }))
})

test("law 8: of parsed JSON, values count what they take, and texts only themselves", async () => {
  await start(3 * mebibyte, 20_000)
  await expectRoom(2, () => post("/parsed/openai", `[${"{},".repeat(20_000)}0]`))
  entered = []
  const answers = Array.from({ length: 8 }, () => post("/parsed/openai", JSON.stringify("{},".repeat(20_000))))
  await expect.poll(() => entered.length, soon).toBe(8)
  gate.resolve()
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200)
})

test("law 8: who comes later does not overtake who waits, however little it needs", async () => {
  await start(mebibyte, 20_000)
  const answers = [post("/raw", Buffer.alloc(mebibyte / 2, "a"))]
  await expect.poll(() => entered.join(""), soon).toBe("a")
  answers.push(post("/raw", mebibytes(1, "b")))
  await expect.poll(() => entered.join(""), soon).toBe("ab")
  const waiting = () => server.bodyBudget.snapshot().waiting
  answers.push(post("/raw", mebibytes(1, "c")))
  await expect.poll(waiting, soon).toBe(1)
  answers.push(post("/raw", "d"))
  await expect.poll(waiting, soon).toBe(2)
  expect(entered.join("")).toBe("ab")
  gate.resolve()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

test("calls 1.1: a body at its limit passes on a server with less memory for bodies, also while others are held", async () => {
  await start(mebibyte, 20_000)
  const small = post("/raw", "a")
  await expect.poll(() => entered, soon).toEqual(["a"])
  const large = post("/raw", mebibytes(32, "b"))
  await expect.poll(() => entered, soon).toEqual(["a", "b"])
  gate.resolve()
  expect((await large).body).toEqual({ length: 32 * mebibyte })
  expect((await small).status).toBe(200)
})

test.each([
  ["detail", { detail: expect.stringContaining("1 MiB") as unknown }],
  [
    "openai",
    {
      error: {
        message: expect.stringContaining("1 MiB") as unknown,
        type: "server_error",
        param: null,
        code: "server_overloaded",
      },
    },
  ],
  ["reason", { reason: expect.stringContaining("1 MiB") as unknown, error_type: "server_overloaded" }],
  [
    "graphql",
    { errors: [{ message: expect.stringContaining("1 MiB") as unknown, extensions: { code: "SERVER_OVERLOADED" } }] },
  ],
  ["otlp", expect.objectContaining({ code: 14, message: expect.stringContaining("1 MiB") as unknown }) as unknown],
])("law 8: who has waited too long is refused with 503, in the dialect of the area: %s", async (dialect, refusal) => {
  await start(mebibyte, 200)
  const held = [post("/raw", mebibytes(1)), post("/raw", mebibytes(1))]
  await expect.poll(() => entered, soon).toEqual(["x", "x"])
  const { status, headers, body } = await post(`/parsed/${dialect}`, JSON.stringify({ text: "x".repeat(100_000) }))
  expect([status, body]).toEqual([503, refusal])
  expect([headers.get("retry-after"), headers.get("retry-after-ms")]).toEqual(["5", "5000"])
  gate.resolve()
  expect((await Promise.all(held)).map((each) => each.status)).toEqual([200, 200])
  expect(entered).toEqual(["x", "x"])
  expect((await post(`/parsed/${dialect}`, "{}")).status).toBe(200)
})

test("law 8: bodies that each hold a part of what there is do not wait for each other", async () => {
  await start(3 * mebibyte, 20_000)
  gate.resolve()
  const halves = Array.from({ length: 6 }, () => begin("/raw", { "content-length": 2 * mebibyte }))
  for (const { request } of halves) request.write(mebibytes(1))
  await setTimeout(200)
  for (const { request } of halves) request.end(mebibytes(1))
  expect(await Promise.all(halves.map(({ status }) => status))).toEqual(Array(6).fill(200))
})

test("law 8: clients that announce much and send little keep nobody waiting", async () => {
  await start(3 * mebibyte, 200)
  for (let client = 0; client < 20; client++) begin("/raw", { "content-length": 30 * mebibyte }).request.write("slow")
  await setTimeout(200)
  gate.resolve()
  for (const { status } of await Promise.all([aMebibyte(), aMebibyte()])) expect(status).toBe(200)
})

test("an answer that is streamed keeps its body until it ends", async () => {
  await start(mebibyte, 200)
  const first = begin("/streamed")
  const second = begin("/streamed")
  first.request.end(mebibytes(1))
  second.request.end(mebibytes(1))
  await expect.poll(() => entered, soon).toEqual(["streamed", "streamed"])
  await setTimeout(100)
  expect((await post("/raw", mebibytes(1))).status).toBe(503)
  second.request.destroy()
  gate.resolve()
  expect(await first.status).toBe(200)
  for (const { status } of await Promise.all([aMebibyte(), aMebibyte()])) expect(status).toBe(200)
})

test.each<[string, () => Promise<unknown>]>([
  ["is not JSON", () => post("/checked", `{"${"x".repeat(mebibyte)}`)],
  ["is not valid", () => post("/checked", JSON.stringify({ text: "x".repeat(mebibyte) }))],
  ["is too large", () => post("/raw", mebibytes(33))],
  ["is broken gzip", () => post("/raw", gzipSync(mebibytes(1)).subarray(0, 500), { "content-encoding": "gzip" })],
  ["has an unknown coding", () => post("/raw", mebibytes(1), { "content-encoding": "lzma" })],
  ["makes its handler fail", () => post("/broken", mebibytes(1))],
])("law 8: a body that %s is given up", async (_, refused) => {
  await start(3 * mebibyte, 20_000)
  for (let count = 0; count < 2; count++) expect(await refused()).toMatchObject({ body: expect.anything() as unknown })
  await expectRoom(4, aMebibyte)
})

test("law 8: the bodies of clients that leave are given up: half sent, while they wait, while they are answered", async () => {
  await start(3 * mebibyte, 20_000)
  for (let client = 0; client < 3; client++) {
    begin("/raw", { "content-length": 2 * mebibyte }).request.write(mebibytes(1))
    begin("/raw", { "content-encoding": "gzip" }).request.write(gzipSync(mebibytes(1)).subarray(0, 1000))
    begin("/raw").request.end(mebibytes(1))
    await setTimeout(50)
  }
  await expect.poll(() => entered.length, { timeout: 10_000 }).toBeGreaterThan(0)
  for (const request of open) request.destroy()
  await setTimeout(100)
  // A body counts until its handler is done with it.
  gate.resolve()
  await setTimeout(50)
  gate = Promise.withResolvers()
  await expectRoom(4, aMebibyte)
})

/** With a route for users, whose names are their keys. */
async function startForUsers(bytes: number, bytesPerUser: number, patienceMs: number) {
  server = await createHttpServer({
    logLevel: "silent",
    prefix: null,
    limits: {
      ...defaultLimits,
      body_memory_bytes: bytes,
      body_memory_bytes_per_user: bytesPerUser,
      body_wait_ms: patienceMs,
    },
  })
  const entity = { id: "1", name: "acme", role: "member" } as const
  const owned = route({ ...raw, path: "/owned", access: { right: "read", of: "server" } })
  registerRoutes(server, [owned], async (name) => ({
    userId: name,
    username: name,
    apiKeyId: name,
    isAdmin: false,
    defaultEntity: entity,
    entities: [entity],
    projectRoles: new Map(),
    scope: "all",
    requestsPerMinute: null,
  }))
  url = await server.listen({ host: "127.0.0.1", port: 0 })
}

const as = (user: string) => ({ authorization: `Bearer ${user}` })

test("security 5.2: the bodies of one user that stall leave the rest of the memory to others", async () => {
  await startForUsers(8 * mebibyte, 2 * mebibyte, 20_000)
  const stalled = []
  for (let count = 1; count <= 20; count++) {
    const body = begin("/owned", { ...as("ann"), "content-length": 2 * mebibyte })
    body.request.write(mebibytes(1, "a"))
    stalled.push(body)
    // Two within the share and one beyond it; the others wait. One after the other: who comes first has room first.
    const held = { bytes: Math.min(count, 3) * mebibyte, bodies: count, waiting: Math.max(0, count - 3) }
    await expect.poll(() => server.bodyBudget.snapshot(), soon).toEqual(held)
  }
  gate.resolve()
  const answers = await Promise.all([1, 2, 3, 4].map(() => post("/owned", mebibytes(1, "b"), as("bob"))))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(server.bodyBudget.snapshot()).toEqual({ bytes: 3 * mebibyte, bodies: 20, waiting: 17 })
  for (const { request } of stalled) request.end(mebibytes(1, "a"))
  expect(await Promise.all(stalled.map(({ status }) => status))).toEqual(Array.from({ length: 20 }, () => 200))
  await expect.poll(() => server.bodyBudget.snapshot(), soon).toEqual({ bytes: 0, bodies: 0, waiting: 0 })
})

test("law 8: who has waited for too long because of other requests of the same user is told so", async () => {
  await startForUsers(8 * mebibyte, 2 * mebibyte, 300)
  const held = [1, 2, 3].map(() => post("/owned", mebibytes(1, "a"), as("ann")))
  await expect.poll(() => entered.length, soon).toBe(3)
  const refused = await post("/owned", mebibytes(1), as("ann"))
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"])
  expect(JSON.stringify(refused.body)).toContain(
    "the bodies of your other requests take all of the 2 MiB that this server has for them",
  )
  gate.resolve()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200])
})

test("law 8: a user's bodies that wait for each other at both limits all come to their end", async () => {
  await startForUsers(3 * mebibyte, 2 * mebibyte, 20_000)
  gate.resolve()
  const half = mebibyte / 2
  const bodies = ["ann", "bob", "ann", "bob", "ann", "bob"].map((user) =>
    begin("/owned", { ...as(user), "content-length": 4 * half }),
  )
  for (let part = 0; part < 4; part++) {
    for (const { request } of bodies) request.write(Buffer.alloc(half, "x"))
    await setTimeout(50)
  }
  for (const { request } of bodies) request.end()
  expect(await Promise.all(bodies.map(({ status }) => status))).toEqual([200, 200, 200, 200, 200, 200])
})
