import http from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { EngineFailure, type EngineParams } from "../../src/engines/engine.ts"
import { FakeEngine, fakeTokens, untilCancelled } from "../../src/engines/fake-engine.ts"
import { messageAnswer, messageEvent } from "../../src/wire/inference/messages.ts"
import { type InferenceApp, openInferenceApp } from "../support/inference-app.ts"
import { call, chat, dataOf } from "../support/inference-client.ts"
import { chatResult } from "../support/chat-result.ts"
import { addModel } from "../support/test-catalog.ts"

let app: InferenceApp
const fake = new FakeEngine()
const handlers = fake.handlers
const model = "wandb-artifact:///acme/demo/m"
const tools = [{ name: "add", description: "Adds.", input_schema: { type: "object" } }]

beforeAll(async () => {
  app = await openInferenceApp(fake, { engineWaitMs: 3000 })
  await addModel(app.catalog.database, app.acme.projectId, "m")
}, 60_000)
afterAll(() => app.close())
beforeEach(() => {
  fake.handlers = { ...handlers }
  fake.calls.length = 0
})

const send = (fields: object, more: { key?: string; headers?: Record<string, string> } = {}) =>
  call(app, "POST", "/v1/messages", {
    body: { model, max_tokens: 4, messages: [{ role: "user", content: "hi" }], ...fields },
    ...more,
  })

function lastCall(): EngineParams<"chat"> {
  return fake.calls.findLast((each) => each.method === "chat")?.params as EngineParams<"chat">
}

describe("art-0.5.23 7: the answer", () => {
  test.each([model, "heddle/tiny"])(
    "art-0.5.23 7: ids and raw log-probabilities are at its root, of %s too",
    async (name) => {
      const { status, headers, json } = await send({ model: name })
      expect(status).toBe(200)
      messageAnswer.parse(json)
      expect(json).toEqual({
        id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
        type: "message",
        role: "assistant",
        model: name,
        content: [{ type: "text", text: "abcd", citations: null }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 3, output_tokens: 4 },
        prompt_token_ids: [1, 2, 3],
        token_ids: [100, 101, 102, 103],
        logprobs: [-0.5, -0.625, -0.75, -0.875],
      })
      expect(headers["request-id"]).toBe(headers["x-request-id"])
      expect(headers["x-heddle-step"]).toBe(name === model ? "0" : undefined)
    },
  )

  test("blocks stand in the order sampled; the input of a tool keeps the spelling of its numbers", async () => {
    fake.handlers.chat = () =>
      chatResult({
        reasoning: "so",
        content: "I add.",
        tool_calls: [{ id: "call_1", name: "add", arguments: '{"a": 1.0, "b": 12345678901234567890}' }],
        finish_reason: "tool_calls",
      })
    const { json, text } = await send({ tools })
    expect(json.content).toEqual([
      { type: "thinking", thinking: "so", signature: "" },
      { type: "text", text: "I add.", citations: null },
      { type: "tool_use", id: "call_1", name: "add", input: { a: 1, b: 12345678901234567000 } },
    ])
    expect(text).toContain('"input":{"a":1.0,"b":12345678901234567890}')
    expect(json.stop_reason).toBe("tool_use")
  })

  test("without parallel calls only the first is shown, and all that was sampled is there to train on", async () => {
    fake.handlers.chat = () =>
      chatResult({
        content: null,
        tool_calls: ["call_1", "call_2"].map((id) => ({ id, name: "add", arguments: "{}" })),
        finish_reason: "tool_calls",
      })
    const { json } = await send({ tools, tool_choice: { type: "auto", disable_parallel_tool_use: true } })
    expect(json.content).toEqual([{ type: "tool_use", id: "call_1", name: "add", input: {} }])
    expect(json.token_ids).toHaveLength(2)
  })

  test.each([
    [{ finish_reason: "length" }, "max_tokens", null],
    [{ finish_reason: "stop", stop_reason: "END" }, "stop_sequence", "END"],
    [{ finish_reason: "stop", stop_reason: 7 }, "end_turn", null],
  ] as const)("an end by %j is said as %s", async (choice, stop_reason, stop_sequence) => {
    fake.handlers.chat = () => chatResult({ content: "", ...choice })
    expect((await send({ stop_sequences: ["END"] })).json).toMatchObject({ content: [], stop_reason, stop_sequence })
  })
})

describe("art-0.5.23 7: the request", () => {
  test("art-0.5.23 8: the same dialogue asks the engine the same as by chat", async () => {
    const sampling = { temperature: 0.5, top_p: 0.9, top_k: 5, seed: 7 }
    await send({
      ...sampling,
      system: [
        { type: "text", text: "Be " },
        { type: "text", text: "brief.", cache_control: { type: "ephemeral" } },
      ],
      messages: [
        { role: "user", content: [{ type: "text", text: "1+2?" }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "easy", signature: "" },
            { type: "redacted_thinking", data: "xxxx" },
            { type: "text", text: "I add." },
            { type: "tool_use", id: "call_1", name: "add", input: { a: 1, b: 2 } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_1", content: [{ type: "text", text: "3" }], is_error: false },
            { type: "text", text: "And?" },
          ],
        },
      ],
      tools: [{ ...tools[0], type: "custom", cache_control: null }],
      tool_choice: { type: "any" },
      stop_sequences: ["END"],
      thinking: { type: "enabled", budget_tokens: 1024 },
      max_tokens: 9,
    })
    const asked = lastCall()
    await chat(app, {
      model,
      ...sampling,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "1+2?" },
        {
          role: "assistant",
          content: "I add.",
          reasoning: "easy",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "3" },
        { role: "user", content: "And?" },
      ],
      tools: [{ type: "function", function: { name: "add", description: "Adds.", parameters: { type: "object" } } }],
      tool_choice: "required",
      stop: ["END"],
      chat_template_kwargs: { enable_thinking: true },
      max_tokens: 9,
    })
    expect(asked).toEqual(lastCall())
  })

  test.each([
    [{ type: "disabled" }, { enable_thinking: false }],
    [{ type: "adaptive" }, { enable_thinking: true }],
  ])("thinking %j is the template's variable", async (thinking, variables) => {
    await send({ thinking })
    expect(lastCall().chat_template_kwargs).toEqual(variables)
  })

  test("an answer goes on where a last turn of the assistant ends", async () => {
    await send({
      messages: [
        { role: "user", content: "Say A" },
        { role: "assistant", content: "A is" },
      ],
    })
    expect(lastCall()).toMatchObject({ continue_final_message: true, add_generation_prompt: false })
  })

  test("an answer is held to a JSON schema", async () => {
    const schema = { type: "object", properties: { n: { maximum: 1.5 } } }
    await send({ output_config: { effort: "high", format: { type: "json_schema", schema } } })
    expect(lastCall()).toMatchObject({
      structured_output: { kind: "json", schema, param: "output_config.format" },
      chat_template_kwargs: { reasoning_effort: "high" },
    })
  })

  test("numbers of a tool's input and of a schema reach the engine as they were spelled", async () => {
    const { body } = await app.server.inject({
      method: "POST",
      url: "/v1/messages",
      headers: { "x-api-key": "acme", "content-type": "application/json" },
      payload:
        `{"model":"heddle/tiny","max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":` +
        `[{"type":"tool_use","id":"c","name":"f","input":{"a":1.0}}]},{"role":"user","content":[{"type":"tool_result",` +
        `"tool_use_id":"c"}]}],"tools":[{"name":"f","input_schema":{"maximum":2.50}}]}`,
    })
    expect(body).toContain('"type":"message"')
    const { messages, tools: given } = lastCall()
    expect(JSON.stringify(messages)).toContain('{\\"a\\":1.0}')
    expect(JSON.stringify(given)).toContain("2.5")
    expect(messages?.[2]).toEqual({ role: "tool", tool_call_id: "c", content: "" })
  })
})

describe("art-0.5.23 7: refusals in Anthropic's form", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "" } }
  const user = (block: object) => ({ messages: [{ role: "user", content: [block] }] })

  test.each<[string, object, string]>([
    ["an image", user(image), 'messages[0].content[0]: blocks of the type "image"'],
    ["a document", user({ type: "document", source: {} }), '"document"'],
    ["an image of a tool", user({ type: "tool_result", tool_use_id: "x", content: [image] }), "content[0].content[0]"],
    ["a result of nothing", user({ type: "tool_result", content: "3" }), "messages[0].content[0].tool_use_id"],
    ["a text block without text", user({ type: "text" }), "messages[0].content[0].text"],
    ["a tool of the server", { tools: [{ type: "web_search_20250305", name: "web_search" }] }, '"web_search_20250305"'],
    ["a tool that is not there", { tools, tool_choice: { type: "tool", name: "sub" } }, '"sub"'],
    ["a choice without a name", { tools, tool_choice: { type: "tool" } }, "tool_choice.name"],
    ["a choice without tools", { tool_choice: { type: "any" } }, "there are no tools"],
    [
      "a call that is asked for in a turn that goes on",
      { tools, tool_choice: { type: "any" }, messages: [{ role: "assistant", content: "I" }] },
      "tool_choice: a call that is asked for begins a turn",
    ],
    [
      "an open call at the end",
      { messages: [{ role: "assistant", content: [{ type: "tool_use", id: "c", name: "f" }] }] },
      "tool_result",
    ],
    ["several answers", { n: 2 }, "n: a request has one answer"],
    ["the name of another protocol", { stop: ["x"] }, "stop_sequences"],
    ["tools of others", { mcp_servers: [{ url: "https://x" }] }, "mcp_servers"],
    ["a template", { chat_template: "x" }, "chat_template_kwargs"],
    ["a format", { output_config: { format: { type: "xml" } } }, 'output_config.format: the type "xml"'],
    ["no limit", { max_tokens: null }, "max_tokens: "],
    ["a limit that is none", { max_tokens: 0 }, "max_tokens: "],
    ["no messages", { messages: [] }, "messages: "],
    ["a role that is none", { messages: [{ role: "tool", content: "x" }] }, "messages.0.role: "],
  ])("%s", async (_, fields, said) => {
    const { status, json } = await send(fields)
    expect(json).toEqual({
      type: "error",
      error: { type: "invalid_request_error", message: expect.stringContaining(said) },
    })
    expect(status).toBe(400)
    expect(fake.calls.filter(({ method }) => method === "chat")).toEqual([])
  })

  test.each([
    ["no such model", { model: "wandb-artifact:///acme/demo/absent" }, {}, 404, "not_found_error"],
    ["another team's model", {}, { key: "rival" }, 404, "not_found_error"],
    ["no key", {}, { key: "nobody" }, 401, "authentication_error"],
  ])("%s", async (_, fields, more, expected, type) => {
    const { status, json } = await send(fields, more)
    expect([status, json]).toEqual([expected, { type: "error", error: { type, message: expect.any(String) } }])
  })

  test("art-0.5.23 7: a thread may be created, and is not gone on with: clients then send all of it", async () => {
    const created = await send({ thread: { type: "create" } })
    expect([created.status, created.json.content[0].text]).toEqual([200, "abcd"])
    fake.calls.length = 0
    const thread = { type: "continue", previous_message_id: created.json.id }
    const { status, json } = await send({ thread, tool_choice: { type: "any" } })
    expect([status, json]).toEqual([
      404,
      {
        type: "error",
        error: {
          type: "not_found_error",
          message: expect.stringContaining(`"${created.json.id}"`),
          details: { error_code: "thread_not_found" },
        },
      },
    ])
    expect(fake.calls).toEqual([])
  })

  test("a body that is no JSON, and a path that is none", async () => {
    const headers = { authorization: "Bearer acme", "content-type": "application/json" }
    const broken = await app.server.inject({ method: "POST", url: "/v1/messages", headers, payload: "{" })
    expect([broken.statusCode, broken.json().error.type]).toEqual([400, "invalid_request_error"])
    const wrong = await app.server.inject({ method: "POST", url: "/v1/v1/messages", headers, payload: "{}" })
    expect(wrong.statusCode).toBe(404)
    expect(wrong.headers["request-id"]).toBe(wrong.headers["x-request-id"])
    expect(wrong.json()).toMatchObject({
      error: { type: "not_found_error", message: expect.stringContaining("before /v1") },
    })
  })

  test.each([
    ["out_of_memory", 529, "overloaded_error"],
    ["internal", 500, "api_error"],
  ] as const)("a failure of the engine: %s", async (kind, expected, type) => {
    fake.handlers.chat = () => {
      throw new EngineFailure(kind, "broke")
    }
    const { status, json } = await send({})
    expect([status, json.error.type]).toEqual([expected, type])
  })
})

test("art-0.5.23 7: the key may come as x-api-key, and headers and query of Anthropic's clients are taken", async () => {
  const { statusCode } = await app.server.inject({
    method: "POST",
    url: "/v1/messages?beta=true",
    headers: { "x-api-key": "acme", "anthropic-version": "2023-06-01", "content-type": "application/json" },
    payload: JSON.stringify({ model, max_tokens: 1, messages: [{ role: "user", content: "x" }] }),
  })
  expect(statusCode).toBe(200)
})

describe("art-0.5.23 7: streams", () => {
  const eventsOf = (text: string) => {
    const data = dataOf(text.replaceAll(/^event: .*\n/gm, ""))
    expect([...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)).toEqual(data.map(({ type }) => type))
    return data
  }

  test("art-0.5.23 7: blocks one after the other, the lists whole in the last message_delta", async () => {
    fake.handlers.chat = (_params, each) => {
      const tokens = fakeTokens(5)
      const deltas = [{ reasoning: "so" }, { reasoning: "." }, { content: "I " }, { content: "add." }]
      each.emit("start", { prompt_token_ids: [1, 2], cached_tokens: 1 })
      for (const [at, delta] of deltas.entries()) {
        const empty = { index: 0, content: "", reasoning: "", tool_calls: [] }
        each.emit("delta", { ...empty, ...delta, tokens: tokens.slice(at, at + 1) })
      }
      const calls = [{ index: 0, id: "call_1", name: "add", arguments: '{"a": 1}' }]
      each.emit("delta", { index: 0, content: "", reasoning: "", tool_calls: calls, tokens: tokens.slice(4) })
      return {
        ...chatResult({ finish_reason: "tool_calls", tokens: [] }),
        prompt_token_ids: [1, 2],
        completion_tokens: 5,
      }
    }
    const { status, headers, text } = await send({ stream: true, tools })
    expect(status).toBe(200)
    expect(headers["content-type"]).toMatch(/^text\/event-stream/)
    const events = eventsOf(text)
    for (const each of events) messageEvent.parse(each)
    const block = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block })
    const delta = (index: number, what: object) => ({ type: "content_block_delta", index, delta: what })
    const stop = (index: number) => ({ type: "content_block_stop", index })
    expect(events).toEqual([
      {
        type: "message_start",
        message: {
          id: expect.stringMatching(/^msg_/),
          type: "message",
          role: "assistant",
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 2, output_tokens: 0 },
          prompt_token_ids: [1, 2],
        },
      },
      block(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "so" }),
      delta(0, { type: "thinking_delta", thinking: "." }),
      delta(0, { type: "signature_delta", signature: "" }),
      stop(0),
      block(1, { type: "text", text: "", citations: null }),
      delta(1, { type: "text_delta", text: "I " }),
      delta(1, { type: "text_delta", text: "add." }),
      stop(1),
      block(2, { type: "tool_use", id: "call_1", name: "add", input: {} }),
      delta(2, { type: "input_json_delta", partial_json: '{"a": 1}' }),
      stop(2),
      {
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null },
        usage: { input_tokens: 2, output_tokens: 5 },
        prompt_token_ids: [1, 2],
        token_ids: [100, 101, 102, 103, 104],
        logprobs: [-0.5, -0.625, -0.75, -0.875, -1],
      },
      { type: "message_stop" },
    ])
  })

  test("an engine that dies in mid-stream: an error event, and no end", async () => {
    fake.handlers.chat = async (_params, each) => {
      each.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
      each.emit("delta", { index: 0, content: "a", reasoning: "", tool_calls: [], tokens: fakeTokens(1) })
      await new Promise((resolve) => setTimeout(resolve, 100))
      fake.die()
      return new Promise(() => undefined)
    }
    const events = eventsOf((await send({ stream: true })).text)
    expect(events.map(({ type }) => type)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "error",
    ])
    expect(events.at(-1)).toEqual({ type: "error", error: { type: "api_error", message: expect.any(String) } })
  })

  test.each([false, true])(
    "a client that goes away ends the sampling, and it is counted (stream %s)",
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
      const headers = { "x-api-key": "acme", "content-type": "application/json" }
      const request = http.request({ port, path: "/v1/messages", method: "POST", headers })
      request.on("error", () => undefined)
      request.end(JSON.stringify({ model, max_tokens: 4, messages: [{ role: "user", content: "x" }], stream }))
      await began.promise
      expect(app.gateway.inProgress.prompts).toBe(1)
      request.destroy()
      await cancelled.promise
      await expect.poll(() => app.gateway.inProgress.prompts).toBe(0)
    },
  )
})

test.each([false, true])(
  "law 6: the sampled tokens are in the ledgers of usage and of tokens (stream %s)",
  async (stream) => {
    const { text, headers } = await send({ stream })
    const id = /"id":"(msg_[0-9a-f]+)"/.exec(text)?.[1] ?? ""
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

describe("art-0.5.23 7: count_tokens", () => {
  const count = (body: object, key = "acme") => call(app, "POST", "/v1/messages/count_tokens", { body, key })
  const body = { model, system: "Be brief.", messages: [{ role: "user", content: "hi" }], tools }

  test("art-0.5.23 7: counts the prompt that messages would have", async () => {
    expect((await count(body)).json).toEqual({ input_tokens: 3 })
    const { params } = fake.calls.findLast(({ method }) => method === "tokenize") ?? {}
    await send(body)
    const { messages, tools: given, add_generation_prompt } = lastCall()
    expect(params).toMatchObject({ messages, tools: given, add_generation_prompt })
  })

  test("tools that the answer may not call are no part of the prompt", async () => {
    await count({ ...body, tool_choice: { type: "none" } })
    const { params } = fake.calls.findLast(({ method }) => method === "tokenize") ?? {}
    expect(params).toMatchObject({ tools: null })
  })

  test("refuses as messages do", async () => {
    expect((await count({ ...body, model: "wandb-artifact:///acme/demo/absent" })).status).toBe(404)
    expect((await count(body, "rival")).status).toBe(404)
    expect((await count({ ...body, messages: [] })).json.error.type).toBe("invalid_request_error")
    expect((await count({ ...body, tools: [{ type: "bash_20250124", name: "bash" }] })).status).toBe(400)
  })
})
