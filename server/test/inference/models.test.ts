import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { FakeEngine, type FakeHandler, untilCancelled } from "../../src/engines/fake-engine.ts"
import { modelCard, modelList } from "../../src/wire/inference/models.ts"
import { textCompletion } from "../../src/wire/inference/text-completion.ts"
import { type InferenceApp, openInferenceApp } from "../support/inference-app.ts"
import { call, dataOf } from "../support/inference-client.ts"
import { addCheckpoint, addModel } from "../support/test-catalog.ts"

let app: InferenceApp
const fake = new FakeEngine()
const model = "wandb-artifact:///acme/demo/m"

beforeAll(async () => {
  app = await openInferenceApp(fake)
  const id = await addModel(app.catalog.database, app.acme.projectId, "m")
  await addCheckpoint(app.catalog.database, id, 1, "checkpoints/m/1")
}, 60_000)
afterAll(() => app.close())

test("inference-api 8: base models and the models of the key's entities, not each step", async () => {
  const { json } = await call(app, "GET", "/v1/models")
  modelList.parse(json)
  expect(
    json.data.map((card: { id: string; owned_by: string; root: string; parent: unknown }) => [
      card.id,
      card.owned_by,
      card.root,
      card.parent,
    ]),
  ).toEqual([
    ["heddle/tiny", "system", "heddle/tiny", null],
    [model, "acme", "heddle/tiny", "heddle/tiny"],
  ])
  const rival = await call(app, "GET", "/v1/models", { key: "rival" })
  expect(rival.json.data.map((card: { id: string }) => card.id)).toEqual(["heddle/tiny"])
})

test("inference-api 8: the list and each card have what clients of Anthropic read", async () => {
  const { json } = await call(app, "GET", "/v1/models?limit=1")
  expect(json).toMatchObject({ first_id: "heddle/tiny", last_id: model, has_more: false })
  const card = {
    type: "model",
    display_name: "heddle/tiny",
    created_at: "1970-01-01T00:00:00.000Z",
    lifecycle: "active",
  }
  expect(json.data[0]).toMatchObject(card)
  const one = await call(app, "GET", `/v1/models/${encodeURIComponent(model)}`)
  expect(one.json.created_at).toBe(new Date(one.json.created * 1000).toISOString())
})

test.each([
  [`/v1/models/${encodeURIComponent(`${model}:step1`)}`, `${model}:step1`],
  [`/v1/models/wandb-artifact:%2F%2F%2Facme%2Fdemo%2Fm:step1`, `${model}:step1`],
  [`/v1/models/${model}`, model],
  ["/v1/models/heddle/tiny", "heddle/tiny"],
  ["/v1/models/heddle%2Ftiny/", "heddle/tiny"],
  [`/some/prefix/v1/models/${encodeURIComponent(model)}`, model],
])("inference-api 1: GET %s", async (url, id) => {
  const { status, json } = await call(app, "GET", url)
  expect([status, json.id]).toEqual([200, id])
  modelCard.parse(json)
})

test.each([`${model}:step9`, "nope", "wandb-artifact:///rival/demo/m"])("GET %s is 404", async (id) => {
  const { status, json } = await call(app, "GET", `/v1/models/${encodeURIComponent(id)}`)
  expect([status, json.error.code]).toEqual([404, "model_not_found"])
})

test("inference-api 9: tokenize and detokenize with vLLM's names, with and without /v1", async () => {
  for (const prefix of ["", "/v1"]) {
    const tokens = await call(app, "POST", `${prefix}/tokenize`, { body: { model, prompt: "x" } })
    expect(tokens.json).toEqual({ tokens: [1, 2, 3], count: 3, max_model_len: 2048 })
    const text = await call(app, "POST", `${prefix}/detokenize`, {
      body: { model, tokens: [5, 6] },
    })
    expect(text.json).toEqual({ prompt: "<5><6>" })
  }
  // Whose work it is, for the turns that tenants take in the engine.
  const tenants = fake.calls.filter(({ method }) => /^(de)?tokenize$/.test(method)).map(({ params }) => params)
  expect(tenants.slice(-4)).toEqual(Array(4).fill(expect.objectContaining({ tenant: app.acme.userId })))
  expect((await call(app, "POST", "/tokenize", { body: { model } })).json.error.param).toBe("prompt")
})

test.each([
  ["x", 1, { prompt: "x" }],
  [["x", "y"], 2, { prompt: "y" }],
  [[4, 5], 1, { prompt_token_ids: [4, 5] }],
  [[[4, 5], [6]], 2, { prompt_token_ids: [6] }],
])("inference-api 1: /v1/completions takes the prompt %j", async (prompt, prompts, last) => {
  const { status, json } = await call(app, "POST", "/v1/completions", {
    body: { model, prompt, max_tokens: 2, n: 2, logprobs: 1 },
  })
  expect(status).toBe(200)
  textCompletion.parse(json)
  expect(json.choices.map((choice: { index: number }) => choice.index)).toEqual([...Array(prompts * 2).keys()])
  expect(json.choices[1]).toMatchObject({
    text: "ab",
    finish_reason: "stop",
    token_ids: [100, 101],
    prompt_token_ids: [1, 2, 3],
    logprobs: { tokens: ["a", "b"], token_logprobs: [-0.5, -0.625], text_offset: [0, 1] },
  })
  expect(json.usage).toMatchObject({ prompt_tokens: 3 * prompts, completion_tokens: 4 * prompts })
  expect(fake.calls.findLast((each) => each.method === "chat")?.params).toMatchObject(last)
})

test("inference-api 9: offsets in an echoed prompt leave out what its tokens spell in front of it, such as a BOS", async () => {
  const body = { model, prompt: "BC", echo: true, max_tokens: 2, logprobs: 1 }
  const { json } = await call(app, "POST", "/v1/completions", { body })
  expect(json.choices[0]).toMatchObject({
    text: "BCab",
    logprobs: { tokens: ["A", "B", "C", "a", "b"], text_offset: [0, 0, 1, 2, 3] },
  })
})

test.each([
  [{}, false, true],
  [{ logprobs: 0 }, true, true],
  [{ return_token_ids: false }, false, false],
])(
  "inference-api 5.3: /v1/completions of a base model asked with %j shows logprobs only on request",
  async (fields, logprobs, ids) => {
    const body = { model: "heddle/tiny", prompt: "x", max_tokens: 2, ...fields }
    const { json, text } = await call(app, "POST", "/v1/completions", { body })
    textCompletion.strict().parse(json)
    const streamed = await call(app, "POST", "/v1/completions", { body: { ...body, stream: true } })
    for (const answer of [text, streamed.text]) {
      expect([answer.includes('"logprobs":{'), answer.includes("token_ids")]).toEqual([logprobs, ids])
    }
  },
)

test("/v1/completions: when one prompt fails, the others are not sampled any further", async () => {
  const cancelled = Promise.withResolvers<void>()
  const before = fake.handlers
  const chat: FakeHandler<"chat"> = async (params, each) => {
    if (params.prompt === "bad") throw new EngineFailure("invalid", "the prompt is bad")
    await untilCancelled(each).catch(() => cancelled.resolve())
    throw new EngineFailure("cancelled", "cancelled")
  }
  fake.handlers = { ...before, chat }
  const address = await app.server.listen({ port: 0, host: "127.0.0.1" })
  const answer = await fetch(`${address}/v1/completions`, {
    method: "POST",
    headers: { authorization: "Bearer acme", "content-type": "application/json" },
    body: JSON.stringify({ model, prompt: ["good", "bad"] }),
  })
  expect(answer.status).toBe(400)
  await cancelled.promise
  fake.handlers = before
})

test("/v1/completions streams prompt after prompt, with text offsets that go on", async () => {
  const { text } = await call(app, "POST", "/v1/completions", {
    body: {
      model,
      prompt: ["x", "y"],
      max_tokens: 4,
      stream: true,
      stream_options: { include_usage: true },
    },
  })
  const events = dataOf(text)
  expect(events.at(-1)).toBe("[DONE]")
  expect(events.at(-2)).toMatchObject({
    choices: [],
    usage: { completion_tokens: 8, prompt_tokens: 6 },
  })
  const choices = events.slice(0, -2).flatMap((chunk) => chunk.choices)
  for (const index of [0, 1]) {
    const mine = choices.filter((choice) => choice.index === index)
    expect(mine.map((choice) => choice.text).join("")).toBe("abcd")
    expect(mine.flatMap((choice) => choice.logprobs?.text_offset ?? [])).toEqual([0, 1, 2, 3])
    expect(mine.at(-1).finish_reason).toBe("stop")
  }
})

test("GET /health needs no key", async () => {
  const response = await app.server.inject("/health")
  expect([response.statusCode, response.json()]).toEqual([200, { status: "ok" }])
})

describe("inference-api 2: the header OpenAI-Project gives a short name its place wherever a model is named", () => {
  const headers = { "openai-project": "acme/demo" }
  const messages = [{ role: "user", content: "x" }]

  test.each([
    ["GET", "/v1/models/m@1", undefined, { id: "m@1", owned_by: "acme", root: "heddle/tiny" }],
    ["POST", "/tokenize", { prompt: "x" }, { count: 3 }],
    ["POST", "/v1/detokenize", { tokens: [5] }, { prompt: "<5>" }],
    ["POST", "/v1/messages/count_tokens", { messages }, { input_tokens: 3 }],
    ["POST", "/v1/responses/input_tokens", { input: "x" }, { input_tokens: 3 }],
  ] as const)("%s %s", async (method, url, fields, expected) => {
    const more = fields === undefined ? {} : { body: { model: "m@1", ...fields } }
    const { status, json } = await call(app, method, url, { ...more, headers })
    expect([status, json]).toEqual([200, expect.objectContaining(expected)])
    expect((await call(app, method, url, more)).status).toBe(404)
    expect((await call(app, method, url, { ...more, headers: { "openai-project": "rival/demo" } })).status).toBe(401)
  })
})
