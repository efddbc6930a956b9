/** The usage ledger has one row for each request that began, also when its answer broke off (inference-api 1). */
import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { sql } from "kysely"
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { type FakeCall, FakeEngine, fakeTokens, untilCancelled } from "../../src/engines/fake-engine.ts"
import { type InferenceApp, openInferenceApp } from "../support/inference-app.ts"
import { call, chat, dataOf } from "../support/inference-client.ts"

let app: InferenceApp
const fake = new FakeEngine()
const handlers = fake.handlers
const model = "heddle/tiny"

beforeAll(async () => {
  app = await openInferenceApp(fake, { engineWaitMs: 3000 })
  await app.server.listen({ port: 0, host: "127.0.0.1" })
}, 60_000)
afterAll(() => app.close())
beforeEach(async () => {
  fake.handlers = { ...handlers }
  await app.catalog.database.deleteFrom("completion_usage").execute()
})

const rows = () =>
  app.catalog.database
    .selectFrom("completion_usage")
    .select(["input_tokens", "input_cached_tokens", "output_tokens"])
    .execute()

const start = { prompt_token_ids: [1, 2, 3, 4, 5], cached_tokens: 2 }
const tokens = (each: FakeCall, count: number, index = 0) =>
  each.emit("delta", { index, content: "x", reasoning: "", tool_calls: [], tokens: fakeTokens(count) })

/** Sends a completion and leaves once `when` is resolved, and for a stream not before its first chunk. */
async function leave(path: string, body: object, when: Promise<void>): Promise<void> {
  const { port } = app.server.server.address() as AddressInfo
  const headers = { authorization: "Bearer acme", "content-type": "application/json" }
  const request = http.request({ port, path, method: "POST", headers })
  request.on("error", () => undefined)
  request.end(JSON.stringify({ model, ...body }))
  if ("stream" in body) await once(request, "response")
  await when
  request.destroy()
}

const userTurn = { messages: [{ role: "user", content: "x" }] }
const oneRow = (input_tokens: number, input_cached_tokens: number, output_tokens: number) =>
  expect.poll(rows, { timeout: 5_000 }).toEqual([{ input_tokens, input_cached_tokens, output_tokens }])

test.each([
  ["of the stream", null, 5],
  // The engine had sampled the last tokens, and no longer sent them.
  ["that the engine sums up", { prompt_tokens: 5, cached_tokens: 2, completion_tokens: 6 }, 6],
])("a client that leaves a stream: the tokens %s until the engine heard of it", async (_, usage, output) => {
  const begun = Promise.withResolvers<void>()
  fake.handlers.chat = async (_params, each) => {
    each.emit("start", start)
    tokens(each, 2)
    tokens(each, 1, 1)
    begun.resolve()
    await untilCancelled(each).catch(() => undefined)
    tokens(each, 2)
    throw new EngineFailure("cancelled", "cancelled", null, usage)
  }
  await leave("/v1/chat/completions", { ...userTurn, n: 2, stream: true }, begun.promise)
  await oneRow(5, 2, output)
})

test("a client that leaves an answer in one piece: the row has the tokens that the engine had sampled", async () => {
  const begun = Promise.withResolvers<void>()
  fake.handlers.chat = async (_params, each) => {
    begun.resolve()
    await untilCancelled(each).catch(() => undefined)
    const usage = { prompt_tokens: 9, cached_tokens: 4, completion_tokens: 17 }
    throw new EngineFailure("cancelled", "cancelled", null, usage)
  }
  await leave("/v1/chat/completions", userTurn, begun.promise)
  await oneRow(9, 4, 17)
})

test("an engine that dies: the row has the tokens that it had handed over", async () => {
  fake.handlers.chat = async (_params, each) => {
    each.emit("start", start)
    tokens(each, 3)
    setTimeout(() => fake.die(), 100)
    return new Promise(() => undefined)
  }
  const { text } = await chat(app, { model, stream: true })
  expect(dataOf(text).at(-1).error.code).toBe("engine_unavailable")
  expect(await rows()).toEqual([{ input_tokens: 5, input_cached_tokens: 2, output_tokens: 3 }])
})

test("a failure in the middle of an answer in one piece", async () => {
  fake.handlers.chat = () => {
    const usage = { prompt_tokens: 5, cached_tokens: 0, completion_tokens: 8 }
    throw new EngineFailure("internal", "the logits are not finite", null, usage)
  }
  expect((await chat(app, { model })).status).toBe(500)
  expect(await rows()).toEqual([{ input_tokens: 5, input_cached_tokens: 0, output_tokens: 8 }])
})

test.each([true, false])("a chat that never began leaves no row (stream %s)", async (stream) => {
  fake.handlers.chat = () => {
    throw new EngineFailure("invalid", "no template", "messages")
  }
  expect((await chat(app, { model, stream })).status).toBe(400)
  expect((await chat(app, { model: "nobody/knows", stream })).status).toBe(404)
  expect(await rows()).toEqual([])
})

test("an engine that dies before the first byte: only the second try counts", async () => {
  let lives = 0
  fake.handlers.chat = (params, each) => {
    if (++lives > 1) return handlers.chat?.(params, each)
    fake.die()
    return new Promise(() => undefined)
  }
  expect((await chat(app, { model, stream: true, max_tokens: 2 })).status).toBe(200)
  expect(await rows()).toEqual([{ input_tokens: 3, input_cached_tokens: 1, output_tokens: 2 }])
})

test("while the catalog has no room, an answer ends with insufficient_storage, and is counted once there is room", async () => {
  const { database } = app.catalog
  await sql`create function no_room() returns trigger language plpgsql as
    $$ begin raise exception 'No space left on device' using errcode = '53100'; end $$`.execute(database)
  await sql`create trigger full_disk before insert on completion_usage execute function no_room()`.execute(database)
  const { text } = await chat(app, { model, stream: true, max_tokens: 2 })
  expect(dataOf(text).at(-1).error).toMatchObject({
    code: "insufficient_storage",
    message: expect.stringContaining("disk is full"),
  })
  expect((await chat(app, { model, max_tokens: 2 })).status).toBe(507)
  await sql`drop trigger full_disk on completion_usage`.execute(database)
  const row = { input_tokens: 3, input_cached_tokens: 1, output_tokens: 2 }
  await expect.poll(rows, { timeout: 10_000 }).toEqual([row, row])
})

const prompts = { prompt: ["a", "b"], max_tokens: 2 }

test("text completions: a client that leaves in the second prompt of a stream pays both", async () => {
  const begun = Promise.withResolvers<void>()
  fake.handlers.chat = async (params, each) => {
    if (params.prompt === "a") return handlers.chat?.(params, each)
    each.emit("start", start)
    tokens(each, 1)
    begun.resolve()
    return untilCancelled(each)
  }
  await leave("/v1/completions", { ...prompts, stream: true }, begun.promise)
  await oneRow(3 + 5, 1 + 2, 2 + 1)
})

test("text completions: when one prompt fails, the others count as far as they came", async () => {
  fake.handlers.chat = async (params, each) => {
    if (params.prompt === "b") throw new EngineFailure("invalid", "no such token")
    await untilCancelled(each).catch(() => undefined)
    throw new EngineFailure("cancelled", "", null, { prompt_tokens: 3, cached_tokens: 0, completion_tokens: 1 })
  }
  expect((await call(app, "POST", "/v1/completions", { body: { model, ...prompts } })).status).toBe(400)
  expect(await rows()).toEqual([{ input_tokens: 3, input_cached_tokens: 0, output_tokens: 1 }])
})

test("a row that could not be stored with the answer is stored after it, once", async () => {
  const { database } = app.catalog
  // A sequence is not reset when its transaction is rolled back, so only the first insert fails.
  await sql`create sequence tries`.execute(database)
  await sql`create function refuse_once() returns trigger language plpgsql as $$
    begin if nextval('tries') = 1 then raise exception 'away'; end if; return new; end $$`.execute(database)
  await sql`create trigger refuse before insert on completion_usage execute function refuse_once()`.execute(database)
  try {
    expect((await chat(app, { model, max_tokens: 2 })).status).toBe(500)
    expect(await rows()).toEqual([{ input_tokens: 3, input_cached_tokens: 1, output_tokens: 2 }])
  } finally {
    await sql`drop trigger refuse on completion_usage`.execute(database)
  }
})
