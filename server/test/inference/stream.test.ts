import http from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { FakeEngine, fakeTokens, untilCancelled } from "../../src/engines/fake-engine.ts"
import { createHttpServer } from "../../src/http/server.ts"
import { sendEvents } from "../../src/http/answers/event-stream.ts"
import { chatChunk } from "../../src/wire/inference/chat.ts"
import { type InferenceApp, openInferenceApp } from "../support/inference-app.ts"
import { call, chat, dataOf } from "../support/inference-client.ts"
import { addModel } from "../support/test-catalog.ts"

let app: InferenceApp
const fake = new FakeEngine()
const handlers = fake.handlers
const model = "wandb-artifact:///acme/demo/m"

beforeAll(async () => {
  app = await openInferenceApp(fake, { engineWaitMs: 3000 })
  await addModel(app.catalog.database, app.acme.projectId, "m")
}, 60_000)
afterAll(() => app.close())
beforeEach(() => {
  fake.handlers = { ...handlers }
  fake.calls.length = 0
})

describe("chunks (inference-api 6)", () => {
  test("roles and prompt ids first, deltas with their ids and logprobs, finish, usage, [DONE]", async () => {
    const { status, headers, text } = await chat(app, {
      model,
      max_tokens: 4,
      n: 2,
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      "cache-control": "no-cache, no-store",
      "x-accel-buffering": "no",
      "x-heddle-step": "0",
    })
    expect(headers["content-type"]).toMatch(/^text\/event-stream/)
    const events = dataOf(text)
    expect(events.at(-1)).toBe("[DONE]")
    const chunks = events.slice(0, -1)
    for (const chunk of chunks) chatChunk.parse(chunk)

    expect(chunks[0].prompt_token_ids).toEqual([1, 2, 3])
    expect(chunks[0].choices.map((choice: { index: number; delta: unknown }) => [choice.index, choice.delta])).toEqual([
      [0, { role: "assistant", content: "" }],
      [1, { role: "assistant", content: "" }],
    ])
    expect(text.match(/"role"/g)).toHaveLength(2)

    const last = chunks.at(-1)
    expect(last.choices).toEqual([])
    expect(last.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 8, total_tokens: 11 })
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)

    for (const index of [0, 1]) {
      const mine = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === index)
      expect(mine.map((choice) => choice.delta.content ?? "").join("")).toBe("abcd")
      expect(mine.flatMap((choice) => choice.token_ids ?? [])).toEqual([100, 101, 102, 103])
      expect(mine.flatMap((choice) => choice.logprobs?.content ?? []).map((item) => item.logprob)).toEqual([
        -0.5, -0.625, -0.75, -0.875,
      ])
      expect(mine.map((choice) => choice.finish_reason).filter((reason) => reason !== null)).toEqual(["stop"])
      expect(mine.at(-1)).toMatchObject({ delta: {}, finish_reason: "stop" })
    }
  })

  test("without include_usage no chunk speaks of usage", async () => {
    const { text } = await chat(app, { model, max_tokens: 2, stream: true })
    expect(text).not.toContain('"usage"')
  })

  test("tool calls carry index, id, type, name and arguments as a string, once", async () => {
    fake.handlers.chat = (_params, each) => {
      each.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
      const toolCall = { index: 0, id: "call_1", name: "f", arguments: '{"a":1}' }
      each.emit("delta", {
        index: 0,
        content: "",
        reasoning: "so",
        tool_calls: [toolCall],
        tokens: fakeTokens(1),
      })
      const choice = {
        index: 0,
        content: null,
        reasoning: "so",
        tool_calls: [],
        finish_reason: "tool_calls",
        stop_reason: null,
        tokens: [],
      }
      return { prompt_token_ids: [1], cached_tokens: 0, completion_tokens: 1, choices: [choice] }
    }
    const { text } = await chat(app, {
      model,
      stream: true,
      tools: [{ type: "function", function: { name: "f" } }],
    })
    expect(dataOf(text)[1].choices[0].delta).toEqual({
      reasoning: "so",
      reasoning_content: "so",
      tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
    })
  })

  test("an error before the first token has its own status", async () => {
    fake.handlers.chat = () => {
      throw new EngineFailure("invalid", "no template", "messages")
    }
    const { status, json } = await chat(app, { model, stream: true })
    expect([status, json.error.message]).toEqual([400, "no template"])
  })
})

describe("engine death (inference-api 11.4 rule 4, inference-api 12.5)", () => {
  test("in mid-stream: an error event, then the end without [DONE]", async () => {
    fake.handlers.chat = async (_params, each) => {
      each.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
      each.emit("delta", {
        index: 0,
        content: "ab",
        reasoning: "",
        tool_calls: [],
        tokens: fakeTokens(2),
      })
      await sleep(100)
      fake.die()
      return new Promise(() => undefined)
    }
    const { status, text } = await chat(app, { model, stream: true })
    expect(status).toBe(200)
    const events = dataOf(text)
    expect(events.at(-1).error).toMatchObject({ type: "server_error", code: "engine_unavailable" })
    expect(events).not.toContain("[DONE]")
    expect(fake.calls.filter((each) => each.method === "chat")).toHaveLength(1)
  })

  test.each([false, true])("before the first byte: tried once more (stream %s)", async (stream) => {
    let lives = 0
    fake.handlers.chat = (params, each) => {
      if (++lives > 1) return handlers.chat?.(params, each)
      fake.die()
      return new Promise(() => undefined)
    }
    const { status, text } = await chat(app, { model, stream, max_tokens: 2 })
    expect([status, lives]).toEqual([200, 2])
    expect(text).toContain('"finish_reason":"stop"')
  })

  test.each([false, true])("twice: 503 with retry-after (stream %s)", async (stream) => {
    fake.handlers.chat = () => {
      fake.die()
      return new Promise(() => undefined)
    }
    const { status, json, headers } = await chat(app, { model, stream })
    expect([status, json.error.code, headers["retry-after-ms"], headers["retry-after"]]).toEqual([
      503,
      "engine_unavailable",
      "2000",
      "2",
    ])
    expect(fake.calls.filter((each) => each.method === "chat")).toHaveLength(2)
  })
})

test.each([false, true])(
  "inference-api 6: a client that goes away cancels its chat at once (stream %s)",
  async (stream) => {
    const began = Promise.withResolvers<void>()
    const cancelled = Promise.withResolvers<void>()
    fake.handlers.chat = async (_params, each) => {
      each.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
      began.resolve()
      await untilCancelled(each).catch(() => undefined)
      cancelled.resolve()
      throw new EngineFailure("cancelled", "cancelled")
    }
    if (!app.server.server.listening) await app.server.listen({ port: 0 })
    const { port } = app.server.server.address() as AddressInfo
    const headers = { authorization: "Bearer acme", "content-type": "application/json" }
    const request = http.request({ port, path: "/v1/chat/completions", method: "POST", headers })
    request.on("error", () => undefined)
    request.end(JSON.stringify({ model, messages: [{ role: "user", content: "x" }], stream }))
    await began.promise
    request.destroy()
    await cancelled.promise
  },
)

test("inference-api 6: a silent stream is kept alive by comments", async () => {
  const server = await createHttpServer({ logLevel: "silent", prefix: null })
  async function* slow() {
    await sleep(60)
    yield "data: 1\n\n"
    await sleep(60)
    yield "data: 2\n\n"
  }
  server.get("/", async (_request, reply) => {
    await sendEvents(reply, slow(), { keepAliveMs: 25 })
    return reply
  })
  const { body } = await server.inject("/")
  expect(body).toMatch(/^(: keep-alive\n\n)+data: 1\n\n(: keep-alive\n\n)+data: 2\n\ndata: \[DONE\]\n\n$/)
})

test.each([
  ["that has left is no failure of the server", true, 0],
  ["that is still there is one", false, 1],
])("a broken stream to a client %s", async (_, leaves, failures) => {
  const server = await createHttpServer({ logLevel: "silent", prefix: null })
  const errors = vi.spyOn(server.log, "error").mockImplementation(() => undefined)
  const left = Promise.withResolvers<void>()
  const broken = Promise.withResolvers<void>()
  async function* breaking() {
    yield "data: 1\n\n"
    await left.promise
    broken.resolve()
    throw new Error("stopped")
  }
  server.get("/", async (_request, reply) => {
    reply.raw.on("close", left.resolve)
    await sendEvents(reply, breaking())
    return reply
  })
  const leaving = new AbortController()
  const answer = await fetch(await server.listen({ port: 0, host: "127.0.0.1" }), { signal: leaving.signal })
  if (leaves) leaving.abort()
  else left.resolve()
  const read = answer.text().catch(() => "")
  await broken.promise
  await Promise.all([read, sleep(50)])
  expect(errors).toHaveBeenCalledTimes(failures)
  await server.close()
})

/** Opens a streamed chat of 10 MB of which the client reads only the head. */
async function unreadStream(): Promise<http.ClientRequest> {
  fake.handlers.chat = (params, each) => {
    if (params.stream !== true) return handlers.chat?.(params, each)
    each.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
    const delta = {
      index: 0,
      content: "x".repeat(20_000),
      reasoning: "",
      tool_calls: [],
      tokens: fakeTokens(1),
    }
    for (let k = 0; k < 500; k++) each.emit("delta", delta)
    return untilCancelled(each)
  }
  if (!app.server.server.listening) await app.server.listen({ port: 0 })
  const { port } = app.server.server.address() as AddressInfo
  const headers = { authorization: "Bearer acme", "content-type": "application/json" }
  const request = http.request({ port, path: "/v1/chat/completions", method: "POST", headers })
  request.on("error", () => undefined)
  request.end(JSON.stringify({ model, messages: [{ role: "user", content: "x" }], stream: true }))
  const [response] = (await once(request, "response")) as [http.IncomingMessage]
  response.pause()
  return request
}

test("a client that reads slowly does not hold up others", async () => {
  const request = await unreadStream()
  expect((await chat(app, { model, max_tokens: 1 })).status).toBe(200)
  request.destroy()
})

test("training-api 4.3: a client that reads slowly and leaves no longer uses its checkpoint", async () => {
  const { id } = await app.catalog.database.selectFrom("models").select("id").executeTakeFirstOrThrow()
  const request = await unreadStream()
  // By then the stream waits for the client.
  await sleep(200)
  let removed = false
  await app.gateway.adapters.afterUse(id, 0, () => Promise.resolve(void (removed = true)))
  expect(removed).toBe(false)
  request.destroy()
  await expect.poll(() => removed, { timeout: 5000 }).toBe(true)
})

test.each([undefined, "gzip"])(
  "a client that left before its first chunk came uses nothing either (%s)",
  async (coding) => {
    const began = Promise.withResolvers<void>()
    fake.handlers.chat = async (params, each) => {
      began.resolve()
      await untilCancelled(each).catch(() => undefined)
      return handlers.chat?.(params, each)
    }
    const { id } = await app.catalog.database.selectFrom("models").select("id").executeTakeFirstOrThrow()
    if (!app.server.server.listening) await app.server.listen({ port: 0 })
    const { port } = app.server.server.address() as AddressInfo
    const headers = {
      authorization: "Bearer acme",
      "content-type": "application/json",
      ...(coding === undefined ? {} : { "accept-encoding": coding }),
    }
    const request = http.request({ port, path: "/v1/chat/completions", method: "POST", headers })
    request.on("error", () => undefined)
    request.end(JSON.stringify({ model, messages: [{ role: "user", content: "x" }], stream: true }))
    await began.promise
    let removed = false
    await app.gateway.adapters.afterUse(id, 0, () => Promise.resolve(void (removed = true)))
    expect(removed).toBe(false)
    request.destroy()
    await expect.poll(() => removed, { timeout: 5000 }).toBe(true)
  },
)

test("inference-api 9: offsets of a text completion go on while its text is withheld; the prompt's ids come once", async () => {
  // The bytes of "až\ufeff!", whose second character comes in two tokens and two events.
  const bytes = [[97], [0xc5], [0xbe], [0xef, 0xbb, 0xbf], [33]]
  const tokens = fakeTokens(5).map((token, at) => ({ ...token, bytes: bytes[at] ?? [] }))
  fake.handlers.chat = (params, each) => {
    each.emit("start", { prompt_token_ids: [1, 2, 3], cached_tokens: 0 })
    const delta = { index: 0, reasoning: "", tool_calls: [] }
    each.emit("delta", { ...delta, content: "", tokens: tokens.slice(0, 2) })
    each.emit("delta", { ...delta, content: "až\ufeff!", tokens: tokens.slice(2) })
    return handlers.chat?.(params, { ...each, emit: () => undefined })
  }
  const body = { model, prompt: "x", max_tokens: 5, stream: true }
  const { text } = await call(app, "POST", "/v1/completions", { body })
  const choices = dataOf(text)
    .slice(0, -1)
    .flatMap((chunk) => chunk.choices)
  expect(choices.flatMap((choice) => choice.logprobs?.text_offset ?? [])).toEqual([0, 1, 1, 2, 3])
  expect(choices.flatMap((choice) => choice.logprobs?.tokens ?? [])).toEqual(["a", "\ufffd", "\ufffd", "\ufeff", "!"])
  expect(choices.map((choice) => choice.prompt_token_ids)).toEqual([[1, 2, 3], undefined, undefined])
})
