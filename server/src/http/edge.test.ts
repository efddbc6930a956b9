/** The edge with two small routes: how bodies come in. */
import type { FastifyInstance } from "fastify"
import { Readable } from "node:stream"
import { afterAll, beforeAll, expect, test } from "vitest"
import { constants, zstdCompressSync } from "node:zlib"
import { z } from "zod"
import { registerRoutes } from "./register-routes.ts"
import { route } from "./route.ts"
import { createHttpServer } from "./server.ts"
import { contentCodings } from "../../test/support/content-codings.ts"

const mebibyte = 1024 * 1024
const shared = { method: "POST", access: "public", dialect: "reason", summary: "", tag: "" } as const
const parsed = route({
  ...shared,
  path: "/parsed",
  schemas: { body: z.unknown() },
  response: z.unknown(),
  handle: async ({ body }) => ({ parsed: body ?? null }),
})
/** With limits of its own. */
const longPrompts = route({
  ...shared,
  path: "/long",
  maximumBodyBytes: 5 * mebibyte,
  maximumBodyValues: 200_000,
  schemas: { body: z.unknown() },
  response: z.unknown(),
  handle: async () => ({}),
})
const raw = route({
  ...shared,
  path: "/raw",
  rawBody: true,
  schemas: {},
  response: z.unknown(),
  handle: async ({ body }) => ({ length: body.length, start: body.subarray(0, 40).toString("latin1") }),
})

const lines = route({
  ...shared,
  path: "/lines/:count",
  schemas: { params: z.object({ count: z.coerce.number() }) },
  response: z.unknown(),
  handle: async ({ params, reply }) => {
    const text = Array.from({ length: params.count / 1000 }, (_, chunk) => thousandLines(chunk * 1000))
    return reply.header("content-type", "application/jsonl").send(Readable.from(text))
  },
})
function thousandLines(from: number): string {
  return Array.from({ length: 1000 }, (_, index) => `{"index":${from + index}}\n`).join("")
}
const events = route({
  ...shared,
  path: "/events",
  schemas: {},
  response: z.unknown(),
  handle: async ({ reply }) =>
    reply.header("content-type", "text/event-stream").send(Readable.from(["data: 1\n\n".repeat(1000)])),
})

const broken = route({
  ...shared,
  path: "/broken",
  schemas: {},
  response: z.unknown(),
  handle: async () => {
    throw new TypeError("of undefined (reading 'secret')")
  },
})

let server: FastifyInstance
let url: string
beforeAll(async () => {
  server = await createHttpServer({ logLevel: "silent", prefix: "/team/heddle" })
  registerRoutes(server, [parsed, longPrompts, raw, lines, events, broken], async () => null)
  url = await server.listen({ host: "127.0.0.1", port: 0 })
})
afterAll(() => server.close())

async function post(path: string, body: Uint8Array | string, headers: Record<string, string> = {}) {
  const answer = await fetch(url + path, { method: "POST", body: Buffer.from(body), headers })
  return { status: answer.status, body: await answer.json() }
}

test("calls 1.5: a handler that asks for them gets the bytes as they came", async () => {
  expect(await post("/raw", '{"a": 1.0, "b": 9007199254740993}')).toEqual({
    status: 200,
    body: { length: 33, start: '{"a": 1.0, "b": 9007199254740993}' },
  })
  expect(await post("/raw", "{not json")).toMatchObject({ status: 200, body: { length: 9 } })
  expect(await post("/raw", "")).toMatchObject({ status: 200, body: { length: 0 } })
})

test("calls, seen on the wire: a body without Content-Type is read as JSON", async () => {
  expect(await post("/parsed", '{"a":[1]}')).toEqual({ status: 200, body: { parsed: { a: [1] } } })
})

test.each(contentCodings)("calls 1.1: a %s body is decoded", async (name, encode) => {
  expect(await post("/parsed", encode('{"a":"é"}'), { "content-encoding": name })).toEqual({
    status: 200,
    body: { parsed: { a: "é" } },
  })
  const many = "x".repeat(3 * mebibyte)
  expect(await post("/raw", encode(many), { "content-encoding": name })).toMatchObject({
    status: 200,
    body: { length: 3 * mebibyte },
  })
})

test.each(contentCodings)("calls 1.1: a %s body that decodes to more than 32 MiB is refused", async (name, encode) => {
  const bomb = encode(Buffer.alloc(33 * mebibyte))
  expect(bomb.length).toBeLessThan(mebibyte / 10)
  const refused = await post("/raw", bomb, { "content-encoding": name })
  expect(refused.status).toBe(413)
  expect(refused.body).toMatchObject({ reason: expect.stringMatching(/^Request too large/) as unknown })
})

test.each(contentCodings)("a broken %s body is refused", async (name, encode) => {
  const whole = encode(Buffer.from("heddle ".repeat(2000)))
  const cut = await post("/raw", whole.subarray(0, whole.length - 5), { "content-encoding": name })
  expect([cut.status, (cut.body as { reason: string }).reason]).toEqual([400, expect.stringContaining(name) as unknown])
  expect((await post("/raw", "not encoded at all", { "content-encoding": name })).status).toBe(400)
})

test("calls 1.1: 32 MiB pass and one byte more is 413 with a reason", async () => {
  expect(await post("/raw", Buffer.alloc(32 * mebibyte, 32))).toMatchObject({
    status: 200,
    body: { length: 32 * mebibyte },
  })
  expect(await post("/raw", Buffer.alloc(32 * mebibyte + 1, 32))).toMatchObject({
    status: 413,
    body: { reason: expect.stringMatching(/^Request too large/) as unknown },
  })
})

test.each([
  ["4 MiB", `"${"x".repeat(4 * mebibyte - 2)}"`, `"${"x".repeat(4 * mebibyte - 1)}"`],
  ["100,000 values", `[${"1,".repeat(99_998)}1]`, `[${"1,".repeat(99_999)}1]`],
])("a body that is parsed at once has at most %s", async (_, fits, isTooLarge) => {
  expect((await post("/parsed", fits)).status).toBe(200)
  expect(await post("/parsed", isTooLarge)).toMatchObject({
    status: 413,
    body: { reason: expect.stringMatching(/^Request too large/) as unknown, error_type: "RequestTooLarge" },
  })
  expect((await post("/long", isTooLarge)).status).toBe(200)
})

test("RFC 9659: a zstd body that needs a window of more than 8 MiB is refused", async () => {
  const withWindow = (log: number) =>
    zstdCompressSync(Buffer.alloc(20 * mebibyte, "heddle"), { params: { [constants.ZSTD_c_windowLog]: log } })
  const refused = await post("/raw", withWindow(24), { "content-encoding": "zstd" })
  expect([refused.status, (refused.body as { reason: string }).reason]).toEqual([
    400,
    expect.stringContaining("zstd") as unknown,
  ])
  expect((await post("/raw", withWindow(23), { "content-encoding": "zstd" })).status).toBe(200)
})

test("an unknown coding is 415 and names those that are known", async () => {
  const refused = await post("/raw", "x", { "content-encoding": "lzma" })
  expect(refused.status).toBe(415)
  expect((refused.body as { reason: string }).reason).toMatch(/"lzma".*gzip, .*deflate, zstd, br/)
})

test("a body that is not JSON is refused and told where it is not", async () => {
  expect(await post("/parsed", "{nope")).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ["body"], msg: expect.stringContaining("not JSON") as unknown, type: "json_invalid" }] },
  })
})

test.each([
  ["gzip, deflate", "gzip"],
  ["gzip, deflate, br", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "zstd"],
  ["identity", null],
])("calls 1.1: JSON for Accept-Encoding %s comes as %s", async (accepted, coding) => {
  const long = { a: "heddle ".repeat(3000) }
  const headers = { "accept-encoding": accepted }
  const answer = await fetch(`${url}/parsed`, { method: "POST", body: JSON.stringify(long), headers })
  expect(answer.headers.get("content-encoding")).toBe(coding)
  expect(await answer.json()).toEqual({ parsed: long })
  const short = await fetch(`${url}/parsed`, { method: "POST", body: "{}", headers })
  expect(short.headers.get("content-encoding")).toBe(null)
  expect(await short.json()).toEqual({ parsed: {} })
})

test.each(["gzip", "zstd", "br"])("calls 1.1: JSON Lines come in %s, as a stream", async (coding) => {
  const answer = await fetch(`${url}/lines/50000`, { method: "POST", headers: { "accept-encoding": coding } })
  expect(answer.headers.get("content-encoding")).toBe(coding)
  expect(answer.headers.get("content-length")).toBe(null)
  const text = await answer.text()
  expect(text.split("\n").length).toBe(50_001)
  expect(text.slice(-17)).toBe('{"index":49999}\n'.padStart(17, "\n"))
})

test("events are never compressed", async () => {
  const answer = await fetch(`${url}/events`, { method: "POST", headers: { "accept-encoding": "gzip" } })
  expect(answer.headers.get("content-encoding")).toBe(null)
  expect((await answer.text()).length).toBe(9000)
})

test.each(["/traces", "/team/heddle", "/team/heddle/traces"])("objects 1: the same under %s", async (prefix) => {
  expect(await post(`${prefix}/parsed`, "[1]")).toEqual({ status: 200, body: { parsed: [1] } })
})

test("calls 1.1: the words of Python that JSON does not have become null", async () => {
  expect(await post("/parsed", '{"a":[NaN,-Infinity,1],"text":"NaN"}')).toEqual({
    status: 200,
    body: { parsed: { a: [null, null, 1], text: "NaN" } },
  })
})

test("objects 1: 200 levels pass, 201 are 413 with a reason, 99,000 too", async () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
  expect((await post("/parsed", nested(200))).status).toBe(200)
  for (const levels of [201, 99_000]) {
    expect(await post("/parsed", nested(levels))).toMatchObject({
      status: 413,
      body: { reason: expect.stringContaining("200") as unknown },
    })
  }
})

test("calls 1.4: a path that is not there is 404 whatever the body", async () => {
  for (const body of ["{}", "--form\r\n", Buffer.alloc(40 * mebibyte)]) {
    expect(await post("/feedback/batch/create", body)).toMatchObject({
      status: 404,
      body: { reason: "no such path: POST /feedback/batch/create" },
    })
  }
})

test.each([
  ["/v1/vector_stores", "error"],
  ["/v1/conversations", "error"],
  ["/v1/completions/cancel", "error"],
  ["/openai/deployments/gpt/chat/completions", "error"],
  ["/v1/preview/nothing", "detail"],
  ["/v1/projects/a/b/c/d/e", "detail"],
  ["/v1/rollouts/a/b/c", "detail"],
  ["/nothing", "reason"],
  ["/otel/v1/metrics; metrics are not kept here: set OTEL_METRICS_EXPORTER=none", "reason"],
])("law 4: what is not there is told in the form that the clients of %s read", async (told, key) => {
  const answer = await server.inject({ method: "POST", url: told.split(";")[0] ?? "" })
  expect(answer.statusCode).toBe(404)
  expect(JSON.stringify(answer.json()[key])).toContain(`no such path: POST ${told}`)
})

test.each([
  ["a broken percent-encoding", "/lines/%ED%A0%80", "reason", "is not a valid url component"],
  ["a part longer than any name", `/lines/${"x".repeat(9001)}`, "reason", "longer than any name may be"],
  ["the same under the training paths", "/v1/preview/%zz", "detail", "is not a valid url component"],
])("calls 1.3: a path that cannot be read is an error of its area: %s", async (_, path, key, said) => {
  const answer = await server.inject({ method: "POST", url: path })
  expect(answer.statusCode).toBe(400)
  expect(JSON.stringify(answer.json()[key])).toContain(said)
  expect(answer.headers["x-request-id"]).toMatch(/^req_/)
})

test("calls 1.3: what nobody expected is 500, without what it was", async () => {
  const { status, body } = await post("/broken", "{}")
  expect([status, Object.keys(body as object)]).toEqual([500, ["reason", "error_type"]])
  expect((body as { reason: string }).reason).toMatch(/^Internal server error\b/)
  expect(JSON.stringify(body)).not.toContain("secret")
})
