import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { EngineFailure, type EngineParams } from "../../src/engines/engine.ts"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { chatCompletion } from "../../src/wire/inference/chat.ts"
import { type InferenceApp, openInferenceApp } from "../support/inference-app.ts"
import { call, chat, dataOf, userTurn } from "../support/inference-client.ts"
import { callServer } from "../support/leaving-client.ts"
import { addCheckpoint, addModel, deleteStep, manifestSha256 } from "../support/test-catalog.ts"

let app: InferenceApp
let modelId: string
const fake = new FakeEngine()
const handlers = fake.handlers
const name = "wandb-artifact:///acme/demo/m"

beforeAll(async () => {
  app = await openInferenceApp(fake)
  modelId = await addModel(app.catalog.database, app.acme.projectId, "m")
  for (const step of [1, 2, 3]) await addCheckpoint(app.catalog.database, modelId, step, `checkpoints/m/${step}`)
  await deleteStep(app.catalog.database, modelId, 2)
}, 60_000)
afterAll(() => app.close())
beforeEach(() => {
  fake.handlers = { ...handlers }
  fake.calls.length = 0
})

function lastChat(): EngineParams<"chat"> {
  return fake.calls.findLast((each) => each.method === "chat")?.params as EngineParams<"chat">
}

describe("the answer", () => {
  test("training-api 4.5: logprobs, token ids and prompt ids are there unasked, and their lengths agree", async () => {
    const { status, json } = await chat(app, { model: name, max_tokens: 3, n: 2 })
    expect(status).toBe(200)
    chatCompletion.parse(json)
    expect(json).toMatchObject({
      object: "chat.completion",
      model: name,
      prompt_token_ids: [1, 2, 3],
    })
    expect(json.id).toMatch(/^chatcmpl-/)
    expect(json.choices).toHaveLength(2)
    expect(json.choices[1]).toEqual({
      index: 1,
      message: {
        role: "assistant",
        content: "abc",
        refusal: null,
        reasoning: null,
        reasoning_content: null,
      },
      logprobs: {
        content: [
          { token: "a", logprob: -0.5, bytes: [97], top_logprobs: [] },
          { token: "b", logprob: -0.625, bytes: [98], top_logprobs: [] },
          { token: "c", logprob: -0.75, bytes: [99], top_logprobs: [] },
        ],
        refusal: null,
      },
      finish_reason: "stop",
      stop_reason: null,
      token_ids: [100, 101, 102],
      prompt_token_ids: [1, 2, 3],
      prompt_policy_token_spans: [expect.objectContaining({ start_token: 1, end_token: 3 })],
      policy_token_spans: [expect.objectContaining({ start_token: 0, end_token: 3 })],
      heddle_ledger_key: `${json.id}:1`,
    })
    expect(json.usage).toEqual({
      prompt_tokens: 3,
      completion_tokens: 6,
      total_tokens: 9,
      prompt_tokens_details: { cached_tokens: 1 },
    })
  })

  test.each([
    [{}, false, true],
    [{ logprobs: null }, false, true],
    [{ logprobs: false }, false, true],
    [{ logprobs: true }, true, true],
    [{ return_token_ids: false }, false, false],
    [{ logprobs: true, return_token_ids: false }, true, false],
  ])("inference-api 5.3: a base model asked with %j shows logprobs only on request", async (fields, logprobs, ids) => {
    const whole = await chat(app, { model: "heddle/tiny", max_tokens: 2, ...fields })
    chatCompletion.strict().parse(whole.json)
    const streamed = await chat(app, { model: "heddle/tiny", max_tokens: 2, stream: true, ...fields })
    for (const text of [whole.text, streamed.text]) {
      expect([text.includes('"logprobs":{'), text.includes("token_ids")]).toEqual([logprobs, ids])
    }
    expect(whole.json.choices[0].message.content).toBe("ab")
  })

  test.each([[{ logprobs: false }], [{ logprobs: false, return_token_ids: false }]])(
    "inference-api 5.3: a trained model asked with %j declines logprobs; ids and the key for training stay",
    async (fields) => {
      const { json } = await chat(app, { model: name, max_tokens: 2, ...fields })
      expect(json.choices[0]).toMatchObject({
        logprobs: null,
        token_ids: [100, 101],
        prompt_token_ids: [1, 2, 3],
        heddle_ledger_key: `${json.id}:0`,
      })
      const { text } = await chat(app, { model: name, max_tokens: 2, stream: true, ...fields })
      expect(text).not.toContain('"logprobs":{')
      expect(text).toContain('"token_ids":[100]')
    },
  )

  test("training-api 4.5: tokens are `token_id:N` when asked, with their bytes", async () => {
    const { json } = await chat(app, {
      model: name,
      max_tokens: 1,
      return_tokens_as_token_ids: true,
    })
    expect(json.choices[0].logprobs.content).toEqual([
      { token: "token_id:100", logprob: -0.5, bytes: [97], top_logprobs: [] },
    ])
  })

  test("inference-api 5.2: bytes of half a character and logprobs out of range keep the answer valid JSON", async () => {
    const tokens = [
      {
        id: 7,
        logprob: -1e-9,
        bytes: [0xf0, 0x9f],
        top: [{ id: 8, logprob: null as never, bytes: [34] }],
      },
      { id: 9, logprob: -12345, bytes: [], top: [] },
    ]
    fake.handlers.chat = () => result({ tokens })
    const { json } = await chat(app, { model: "heddle/tiny", logprobs: true, top_logprobs: 1 })
    expect(json.choices[0].logprobs.content).toEqual([
      {
        token: "\ufffd",
        logprob: -1e-9,
        bytes: [0xf0, 0x9f],
        top_logprobs: [{ token: '"', logprob: -9999, bytes: [34] }],
      },
      { token: "", logprob: -12345, bytes: [], top_logprobs: [] },
    ])
    expect(json.choices[0]).not.toHaveProperty("heddle_ledger_key")
  })

  test("inference-api 5.1: tool calls, reasoning under both names, content null", async () => {
    const calls = [
      { id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' },
      { id: "call_2", name: "get_weather", arguments: "{}" },
    ]
    fake.handlers.chat = () =>
      result({ content: null, reasoning: "hm", tool_calls: calls, finish_reason: "tool_calls" })
    const tools = [{ type: "function", function: { name: "get_weather" } }]
    const both = await chat(app, { model: "heddle/tiny", tools })
    expect(both.json.choices[0].message).toEqual({
      role: "assistant",
      content: null,
      refusal: null,
      reasoning: "hm",
      reasoning_content: "hm",
      tool_calls: [
        {
          id: "call_1",
          type: "function",
          function: { name: "get_weather", arguments: '{"city":"Rome"}' },
        },
        { id: "call_2", type: "function", function: { name: "get_weather", arguments: "{}" } },
      ],
    })
    expect(both.json.choices[0].finish_reason).toBe("tool_calls")
    const one = await chat(app, { model: "heddle/tiny", tools, parallel_tool_calls: false })
    expect(one.json.choices[0].message.tool_calls).toHaveLength(1)
  })
})

test.each([false, true])(
  "engine 5.4: the choice's key brings back ids and raw logprobs, to its own project only (stream %s)",
  async (stream) => {
    const { json, text } = await chat(app, { model: `${name}:step1`, max_tokens: 2, n: 2, stream })
    const choices = stream ? dataOf(text).flatMap((chunk) => chunk.choices ?? []) : json.choices
    const keys = choices.flatMap((choice: { heddle_ledger_key?: string }) => choice.heddle_ledger_key ?? [])
    expect(keys).toHaveLength(2)
    const found = await app.ledger.find(app.acme.projectId, keys)
    expect(found.map((entry) => entry.ledger_key).toSorted()).toEqual(keys.toSorted())
    expect(found[0]).toMatchObject({
      prompt_token_ids: [1, 2, 3],
      token_ids: [100, 101],
      logprobs: [-0.5, -0.625],
    })
    expect(await app.ledger.find(app.rival.projectId, keys)).toEqual([])
  },
)

test("engine 5.4: a streamed prompt's key brings back what was sampled, also when a later prompt breaks off", async () => {
  fake.handlers.chat = (params, each) => {
    if (params.prompt !== "b") return handlers.chat?.(params, each)
    throw new EngineFailure("internal", "broken")
  }
  const body = { model: `${name}:step1`, prompt: ["a", "b"], max_tokens: 2, stream: true }
  const { text } = await call(app, "POST", "/v1/completions", { body })
  const chunks = dataOf(text)
  expect(chunks.at(-1).error.code).toBe("internal_error")
  const keys = chunks.flatMap(({ choices }) => choices?.[0].heddle_ledger_key ?? [])
  expect(keys).toHaveLength(1)
  expect(await app.ledger.find(app.acme.projectId, keys)).toMatchObject([{ token_ids: [100, 101] }])
})

function result(choice: object) {
  const defaults = {
    index: 0,
    content: "x",
    reasoning: null,
    tool_calls: [],
    finish_reason: "stop",
    stop_reason: null,
    tokens: [],
  }
  return {
    prompt_token_ids: [1],
    cached_tokens: 0,
    completion_tokens: 2,
    choices: [{ ...defaults, ...choice }],
  }
}

test.each([false, true])(
  "art-0.5.23 8: spans say which step read the prompt and sampled each choice; a base model has none (stream %s)",
  async (stream) => {
    const spansOf = async (model: string) => {
      const { json, text } = await chat(app, { model, max_tokens: 2, n: 2, stream })
      const choices: Record<string, unknown>[] = stream
        ? dataOf(text).flatMap((chunk) => chunk.choices ?? [])
        : json.choices
      return ["prompt_policy_token_spans", "policy_token_spans"].map((key) =>
        choices.flatMap(({ index, [key]: spans }) => (spans === undefined ? [] : [[index, spans]])),
      )
    }
    for (const [model, step] of [
      [name, 3],
      [`${name}:step1`, 1],
      [`${name}:step0`, 0],
    ] as const) {
      const weights = `${modelId}:step${step}`
      const span = { generation_id: weights, policy_version: step, lora_slot: weights, update_seq: step }
      const both = (spans: object[]) => [0, 1].map((index) => [index, spans])
      expect(await spansOf(model)).toEqual([
        both([{ start_token: 1, end_token: 3, ...span }]),
        both([{ start_token: 0, end_token: 2, ...span }]),
      ])
    }
    expect(await spansOf("heddle/tiny")).toEqual([[], []])
  },
)

test("art-0.5.23 8: of a prompt of one token, which nothing comes before, there is no span", async () => {
  fake.handlers.chat = () => result({ tokens: [{ id: 1, logprob: -1, bytes: [97], top: [] }] })
  const { json } = await chat(app, { model: name })
  expect(json.choices[0]).toMatchObject({ prompt_policy_token_spans: [], policy_token_spans: [{ end_token: 1 }] })
})

describe("model names (inference-api 2, training-api 4.4)", () => {
  test.each([
    [name, "3"],
    [`${name}:latest`, "3"],
    [`${name}:step1`, "1"],
    [`${name}:step0`, "0"],
    [`${name}:v1`, "1"],
    [`${name}:v3`, "3"],
    ["wandb-artifact://acme/demo/m:step3", "3"],
    [`hosted_vllm/${name}:step1`, "1"],
  ])("%s is step %s", async (model, step) => {
    const { status, json, headers } = await chat(app, { model })
    expect([status, json.model, headers["x-heddle-model"], headers["x-heddle-step"]]).toEqual([
      200,
      model,
      modelId,
      step,
    ])
    // Its content is in the name: the engine may hold what a cancelled job made of this step.
    const key = `${modelId}@${step}#${manifestSha256}`
    const adapter = step === "0" ? null : { key, path: `${app.catalog.dataDir}/checkpoints/m/${step}` }
    expect(lastChat()).toMatchObject({
      adapter,
      base: { name: "heddle/tiny", path: "/models/tiny" },
    })
  })

  test("`<name>@<step>` takes its place from OpenAI-Project", async () => {
    const { headers } = await chat(app, { model: "m@1" }, { headers: { "openai-project": "acme/demo" } })
    expect(headers["x-heddle-step"]).toBe("1")
    expect((await chat(app, { model: "m@1" })).status).toBe(404)
  })

  test("a base model by its id has no step", async () => {
    const { status, headers } = await chat(app, { model: "heddle/tiny" })
    expect([status, headers["x-heddle-model"], headers["x-heddle-step"]]).toEqual([200, "heddle/tiny", undefined])
    expect(lastChat().adapter).toBeNull()
  })

  test.each([`${name}:step2`, `${name}:step9`, `${name}:v2`, `${name}:v9`])(
    "inference-api 2 rule 5: %s is gone, and no other step answers for it",
    async (model) => {
      const { status, json } = await chat(app, { model })
      expect(status).toBe(404)
      expect(json.error).toMatchObject({
        code: "model_not_found",
        param: "model",
        type: "not_found_error",
      })
      expect(fake.calls).toEqual([])
    },
  )

  test("the error for an unknown model lists the models, and that for an unknown step names the newest", async () => {
    const unknown = await chat(app, { model: "gpt-9" })
    expect(unknown.json.error.message).toContain(`"gpt-9"`)
    expect(unknown.json.error.message).toContain(`such as heddle/tiny, ${name};`)
    const step = await chat(app, { model: `${name}:step9` })
    expect(step.json.error.message).toMatch(/the newest is :step\d+$/)
  })

  test.each([
    "wandb-artifact:///acme/demo",
    "wandb-artifact:///acme/demo/m:stepx",
    "wandb-artifact:///acme/demo/m/x",
    "no/such",
    "wandb-artifact:///acme/demo/m:step99999999999",
    "wandb-artifact:///acme/demo/m\u0000",
    "wandb-artifact:///acme/demo/m\ud800",
  ])("%j is 404, and no matter to those who ask at the same time", async (model) => {
    const [wrong, ...others] = await Promise.all(
      [{ model }, { model: name }, { model: name }].map((body) => chat(app, body)),
    )
    expect(wrong?.json.error.code).toBe("model_not_found")
    expect(others.map((other) => other.status)).toEqual([200, 200])
  })

  test("inference-api 2 rule 4: another tenant's model and an unknown one answer alike", async () => {
    const foreign = await chat(app, { model: name }, { key: "rival" })
    const unknown = await chat(app, { model: "wandb-artifact:///acme/demo/none" }, { key: "rival" })
    expect([foreign.status, unknown.status]).toEqual([404, 404])
    expect(foreign.json.error.message.replace(name, "X")).toBe(
      unknown.json.error.message.replace("wandb-artifact:///acme/demo/none", "X"),
    )
  })

  test("inference-api 2 rule 3: the newest step is fixed at admission, also for a retry after the engine died", async () => {
    const other = await addModel(app.catalog.database, app.acme.projectId, "moving")
    await addCheckpoint(app.catalog.database, other, 1, "checkpoints/moving/1")
    const key = `${other}@1#${manifestSha256}`
    const keys: unknown[] = []
    fake.handlers.chat = async (params, each) => {
      keys.push(params.adapter?.key)
      if (keys.length > 1) return handlers.chat?.(params, each)
      await addCheckpoint(app.catalog.database, other, 2, "checkpoints/moving/2")
      fake.die()
      return undefined
    }
    const { status, headers } = await chat(app, { model: "wandb-artifact:///acme/demo/moving" })
    expect([status, headers["x-heddle-step"], keys]).toEqual([200, "1", [key, key]])
  })
})

describe("request fields (inference-api 3)", () => {
  const withTool = { tools: [{ type: "function", function: { name: "a" } }] }
  const allowing = (mode: string, ...names: string[]) => ({
    type: "allowed_tools",
    allowed_tools: { mode, tools: names.map((each) => ({ type: "function", function: { name: each } })) },
  })
  test("defaults are neutral", async () => {
    await chat(app, { model: name })
    expect(lastChat()).toMatchObject({
      tools: null,
      tool_choice: "none",
      n: 1,
      add_generation_prompt: true,
      continue_final_message: false,
      chat_template_kwargs: {},
    })
    expect(lastChat().sampling).toEqual({
      max_tokens: null,
      min_tokens: 0,
      temperature: 1,
      top_p: 1,
      top_k: 0,
      min_p: 0,
      presence_penalty: 0,
      frequency_penalty: 0,
      repetition_penalty: 1,
      logit_bias: {},
      allowed_token_ids: null,
      seed: null,
      stop: [],
      stop_token_ids: [],
      ignore_eos: false,
      include_stop_str_in_output: false,
      skip_special_tokens: true,
      top_logprobs: 0,
    })
  })

  test.each([
    [{ max_tokens: 5, max_completion_tokens: 7 }, { max_tokens: 7 }],
    [{ max_tokens: 5 }, { max_tokens: 5 }],
    [
      { temperature: 0, top_p: 0.5, top_k: -1, min_p: 0.1 },
      { temperature: 0, top_p: 0.5, top_k: 0, min_p: 0.1 },
    ],
    [{ stop: "END" }, { stop: ["END"] }],
    [{ stop: ["a", "", "b", "c", "d", "e"] }, { stop: ["a", "b", "c", "d", "e"] }],
    [{ seed: 12345678901234 }, { seed: "12345678901234" }],
    [{ logit_bias: { "5": -100 } }, { logit_bias: { "5": -100 } }],
    [{ logprobs: true, top_logprobs: 20 }, { top_logprobs: 20 }],
    [
      { temperature: null, max_tokens: null, stop: null, seed: null, n: null },
      { temperature: 1, max_tokens: null, stop: [], seed: null },
    ],
  ])("%j reaches the engine as %j", async (fields, sampling) => {
    expect((await chat(app, { model: name, ...fields })).status).toBe(200)
    expect(lastChat().sampling).toMatchObject(sampling)
  })

  test.each([
    {
      user: "u",
      metadata: {},
      store: true,
      service_tier: "auto",
      prompt_cache_key: "k",
      verbosity: "low",
      some_vendor_field: [1],
    },
    {
      kv_transfer_params: { do_remote_prefill: true },
      vllm_xargs: {},
      priority: 3,
      spaces_between_special_tokens: true,
    },
    {
      response_format: { type: "text" },
      tools: [],
      modalities: ["text"],
      bad_words: [],
      echo: false,
    },
    {
      return_token_ids: true,
      return_tokens_as_token_ids: true,
      // The fields that openpipe-art 0.5.23 adds (art-0.5.23 8).
      nvext: { extra_fields: ["engine_data"] },
      chat_template_kwargs: { preserve_thinking: true },
    },
  ])("%j is accepted", async (fields) => {
    expect((await chat(app, { model: name, ...fields })).status).toBe(200)
  })

  test.each([
    ["messages", "give it as the field messages of the request"],
    ["tools", "give it as the field tools of the request"],
    ["documents", "give it as the field documents of the request"],
    ["add_generation_prompt", "give it as the field add_generation_prompt of the request"],
    ["continue_final_message", "give it as the field continue_final_message of the request"],
    ["chat_template", "give it as the field chat_template of the request"],
    ["bos_token", "the model's own is used; leave it out"],
    ["eos_token", "the model's own is used; leave it out"],
    ["tokenize", "the model's own is used; leave it out"],
    ["self", "the model's own is used; leave it out"],
  ])(
    "inference-api 4: chat_template_kwargs may not set %s, which the template has from elsewhere",
    async (field, why) => {
      const body = { model: name, messages: [{ role: "user", content: "hi" }], chat_template_kwargs: { [field]: [] } }
      const before = fake.calls.length
      for (const url of ["/v1/chat/completions", "/tokenize"]) {
        const { status, json } = await call(app, "POST", url, { body })
        const param = `chat_template_kwargs.${field}`
        expect([status, json.error]).toMatchObject([400, { param, message: `${param}: ${why}` }])
      }
      expect(fake.calls.length).toBe(before)
    },
  )

  const schema = { type: "object", properties: { score: { type: "integer" } } }
  const ofSchema = { kind: "json", schema }
  test.each([
    [{ response_format: { type: "json_object" } }, "response_format", { kind: "json", schema: { type: "object" } }],
    [
      { response_format: { type: "json_schema", json_schema: { name: "s", strict: true, schema } } },
      "response_format.json_schema.schema",
      ofSchema,
    ],
    [{ structured_outputs: { json: schema } }, "structured_outputs.json", ofSchema],
    [{ structured_outputs: { json: JSON.stringify(schema) } }, "structured_outputs.json", ofSchema],
    [
      { structured_outputs: { json_object: true } },
      "structured_outputs.json_object",
      { kind: "json", schema: { type: "object" } },
    ],
    [{ structured_outputs: { regex: "a+" } }, "structured_outputs.regex", { kind: "regex", text: "a+" }],
    [
      { structured_outputs: { choice: ["a", "b"] } },
      "structured_outputs.choice",
      { kind: "choice", options: ["a", "b"] },
    ],
    [{ structured_outputs: { grammar: "g" } }, "structured_outputs.grammar", { kind: "grammar", text: "g" }],
    [{ guided_json: schema }, "guided_json", ofSchema],
    [{ guided_regex: "a+" }, "guided_regex", { kind: "regex", text: "a+" }],
    [{ guided_choice: ["a"] }, "guided_choice", { kind: "choice", options: ["a"] }],
    [{ guided_grammar: "g" }, "guided_grammar", { kind: "grammar", text: "g" }],
  ])("inference-api 3: %j holds the answer, also of a text completion", async (fields, param, output) => {
    expect((await chat(app, { model: name, ...fields })).status).toBe(200)
    expect(lastChat().structured_output).toEqual({ ...output, param })
    expect((await call(app, "POST", "/v1/completions", { body: { model: name, prompt: "x", ...fields } })).status).toBe(
      200,
    )
    expect(lastChat().structured_output).toEqual({ ...output, param })
  })

  test.each([
    [{ response_format: { type: "structural_tag" } }, "response_format"],
    [{ response_format: { type: "json_schema" } }, "response_format"],
    [{ response_format: { type: "json_schema", json_schema: { schema: "{" } } }, "response_format.json_schema.schema"],
    [{ structured_outputs: { structural_tag: "a" } }, "structured_outputs"],
    [{ structured_outputs: { regex: "a", json_object: true } }, "structured_outputs"],
    [{ structured_outputs: { json: "[]" } }, "structured_outputs.json"],
    [{ response_format: { type: "json_object" }, guided_regex: "a" }, "guided_regex"],
    [
      {
        guided_choice: ["a"],
        tools: [{ type: "function", function: { name: "a" } }],
        tool_choice: "required",
      },
      "guided_choice",
    ],
    [{ chat_template: "{{ 1 }}" }, "chat_template"],
    [{ web_search_options: {} }, "web_search_options"],
    [{ audio: { voice: "x" } }, "audio"],
    [{ logits_processors: ["os.system"] }, "logits_processors"],
    [{ prompt_logprobs: 1, stream: true }, "prompt_logprobs"],
    [{ echo: true }, "echo"],
    [{ top_logprobs: 2 }, "top_logprobs"],
    [{ stream_options: { include_usage: true } }, "stream_options"],
    [{ add_generation_prompt: true, continue_final_message: true }, "continue_final_message"],
    [{ tools: [{ type: "custom", custom: { name: "x" } }] }, "tools[0]"],
    [{ tools: [{ type: "function" }] }, "tools[0]"],
    [{ tools: [{ type: "function", function: null }] }, "tools[0]"],
    [{ tools: [{ type: "function", function: { name: 5 } }] }, "tools[0]"],
    [{ tool_choice: "required" }, "tool_choice"],
    [{ tool_choice: { type: "function", function: { name: "x" } } }, "tool_choice"],
    [{ function_call: { name: "x" } }, "function_call"],
    [{ ...withTool, tool_choice: allowing("auto", "a", "b") }, "tool_choice"],
    [{ ...withTool, tool_choice: allowing("required") }, "tool_choice"],
    [{ ...withTool, tool_choice: { type: "custom", allowed_tools: null } }, "tool_choice"],
    [{ ...withTool, tool_choice: "required", add_generation_prompt: false }, "tool_choice"],
    [
      { ...withTool, tool_choice: { type: "function", function: { name: "a" } }, continue_final_message: true },
      "tool_choice",
    ],
    [
      {
        tools: [{ type: "function", function: { name: "a" } }],
        tool_choice: { type: "function", function: { name: "b" } },
      },
      "tool_choice",
    ],
  ])("%j is refused with 400 that names %s", async (fields, param) => {
    const { status, json } = await chat(app, { model: name, ...fields })
    expect([status, json.error.type, json.error.code, json.error.param]).toEqual([
      400,
      "invalid_request_error",
      "invalid_request",
      param,
    ])
  })

  test.each([
    [{ tool_choice: "some" }, '"auto"'],
    ...[null, 5, {}, { mode: "auto" }, { mode: "some", tools: [] }, { mode: "auto", tools: [null] }].map(
      (allowed_tools): [object, string] => [
        { ...withTool, tool_choice: { type: "allowed_tools", allowed_tools } },
        "body.tool_choice.allowed_tools",
      ],
    ),
    [{ messages: [{ role: "user", content: 5 }] }, "a text, or a list of parts"],
    [{ tools: [5] }, '{"type": "function"'],
    [{ stop: 5 }, "a text or a list of texts"],
  ])("%j is refused with what may stand there", async (fields, allowed) => {
    const { status, json } = await chat(app, { model: name, ...fields })
    expect(status).toBe(422)
    expect(json.error.message).toContain(allowed)
  })

  test.each([1000, 90_000])("a message nested %i deep is 413 and does not reach the engine", async (levels) => {
    const deep = "[".repeat(levels) + "]".repeat(levels)
    const answer = await app.server.inject({
      method: "POST",
      url: "/v1/chat/completions",
      headers: { authorization: "Bearer acme", "content-type": "application/json" },
      payload: `{"model":"${name}","messages":[{"role":"user","content":"x","deep":${deep}}]}`,
    })
    expect([answer.statusCode, answer.json().error.message]).toEqual([413, "values are nested in more than 200 levels"])
    expect(fake.calls).toEqual([])
  })

  test("fields with the names of what every object has are fields like any other unknown one", async () => {
    const { status } = await chat(app, { model: name, constructor: 1, toString: null, hasOwnProperty: {} })
    expect(status).toBe(200)
  })

  test.each([
    { temperature: 3 },
    { n: 0 },
    { n: 129 },
    { max_tokens: 0 },
    { repetition_penalty: 1e-40 },
    { repetition_penalty: 1e39 },
    { guided_choice: Array.from({ length: 10_001 }, String) },
    { top_logprobs: 21, logprobs: true },
    { messages: [] },
    { messages: [{ role: "wizard", content: "x" }] },
    { messages: "hi" },
    { seed: 1.5 },
    { model: null },
    { logit_bias: { x: 1 } },
    { cache_salt: "" },
  ])("inference-api 7: %j is a 422 with both `error` and `detail`", async (fields) => {
    const { status, json } = await chat(app, { model: name, ...fields })
    expect(status).toBe(422)
    expect(json.error.type).toBe("invalid_request_error")
    expect(json.detail[0].loc.slice(0, 2)).toEqual(["body", Object.keys(fields)[0]])
  })

  test("inference-api 4: a replayed assistant turn is accepted as we wrote it", async () => {
    const first = await chat(app, { model: name, return_tokens_as_token_ids: true })
    const replayed = {
      ...first.json.choices[0].message,
      annotations: null,
      audio: null,
      function_call: null,
      tool_calls: null,
    }
    const { status } = await chat(app, {
      model: name,
      messages: [
        { role: "user", content: [{ type: "text", text: "x" }] },
        replayed,
        { role: "tool", tool_call_id: "1", content: "y" },
      ],
    })
    expect(status).toBe(200)
  })

  test("inference-api 4: reasoning reaches the template under both names", async () => {
    await chat(app, {
      model: name,
      messages: [{ role: "assistant", content: "a", reasoning_content: "why" }],
    })
    expect(lastChat().messages).toEqual([
      { role: "assistant", content: "a", reasoning: "why", reasoning_content: "why" },
    ])
  })

  test("tools in every form clients send", async () => {
    const plain = { type: "function", function: { name: "a" } }
    await chat(app, { model: name, tools: [plain, { name: "b" }] })
    expect(lastChat()).toMatchObject({
      tools: [plain, { type: "function", function: { name: "b" } }],
      tool_choice: "auto",
    })
    await chat(app, { model: name, functions: [{ name: "c" }], function_call: { name: "c" } })
    expect(lastChat()).toMatchObject({
      tools: [{ type: "function", function: { name: "c" } }],
      tool_choice: { name: "c" },
    })
    const allowed = { type: "allowed_tools", allowed_tools: { mode: "required", tools: [plain] } }
    await chat(app, {
      model: name,
      tools: [plain, { type: "function", function: { name: "b" } }],
      tool_choice: allowed,
    })
    expect(lastChat()).toMatchObject({ tools: [plain], tool_choice: "required" })
  })

  test("reasoning_effort becomes template variables; the caller's own win", async () => {
    await chat(app, {
      model: name,
      reasoning_effort: "none",
      chat_template_kwargs: { reasoning_effort: "mine" },
    })
    expect(lastChat().chat_template_kwargs).toEqual({
      reasoning_effort: "mine",
      enable_thinking: false,
    })
  })
})

describe("errors (inference-api 7)", () => {
  const tooLong = "This model's maximum context length is 2048 tokens. However, your messages have 3000 tokens."

  test.each([
    [new EngineFailure("invalid", "template: no user turn", "messages"), 400, "invalid_request", "messages"],
    [new EngineFailure("invalid", tooLong, "messages"), 400, "context_length_exceeded", "messages"],
    [new EngineFailure("not_found", "no folder /models/gone"), 404, "model_not_found", "model"],
    [new EngineFailure("out_of_memory", "KV"), 503, "engine_overloaded", null],
    [new EngineFailure("internal", "Traceback ..."), 500, "internal_error", null],
  ])("%s", async (failure, status, code, param) => {
    fake.handlers.chat = () => {
      throw failure
    }
    const { status: answered, json } = await chat(app, { model: name })
    expect([answered, json.error.code, json.error.param]).toEqual([status, code, param])
    if (status === 500) expect(json.error.message).not.toContain("Traceback")
  })

  test("401 without a key and with an unknown one", async () => {
    const none = await app.server.inject({
      method: "POST",
      url: "/v1/chat/completions",
      payload: {},
    })
    expect(none.statusCode).toBe(401)
    expect((await chat(app, { model: name }, { key: "nobody" })).json.error).toMatchObject({
      type: "authentication_error",
      code: "invalid_api_key",
    })
  })

  test("x-request-id is on answers and errors; a trailing slash and a prefix are accepted", async () => {
    for (const url of ["/v1/chat/completions/", "/any/prefix/v1/chat/completions"]) {
      const { status, headers } = await call(app, "POST", url, {
        body: { model: name, messages: [{ role: "user", content: "x" }] },
      })
      expect([status, typeof headers["x-request-id"]]).toEqual([200, "string"])
    }
    expect((await chat(app, { model: "none" })).headers["x-request-id"]).toMatch(/^req_/)
  })

  test("inference-api 5.4: /art/capabilities is 404", async () => {
    expect((await call(app, "GET", "/art/capabilities")).status).toBe(404)
  })
})

test("a client that leaves while the engine starts leaves its place to others", async () => {
  const started = Promise.withResolvers<void>()
  fake.handlers.hello = async (params, each) => {
    await started.promise
    return handlers.hello?.(params, each)
  }
  fake.die()
  const server = new URL(await app.server.listen({ port: 0, host: "127.0.0.1" }))
  const asked = [false, true].map((stream) =>
    callServer(server, "acme", "/v1/chat/completions", { model: name, messages: userTurn, stream }),
  )
  await expect.poll(() => app.gateway.inProgress.prompts).toBe(2)
  for (const each of asked) each.leave()
  await expect.poll(() => app.gateway.inProgress.prompts, { timeout: 10_000 }).toBe(0)
  started.resolve()
  expect((await chat(app, { model: name })).status).toBe(200)
})

test("law 9, inference-api 11.4 rule 6: prompt caches are apart by tenant, step and the client's own salt", async () => {
  const saltOf = async (fields: object, key?: string) => {
    await chat(app, fields, key === undefined ? {} : { key })
    return lastChat().cache_salt
  }
  const salts = [
    await saltOf({ model: "heddle/tiny" }),
    await saltOf({ model: "heddle/tiny" }, "rival"),
    await saltOf({ model: "heddle/tiny", cache_salt: "mine" }),
    await saltOf({ model: name }),
    await saltOf({ model: `${name}:step1` }),
  ]
  expect(new Set(salts).size).toBe(5)
  expect(await saltOf({ model: "heddle/tiny" })).toBe(salts[0])
})

test("the engine gets the tenant of a chat: a user is one tenant in all projects", async () => {
  const tenantOf = async (headers: Record<string, string>, key = "acme") => {
    await chat(app, { model: "heddle/tiny" }, { key, headers })
    return lastChat().tenant
  }
  const mine = await tenantOf({})
  expect(mine).toBe(app.acme.userId)
  expect(await tenantOf({ "openai-project": "acme/another" })).toBe(mine)
  expect(await tenantOf({}, "rival")).toBe(app.rival.userId)
})
