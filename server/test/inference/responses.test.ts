import http from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { EngineFailure, type EngineParams } from "../../src/engines/engine.ts"
import { FakeEngine, fakeTokens, untilCancelled } from "../../src/engines/fake-engine.ts"
import { removeExpiredResponses } from "../../src/storage/catalog/inference/stored-responses.ts"
import { responseAnswer, responseEvent } from "../../src/wire/inference/responses.ts"
import { chatResult } from "../support/chat-result.ts"
import { type InferenceApp, openInferenceApp } from "../support/inference-app.ts"
import { call, chat, dataOf } from "../support/inference-client.ts"
import { addModel } from "../support/test-catalog.ts"

let app: InferenceApp
const fake = new FakeEngine()
const handlers = fake.handlers
const model = "wandb-artifact:///acme/demo/m"
const tools = [{ type: "function", name: "add", description: "Adds.", parameters: { type: "object" } }]

beforeAll(async () => {
  app = await openInferenceApp(fake, { engineWaitMs: 3000 }, { stored_responses_per_project: 20 })
  await addModel(app.catalog.database, app.acme.projectId, "m")
}, 60_000)
afterAll(() => app.close())
beforeEach(() => {
  fake.handlers = { ...handlers }
  fake.calls.length = 0
})

const send = (fields: object, more: { key?: string; headers?: Record<string, string> } = {}) =>
  call(app, "POST", "/v1/responses", { body: { model, max_output_tokens: 4, input: "hi", ...fields }, ...more })
const ask = (method: "GET" | "POST" | "DELETE", url: string, key = "acme") =>
  call(app, method, `/v1/responses/${url}`, { key })

function lastCall(): EngineParams<"chat"> {
  return fake.calls.findLast((each) => each.method === "chat")?.params as EngineParams<"chat">
}

describe("art-0.5.23 6: the answer", () => {
  test.each([model, "heddle/tiny"])("art-0.5.23 6: token_generations come unasked, of %s too", async (name) => {
    const { status, headers, json } = await send({ model: name, instructions: "Be brief.", metadata: { run: "7" } })
    expect(status).toBe(200)
    responseAnswer.parse(json)
    expect(json).toEqual({
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      object: "response",
      created_at: expect.any(Number),
      completed_at: expect.any(Number),
      model: name,
      status: "completed",
      error: null,
      incomplete_details: null,
      output: [
        {
          type: "message",
          id: expect.stringMatching(/^msg_/),
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "abcd", annotations: [], logprobs: [] }],
        },
      ],
      background: false,
      instructions: "Be brief.",
      max_output_tokens: 4,
      metadata: { run: "7" },
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      store: true,
      temperature: 1,
      text: { format: { type: "text" } },
      tool_choice: "auto",
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: "disabled",
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 1, cache_write_tokens: 0 },
        output_tokens: 4,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 7,
      },
      token_generations: [
        {
          prompt_token_ids: [1, 2, 3],
          output_tokens: [
            { token_id: 100, logprob: -0.5 },
            { token_id: 101, logprob: -0.625 },
            { token_id: 102, logprob: -0.75 },
            { token_id: 103, logprob: -0.875 },
          ],
          output_indices: [0],
          logprobs_mode: "raw_logprobs",
        },
      ],
    })
    expect(headers["x-heddle-step"]).toBe(name === model ? "0" : undefined)
  })

  test("items stand in the order sampled, and reasoning is counted", async () => {
    const bytes = ["so", "</thi", "nk>", "I", " add."].map((text) => [...Buffer.from(text)])
    const tokens = fakeTokens(5).map((token, at) => ({ ...token, bytes: bytes[at] ?? [] }))
    fake.handlers.chat = () =>
      chatResult({
        reasoning: "so",
        content: "I add.",
        tool_calls: [{ id: "call_1", name: "add", arguments: '{"a": 1.0}' }],
        finish_reason: "tool_calls",
        tokens,
      })
    const { json } = await send({ tools })
    expect(json.output).toEqual([
      expect.objectContaining({ type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "so" }] }),
      expect.objectContaining({ type: "message" }),
      {
        type: "function_call",
        id: expect.stringMatching(/^fc_/),
        call_id: "call_1",
        name: "add",
        arguments: '{"a": 1.0}',
        status: "completed",
      },
    ])
    expect(json.usage.output_tokens_details).toEqual({ reasoning_tokens: 3 })
    expect(json.token_generations[0].output_indices).toEqual([0, 1, 2])
    expect(json.tools).toEqual([{ ...tools[0], strict: null }])
  })

  test("the reasoning of gpt-oss ends with its message", async () => {
    const texts = [
      "<|channel|>",
      "analysis",
      "<|message|>",
      "so",
      "<|end|>",
      "<|start|>assistant<|channel|>final<|message|>",
      "3",
    ]
    const tokens = fakeTokens(7).map((token, at) => ({ ...token, bytes: [...Buffer.from(texts[at] ?? "")] }))
    fake.handlers.chat = () => chatResult({ reasoning: "so", content: "3", tokens })
    expect((await send({})).json.usage.output_tokens_details).toEqual({ reasoning_tokens: 5 })
  })

  test("an answer that was cut off is incomplete; one without text is an empty message", async () => {
    fake.handlers.chat = () => chatResult({ content: "", finish_reason: "length" })
    const { json } = await send({})
    expect(json).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ type: "message", status: "incomplete", content: [{ text: "" }] }],
    })
  })

  test("log-probabilities of the text come when they are asked for", async () => {
    const { json } = await send({ include: ["message.output_text.logprobs"], max_output_tokens: 1 })
    expect(json.output[0].content[0].logprobs).toEqual([{ token: "a", logprob: -0.5, bytes: [97], top_logprobs: [] }])
    await send({ top_logprobs: 3 })
    expect(lastCall().sampling.top_logprobs).toBe(3)
  })
})

describe("art-0.5.23 6: the request", () => {
  test("art-0.5.23 8: the same dialogue asks the engine the same as by chat", async () => {
    const sampling = { temperature: 0.5, top_p: 0.9, seed: 7 }
    await send({
      ...sampling,
      instructions: "Be brief.",
      input: [
        { role: "developer", content: "Use tools." },
        { type: "message", role: "user", content: [{ type: "input_text", text: "1+2?" }] },
        { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "easy" }] },
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "I add." }],
        },
        { type: "function_call", id: "fc_1", call_id: "call_1", name: "add", arguments: '{"a": 1}' },
        { type: "function_call", call_id: "call_2", name: "add", arguments: "{}" },
        { type: "function_call_output", call_id: "call_1", output: "3" },
        { type: "function_call_output", call_id: "call_2", output: [{ type: "input_text", text: "4" }] },
        { role: "assistant", content: "3" },
        { role: "assistant", content: "and 4" },
        { role: "user", content: "And?" },
      ],
      tools: [{ ...tools[0], strict: null }],
      tool_choice: { type: "function", name: "add" },
      reasoning: { effort: "low" },
      max_output_tokens: 9,
    })
    const asked = lastCall()
    const called = (id: string, text: string) => ({ id, type: "function", function: { name: "add", arguments: text } })
    await chat(app, {
      model,
      ...sampling,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "developer", content: "Use tools." },
        { role: "user", content: "1+2?" },
        {
          role: "assistant",
          content: "I add.",
          reasoning: "easy",
          tool_calls: [called("call_1", '{"a": 1}'), called("call_2", "{}")],
        },
        { role: "tool", tool_call_id: "call_1", content: "3" },
        { role: "tool", tool_call_id: "call_2", content: "4" },
        { role: "assistant", content: "3" },
        { role: "assistant", content: "and 4" },
        { role: "user", content: "And?" },
      ],
      tools: [{ type: "function", function: { name: "add", description: "Adds.", parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name: "add" } },
      reasoning_effort: "low",
      max_tokens: 9,
    })
    expect(asked).toEqual(lastCall())
  })

  test("an answer is held to a JSON schema, and tools to those allowed", async () => {
    const schema = { type: "object" }
    await send({ text: { format: { type: "json_schema", name: "n", schema, strict: true } } })
    expect(lastCall().structured_output).toEqual({ kind: "json", schema, param: "text.format" })
    const allowed = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "add" }] }
    await send({ tools: [...tools, { type: "function", name: "sub" }], tool_choice: allowed })
    expect(lastCall()).toMatchObject({ tool_choice: "required", tools: [{ function: { name: "add" } }] })
  })
})

describe("art-0.5.23 6: refusals name the field and the way out", () => {
  test.each<[object, string, string]>([
    [{ background: true }, "background", "stream"],
    [{ conversation: "conv_1" }, "conversation", "previous_response_id"],
    [{ prompt: { id: "pmpt_1" } }, "prompt", "instructions"],
    [{ truncation: "auto" }, "truncation", "never cut"],
    [{ tools: [{ type: "web_search" }] }, "tools[0]", '"web_search"'],
    [{ tools: [{ type: "function" }] }, "tools[0].name", "missing"],
    [{ tools, tool_choice: { type: "web_search" } }, "tool_choice", '"web_search"'],
    [{ tools, tool_choice: { type: "function", name: "sub" } }, "tool_choice", '"sub"'],
    [
      { tools, tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "web_search" }] } },
      "tool_choice.tools[0]",
      '"web_search"',
    ],
    [{ tool_choice: "required" }, "tool_choice", "no tools"],
    [{ text: { format: { type: "xml" } } }, "text.format", '"xml"'],
    [
      { input: [{ role: "user", content: [{ type: "input_image", image_url: "x" }] }] },
      "input[0].content[0]",
      "text only",
    ],
    [{ input: [{ type: "computer_call", id: "x" }] }, "input[0]", '"computer_call"'],
    [{ input: [{ type: "function_call", name: "add" }] }, "input[0]", "call_id"],
    [{ input: [{ type: "function_call_output", output: "3" }] }, "input[0].call_id", "missing"],
    [{ messages: [] }, "messages", "input"],
    [{ max_tokens: 3 }, "max_tokens", "max_output_tokens"],
    [{ chat_template: "x" }, "chat_template", "chat_template_kwargs"],
  ])("%j", async (fields, param, said) => {
    const { status, json } = await send(fields)
    expect([status, json.error.param]).toEqual([400, param])
    expect(json.error.message).toContain(said)
    expect(fake.calls.filter(({ method }) => method === "chat")).toEqual([])
  })

  test.each([
    ["no input", { input: null }, {}, 422],
    ["no items", { input: [] }, {}, 422],
    [
      "allowed tools without a list",
      { tools, tool_choice: { type: "allowed_tools", mode: "auto", tools: 5 } },
      {},
      422,
    ],
    [
      "allowed tools of no kind",
      { tools, tool_choice: { type: "allowed_tools", mode: "auto", tools: [null] } },
      {},
      422,
    ],
    ["an unknown mode", { tools, tool_choice: { type: "allowed_tools", mode: "some", tools: [] } }, {}, 422],
    ["no such model", { model: "wandb-artifact:///acme/demo/absent" }, {}, 404],
    ["another team's model", {}, { key: "rival" }, 404],
    ["no key", {}, { key: "nobody" }, 401],
  ])("%s", async (_, fields, more, expected) => {
    const { status, json } = await send(fields, more)
    expect([status, json.error.message]).toEqual([expected, expect.any(String)])
  })
})

describe("art-0.5.23 6: streams", () => {
  const eventsOf = (text: string) => {
    const data = dataOf(text.replaceAll(/^event: .*\n/gm, ""))
    expect([...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)).toEqual(data.map(({ type }) => type))
    expect(data.map(({ sequence_number }) => sequence_number)).toEqual(data.map((_, at) => at))
    for (const each of data) responseEvent.parse(each)
    return data
  }

  test("art-0.5.23 6: item after item, the whole answer at the end", async () => {
    fake.handlers.chat = (_params, each) => {
      const tokens = fakeTokens(4)
      const empty = { index: 0, content: "", reasoning: "", tool_calls: [] }
      each.emit("start", { prompt_token_ids: [1, 2], cached_tokens: 1 })
      for (const [at, delta] of [{ reasoning: "so" }, { content: "I " }, { content: "add." }].entries())
        each.emit("delta", { ...empty, ...delta, tokens: tokens.slice(at, at + 1) })
      const calls = [{ index: 0, id: "call_1", name: "add", arguments: '{"a": 1}' }]
      each.emit("delta", { ...empty, tool_calls: calls, tokens: tokens.slice(3) })
      const whole = chatResult({ finish_reason: "tool_calls", tokens: [], reasoning: "so" })
      return { ...whole, prompt_token_ids: [1, 2], completion_tokens: 4 }
    }
    const events = eventsOf((await send({ stream: true, tools })).text)
    const short = events.map(({ type, output_index: at, delta, text }) =>
      [type, at, delta ?? text].filter((x) => x !== undefined),
    )
    expect(short).toEqual([
      ["response.created"],
      ["response.in_progress"],
      ["response.output_item.added", 0],
      ["response.reasoning_text.delta", 0, "so"],
      ["response.reasoning_text.done", 0, "so"],
      ["response.output_item.done", 0],
      ["response.output_item.added", 1],
      ["response.content_part.added", 1],
      ["response.output_text.delta", 1, "I "],
      ["response.output_text.delta", 1, "add."],
      ["response.output_text.done", 1, "I add."],
      ["response.content_part.done", 1],
      ["response.output_item.done", 1],
      ["response.output_item.added", 2],
      ["response.function_call_arguments.delta", 2, '{"a": 1}'],
      ["response.function_call_arguments.done", 2],
      ["response.output_item.done", 2],
      ["response.completed"],
    ])
    const { response } = events.at(-1)
    const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item)
    expect(response.output).toEqual(done)
    expect(response).toMatchObject({
      status: "completed",
      usage: { input_tokens: 2, output_tokens: 4 },
      token_generations: [{ prompt_token_ids: [1, 2], output_indices: [0, 1, 2] }],
    })
    expect(response.token_generations[0].output_tokens.map((token: { token_id: number }) => token.token_id)).toEqual([
      100, 101, 102, 103,
    ])
    expect((await ask("GET", response.id)).json).toEqual(response)
    expect(events[0].response).toMatchObject({ id: response.id, status: "in_progress", output: [], usage: null })
  })

  test("a turn of nothing but its end is an empty message; one that was cut off ends in response.incomplete", async () => {
    fake.handlers.chat = (_params, each) => {
      each.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
      return chatResult({ content: "", tokens: [], finish_reason: "length" })
    }
    const events = eventsOf((await send({ stream: true })).text)
    expect(events.slice(2).map(({ type }) => type)).toEqual([
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.incomplete",
    ])
    expect(events.at(-1).response.output).toEqual([events.at(-2).item])
  })

  test("an engine that dies in mid-stream: response.failed, and nothing is stored", async () => {
    fake.handlers.chat = async (_params, each) => {
      each.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
      each.emit("delta", { index: 0, content: "a", reasoning: "", tool_calls: [], tokens: fakeTokens(1) })
      await sleep(100)
      fake.die()
      return new Promise(() => undefined)
    }
    const { type, response } = eventsOf((await send({ stream: true })).text).at(-1)
    expect([type, response.status, response.error.code]).toEqual(["response.failed", "failed", "server_error"])
    expect((await ask("GET", response.id)).status).toBe(404)
  })

  /** Opens a stream that goes on until it is cancelled. */
  async function openEndless() {
    const cancelled = Promise.withResolvers<void>()
    fake.handlers.chat = async (_params, each) => {
      each.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
      await untilCancelled(each).catch(() => undefined)
      cancelled.resolve()
      throw new EngineFailure("cancelled", "cancelled")
    }
    return { ...(await openStream(model)), cancelled: cancelled.promise }
  }

  /** Resolves when the id is told; `text`: all of it, once it has ended. */
  async function openStream(name: string) {
    if (!app.server.server.listening) await app.server.listen({ port: 0 })
    const { port } = app.server.server.address() as AddressInfo
    const headers = { authorization: "Bearer acme", "content-type": "application/json" }
    const request = http.request({ port, path: "/v1/responses", method: "POST", headers })
    request.on("error", () => undefined)
    request.end(JSON.stringify({ model: name, input: "x", stream: true }))
    const begun = Promise.withResolvers<string>()
    const text = new Promise<string>((resolve) => {
      request.on("response", (answer) => {
        let all = ""
        answer.on("data", (chunk: Buffer) => {
          all += chunk.toString()
          const id = /resp_[0-9a-f]{32}/.exec(all)?.[0]
          if (id !== undefined) begun.resolve(id)
        })
        answer.on("error", () => undefined)
        answer.on("close", () => resolve(all))
      })
    })
    return { request, id: await begun.promise, text }
  }

  test("a client that goes away ends the sampling", async () => {
    const { request, cancelled, id } = await openEndless()
    request.destroy()
    await cancelled
    await expect.poll(() => app.gateway.inProgress.prompts).toBe(0)
    await expect.poll(async () => (await ask("POST", `${id}/cancel`)).status).toBe(404)
  })

  test("a response that is being made can be cancelled by its team alone, and nothing of it is kept", async () => {
    const { id, text, cancelled } = await openEndless()
    expect((await ask("POST", `${id}/cancel`, "rival")).status).toBe(404)
    const { status, json } = await ask("POST", `${id}/cancel`)
    expect([status, json.id, json.status]).toEqual([200, id, "cancelled"])
    responseAnswer.parse(json)
    await cancelled
    const last = eventsOf(await text).at(-1)
    expect([last.type, last.response.status]).toEqual(["response.failed", "cancelled"])
    expect((await ask("GET", id)).status).toBe(404)
    expect((await ask("POST", `${id}/cancel`)).status).toBe(404)
  })

  test("a response that is cancelled while its last tokens are being recorded is not kept", async () => {
    const { database } = app.catalog
    const late = await addModel(database, app.acme.projectId, "late")
    // Of a base that was not sampled before, the engine is asked for its fingerprint.
    await database.updateTable("models").set({ base_model: "heddle/late" }).where("id", "=", late).execute()
    const [recording, recorded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    fake.handlers["base.resolve"] = async (params, each) => {
      recording.resolve()
      await recorded.promise
      return handlers["base.resolve"]?.(params, each)
    }
    const { id, text } = await openStream("wandb-artifact:///acme/demo/late")
    await recording.promise
    const { status, json } = await ask("POST", `${id}/cancel`)
    expect([status, json.status]).toEqual([200, "cancelled"])
    recorded.resolve()
    const last = eventsOf(await text).at(-1)
    expect([last.type, last.response.status]).toEqual(["response.failed", "cancelled"])
    expect((await ask("GET", id)).status).toBe(404)
  })
})

test.each([false, true])(
  "law 6: the sampled tokens are in the ledgers of usage and of tokens (stream %s)",
  async (stream) => {
    const { text, headers } = await send({ stream })
    const id = /resp_[0-9a-f]{32}/.exec(text)?.[0] ?? ""
    const [entry] = await app.ledger.find(app.acme.projectId, [`${id}:0`])
    expect(entry).toMatchObject({ prompt_token_ids: [1, 2, 3], token_ids: [100, 101, 102, 103] })
    const row = await app.catalog.database
      .selectFrom("completion_usage")
      .selectAll()
      .where("request_id", "=", String(headers["x-request-id"]))
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ model, input_tokens: 3, input_cached_tokens: 1, output_tokens: 4 })
  },
)

describe("art-0.5.23 6: stored answers", () => {
  test("art-0.5.23 6: a request goes on from an answer, without the instructions of that one", async () => {
    const first = await send({ input: "one", instructions: "Only now." })
    const second = await send({ input: [{ role: "user", content: "two" }], previous_response_id: first.json.id })
    expect(second.json.previous_response_id).toBe(first.json.id)
    await send({ input: "three", instructions: "Then.", previous_response_id: second.json.id })
    expect(lastCall().messages).toEqual([
      { role: "system", content: "Then." },
      { role: "user", content: "one" },
      { role: "assistant", content: "abcd" },
      { role: "user", content: "two" },
      { role: "assistant", content: "abcd" },
      { role: "user", content: "three" },
    ])
  })

  test.each([false, true])(
    "art-0.5.23 6: items of answers may be named instead of sent, streamed: %s",
    async (stream) => {
      const { json, text } = await send({ input: "one", stream })
      const id = stream ? /"item_id":"(msg_[0-9a-f]+)"/.exec(text)?.[1] : json.output[0].id
      const named = [{ type: "item_reference", id }, { role: "user", content: "two" }, { id }]
      const second = await send({ input: [{ role: "user", content: "one" }, ...named] })
      expect(second.status).toBe(200)
      const messages = ["one", "abcd", "two", "abcd"].map((content, n) => ({
        role: n % 2 === 0 ? "user" : "assistant",
        content,
      }))
      expect(lastCall().messages).toEqual(messages)
      const other = await send({ model: "heddle/tiny", input: named }, { key: "rival" })
      expect([other.status, other.json.error.param]).toEqual([404, "input[0]"])
    },
  )

  test.each(["msg_1", `msg_${"0".repeat(35)}`, "", null])("an item %j that no stored answer has", async (id) => {
    const { status, json } = await send({ input: [{ type: "item_reference", id }] })
    expect([status, json.error.code, json.error.param]).toEqual([404, "not_found", "input[0]"])
    expect(json.error.message).toContain("send the item itself")
  })

  test("items that are named again and again are refused once they are longer than any request", async () => {
    fake.handlers.chat = () => chatResult({ content: "x".repeat(200_000) })
    const { json } = await send({ input: "one" })
    const { status, json: refused } = await send({
      input: Array.from({ length: 200 }, () => json.output[0].id).map((id) => ({ id })),
    })
    expect([status, refused.error.param, refused.error.message]).toEqual([
      413,
      "input[167]",
      expect.stringContaining("Name fewer of them"),
    ])
  })

  test("items of more answers than are read at once stand where they are named", async () => {
    const ids: string[] = []
    for (let n = 0; n < 12; n += 1) {
      fake.handlers.chat = () => chatResult({ content: `answer ${n}` })
      const { json } = await send({ input: "one" })
      ids.unshift(json.output[0].id)
    }
    const named = [...ids, ids[0]].map((id) => ({ id }))
    expect((await send({ input: [...named, { role: "user", content: "two" }] })).status).toBe(200)
    const texts = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11].map((n) => `answer ${n}`)
    expect(lastCall().messages?.map(({ content }) => content)).toEqual([...texts, "two"])
    const { status, json } = await send({ input: [...named, { id: `msg_${"0".repeat(35)}` }] })
    expect([status, json.error.param]).toEqual([404, "input[13]"])
  })

  test("it stands by itself: what came before it may be deleted", async () => {
    const first = await send({ input: "one" })
    const second = await send({ input: "two", previous_response_id: first.json.id })
    expect((await ask("DELETE", first.json.id)).json).toEqual({ id: first.json.id, object: "response", deleted: true })
    expect((await ask("GET", first.json.id)).status).toBe(404)
    expect((await ask("DELETE", first.json.id)).status).toBe(404)
    await send({ input: "three", previous_response_id: second.json.id })
    expect(lastCall().messages).toHaveLength(5)
  })

  test("it is read as it was answered, by its team alone", async () => {
    const { json } = await send({ input: "one" })
    expect((await ask("GET", json.id)).json).toEqual(json)
    for (const [method, url] of [
      ["GET", json.id],
      ["DELETE", json.id],
      ["POST", `${json.id}/cancel`],
      ["GET", `${json.id}/input_items`],
    ] as const) {
      const other = await ask(method, url, "rival")
      const nowhere = await ask(method, url.replace(json.id, "resp_none"), "rival")
      expect([other.status, other.text]).toEqual([404, nowhere.text.replaceAll("resp_none", json.id)])
    }
    const going = await send({ model: "heddle/tiny", previous_response_id: json.id }, { key: "rival" })
    expect([going.status, going.json.error.param]).toEqual([404, "previous_response_id"])
    const ended = await ask("POST", `${json.id}/cancel`)
    expect([ended.status, ended.json.error.message]).toEqual([400, expect.stringContaining("has ended")])
    expect((await ask("GET", `${json.id}?stream=true`)).status).toBe(400)
  })

  test("with store: false it is not kept", async () => {
    const { json } = await send({ store: false })
    expect(json.store).toBe(false)
    expect((await ask("GET", json.id)).status).toBe(404)
    expect((await send({ previous_response_id: json.id })).json.error.message).toContain("store: false")
  })

  test("its input items are listed a page at a time", async () => {
    const first = await send({ input: "one" })
    const { json } = await send({ input: [{ role: "user", content: "two" }], previous_response_id: first.json.id })
    const list = async (query: string) => (await ask("GET", `${json.id}/input_items?${query}`)).json
    const all = await list("order=asc")
    const text = (type: string, said: string) => [expect.objectContaining({ type, text: said })]
    expect(all).toEqual({
      object: "list",
      data: [
        { type: "message", id: expect.stringMatching(/^msg_/), role: "user", content: text("input_text", "one") },
        first.json.output[0],
        { type: "message", id: expect.stringMatching(/^msg_/), role: "user", content: text("input_text", "two") },
      ],
      first_id: all.data[0].id,
      last_id: all.data[2].id,
      has_more: false,
    })
    const page = await list("limit=2")
    expect([page.data, page.has_more]).toEqual([[all.data[2], all.data[1]], true])
    expect((await list(`limit=2&after=${page.last_id}`)).data).toEqual([all.data[0]])
    expect((await ask("GET", `${json.id}/input_items?after=msg_none`)).status).toBe(404)
    expect((await ask("GET", `${json.id}/input_items?limit=0`)).status).toBe(422)
  })

  test("items that came with one id are listed by ids of their own, so that pages go through all of them", async () => {
    const texts = Array.from({ length: 5 }, (_, n) => `turn ${n}`)
    const input = texts.map((content) => ({ type: "message", id: "x", role: "user", content }))
    const { json } = await send({ input })
    const listed: { id: string; content: { text: string }[] }[] = []
    for (let after = ""; listed.length <= texts.length;) {
      const page = (await ask("GET", `${json.id}/input_items?order=asc&limit=2${after}`)).json
      listed.push(...page.data)
      if (!page.has_more) break
      after = `&after=${page.last_id}`
    }
    expect(listed.map(({ content }) => content[0]?.text)).toEqual(texts)
    expect([listed[0]?.id, new Set(listed.map(({ id }) => id)).size]).toEqual(["x", texts.length])
  })

  test("the oldest of a project go when there are too many, and all of them when their time is over", async () => {
    const { database } = app.catalog
    const first = await send({ input: "one" })
    for (let k = 0; k < 40; k++) await send({ input: "more" })
    expect((await ask("GET", first.json.id)).status).toBe(404)
    const last = await send({ input: "last" })
    const count = () =>
      database
        .selectFrom("stored_responses")
        .select((eb) => eb.fn.countAll<number>().as("n"))
        .executeTakeFirstOrThrow()
    expect((await count()).n).toBeLessThanOrEqual(40)
    await database
      .updateTable("stored_responses")
      .set({ expires_at: new Date(0) })
      .execute()
    expect((await ask("GET", last.json.id)).status).toBe(404)
    expect((await ask("DELETE", last.json.id)).status).toBe(404)
    expect(await removeExpiredResponses(database)).toBeGreaterThan(0)
    expect((await count()).n).toBe(0)
  })
})
