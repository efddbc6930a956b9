/** Attributes of spans, of every generation of conventions, become fields of calls: evaluation-store-calls 8. */
import { randomBytes } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import { jsonAttributes, jsonSpan, jsonTraces } from "../support/otlp-message.ts"

let app: EvaluationApp
let acme: EvaluationCaller
let project: string

beforeAll(async () => {
  app = await openEvaluationApp()
  acme = app.acme
  project = acme.newProject()
})
afterAll(() => app.close())

type Attributes = Parameters<typeof jsonAttributes>[0]

interface Call {
  id: string
  started_at: string
  ended_at: string
  display_name: string | null
  thread_id: string | null
  turn_id: string | null
  exception: string | null
  wb_run_id: string | null
  wb_run_step: number | null
  wb_run_step_end: number | null
  attributes: Record<string, unknown>
  inputs: Record<string, unknown>
  output: unknown
  summary: { usage?: object; weave: object }
}

/** Sends one span with these attributes; returns its call without the raw span, and the call's JSON text. */
async function sent(attributes: Attributes, more: object = {}): Promise<{ call: Call; text: string }> {
  const id = randomBytes(8).toString("hex")
  const body = jsonTraces(jsonSpan(randomBytes(16).toString("hex"), id, attributes, more))
  const answer = await acme.post("/otel/v1/traces", body, { project_id: project })
  expect([answer.status, answer.body], answer.text).toEqual([200, {}])
  const read = await acme.post("/call/read", { project_id: project, id })
  const { call } = read.body as { call: Call }
  delete call.attributes["otel_span"]
  return { call, text: read.text }
}

const generations: [string, Attributes, Partial<Call>][] = [
  [
    "OpenTelemetry 1.27, prompts as attributes with numbers (OpenLLMetry)",
    {
      "gen_ai.system": "OpenAI",
      "gen_ai.request.model": "gpt-4o-mini",
      "gen_ai.request.temperature": 0.5,
      "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
      "gen_ai.prompt.0.role": "system",
      "gen_ai.prompt.0.content": "be brief",
      "gen_ai.prompt.1.role": "user",
      "gen_ai.prompt.1.content": "hi",
      "gen_ai.completion.0.role": "assistant",
      "gen_ai.completion.0.finish_reason": "tool_calls",
      "gen_ai.completion.0.tool_calls.0.name": "search",
      "gen_ai.completion.0.tool_calls.0.arguments": '{"q": "x", "n": 1.0}',
      "gen_ai.usage.prompt_tokens": 12n,
      "gen_ai.usage.completion_tokens": 3n,
      "llm.usage.total_tokens": 15n,
      "traceloop.span.kind": "workflow",
    },
    {
      inputs: {
        "gen_ai.prompt": [
          { role: "system", content: "be brief" },
          { role: "user", content: "hi" },
        ],
      },
      output: {
        "gen_ai.completion": [
          {
            role: "assistant",
            finish_reason: "tool_calls",
            tool_calls: [{ name: "search", arguments: { q: "x", n: 1 } }],
          },
        ],
      },
      attributes: {
        system: "OpenAI",
        kind: "workflow",
        model: "gpt-4o-mini-2024-07-18",
        model_parameters: { model: "gpt-4o-mini", temperature: 0.5 },
      },
      summary: {
        usage: { "gpt-4o-mini-2024-07-18": { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } },
        weave: expect.anything() as object,
      },
    },
  ],
  [
    "OpenTelemetry 1.37, messages as JSON",
    {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude",
      "gen_ai.conversation.id": "conv-1",
      "gen_ai.agent.name": "helper",
      "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
      "gen_ai.output.messages": '[{"role":"assistant","parts":[],"finish_reason":"stop"}]',
      "gen_ai.system_instructions": '[{"type":"text","content":"be kind"}]',
      "gen_ai.tool.definitions": '[{"name":"search"}]',
      "gen_ai.usage.input_tokens": 7n,
      "gen_ai.usage.output_tokens": "5",
      "gen_ai.usage.cache_read.input_tokens": 2n,
      "gen_ai.response.finish_reasons": { arrayValue: { values: [{ stringValue: "stop" }] } },
    },
    {
      inputs: { "gen_ai.input.messages": [{ role: "user", parts: [{ type: "text", content: "hi" }] }] },
      output: { "gen_ai.output.messages": [{ role: "assistant", parts: [], finish_reason: "stop" }] },
      thread_id: "conv-1",
      attributes: {
        system: [{ type: "text", content: "be kind" }],
        model: "claude",
        provider: "anthropic",
        model_parameters: { model: "claude" },
        agent: "helper",
        tools: [{ name: "search" }],
        operation: "chat",
        finish_reasons: ["stop"],
      },
      summary: {
        usage: { claude: { input_tokens: 7, output_tokens: 5, total_tokens: 12, cache_read_input_tokens: 2 } },
        weave: expect.anything() as object,
      },
    },
  ],
  [
    "OpenInference",
    {
      "openinference.span.kind": "LLM",
      "input.value": '{"messages": [{"role": "user", "content": "hi"}]}',
      "input.mime_type": "application/json",
      "llm.input_messages.0.message.role": "user",
      "output.value": "hello",
      "llm.model_name": "m",
      "llm.provider": "openai",
      "llm.system": "openai",
      "llm.invocation_parameters": '{"temperature": 1.0}',
      "llm.token_count.prompt": 4n,
      "llm.token_count.completion": 2n,
      "llm.token_count.total": 6n,
      "session.id": "s-1",
    },
    {
      inputs: { "input.value": { messages: [{ role: "user", content: "hi" }] } },
      output: { "output.value": "hello" },
      thread_id: "s-1",
      turn_id: null,
      attributes: {
        system: "openai",
        kind: "LLM",
        model: "m",
        provider: "openai",
        model_parameters: { temperature: 1 },
      },
      summary: {
        usage: { m: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 } },
        weave: expect.anything() as object,
      },
    },
  ],
  [
    "OpenInference with its whole input and output hidden",
    {
      "input.mime_type": "application/json",
      "llm.input_messages.0.message.role": "user",
      "llm.input_messages.0.message.content": "hi",
      "llm.output_messages.0.message.role": "assistant",
      "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "search",
    },
    {
      inputs: { "llm.input_messages": [{ message: { role: "user", content: "hi" } }] },
      output: {
        "llm.output_messages": [
          { message: { role: "assistant", tool_calls: [{ tool_call: { function: { name: "search" } } }] } },
        ],
      },
    },
  ],
  [
    "Vercel",
    {
      "ai.operationId": "ai.generateText",
      "ai.model.id": "gpt-4o",
      "ai.model.provider": "openai.chat",
      "ai.prompt.messages": '[{"role":"user","content":"hi"}]',
      "ai.response.text": "hello",
      "ai.usage.promptTokens": 3n,
      "ai.usage.completionTokens": 4n,
    },
    {
      inputs: { "ai.prompt": { messages: [{ role: "user", content: "hi" }] } },
      output: { "ai.response": { text: "hello" } },
      attributes: { model: "gpt-4o", provider: "openai.chat", operation: "ai.generateText" },
      summary: {
        usage: { "gpt-4o": { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
        weave: expect.anything() as object,
      },
    },
  ],
  [
    "MLflow",
    { "mlflow.spanInputs": '{"q": 1}', "mlflow.spanOutputs": '"text"' },
    { inputs: { "mlflow.spanInputs": { q: 1 } }, output: { "mlflow.spanOutputs": '"text"' } },
  ],
  [
    "Pydantic AI",
    { "pydantic_ai.all_messages": '[{"role":"user"}]', final_result: "done", "gen_ai.agent.name": "a" },
    {
      inputs: { "pydantic_ai.all_messages": [{ role: "user" }] },
      output: { final_result: "done" },
      attributes: { agent: "a" },
    },
  ],
  [
    "Logfire, and Pydantic AI before version 1: messages as a list of events in one attribute",
    {
      "logfire.msg_template": "Responses API with {gen_ai.request.model!r}",
      "logfire.msg": "Responses API with 'gpt-4o'",
      "gen_ai.request.model": "gpt-4o",
      request_data: '{"model":"gpt-4o","stream":false}',
      events: JSON.stringify([
        { "event.name": "gen_ai.system.message", role: "system", content: "Be kind." },
        { "event.name": "gen_ai.user.message", role: "user", content: "hi", "gen_ai.message.index": 0 },
        { "event.name": "gen_ai.choice", index: 0, message: { role: "assistant", content: "Hello", n: null } },
        { "event.name": "of.another.kind", content: "x" },
      ]),
    },
    {
      display_name: "Responses API with 'gpt-4o'",
      inputs: {
        "events.gen_ai.user.message": [
          { role: "system", content: "Be kind." },
          { role: "user", content: "hi", gen_ai: { message: { index: "0" } } },
        ],
      },
      output: {
        "events.gen_ai.choice": [
          { role: "assistant", index: "0", message: { role: "assistant", content: "Hello", n: null } },
        ],
      },
    },
  ],
  [
    "an attribute `events` that holds something else",
    { events: '[{"name":"click"},"gen_ai.choice",null]', input: "x" },
    { inputs: { input: "x" }, output: null },
  ],
  [
    "Traceloop's workflows",
    { "traceloop.entity.input": '{"args": []}', "traceloop.entity.output": "[1]", "traceloop.span.kind": "task" },
    {
      inputs: { "traceloop.entity.input": { args: [] } },
      output: { "traceloop.entity.output": [1] },
      attributes: { kind: "task" },
    },
  ],
  [
    "Google's agents",
    {
      "gcp.vertex.agent.tool_call_args": '{"city":"Rome"}',
      "gcp.vertex.agent.tool_response": '{"t":20}',
      "gcp.vertex.agent.session_id": "sess",
    },
    {
      inputs: { "gcp.vertex.agent.tool_call_args": { city: "Rome" } },
      output: { "gcp.vertex.agent.tool_response": { t: 20 } },
      thread_id: "sess",
    },
  ],
  [
    "Langfuse",
    {
      "langfuse.observation.input": '{"a":1}',
      "langfuse.observation.output": "x",
      "langfuse.startTime": "2026-02-03T04:05:06.789Z",
      "langfuse.endTime": "2026-02-03T04:05:07.789123+00:00",
    },
    {
      inputs: { "langfuse.observation.input": { a: 1 } },
      output: { "langfuse.observation.output": "x" },
      started_at: "2026-02-03T04:05:06.789000Z",
      ended_at: "2026-02-03T04:05:07.789123Z",
    },
  ],
  [
    "Langfuse, with counts as OpenAI has them",
    {
      "langfuse.observation.type": "generation",
      "langfuse.observation.model.name": "gpt-4o",
      "langfuse.observation.usage_details":
        '{"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17, "prompt_tokens_details": {"cached_tokens": 4}}',
    },
    {
      attributes: { kind: "generation", model: "gpt-4o" },
      summary: {
        usage: {
          "gpt-4o": { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17, cache_read_input_tokens: 4 },
        },
        weave: expect.anything() as object,
      },
    },
  ],
  [
    "Langfuse, with counts as it names them",
    {
      "langfuse.observation.model.name": "claude",
      "langfuse.observation.usage_details":
        '{"input": 8, "output": 5, "input_cache_read": 4, "input_cache_creation": 2}',
    },
    {
      summary: {
        usage: {
          claude: {
            // Langfuse's `input` leaves out what the cache held.
            input_tokens: 14,
            output_tokens: 5,
            total_tokens: 19,
            cache_read_input_tokens: 4,
            cache_creation_input_tokens: 2,
          },
        },
        weave: expect.anything() as object,
      },
    },
  ],
  [
    "Langfuse, with counts as its wrapper of OpenAI's npm client splits them",
    {
      "langfuse.observation.model.name": "m",
      "langfuse.observation.usage_details":
        '{"input":1,"output":2,"total":17,"input_cached_tokens":11,"output_reasoning_tokens":3}',
    },
    {
      summary: {
        usage: { m: { input_tokens: 12, output_tokens: 5, total_tokens: 17, cache_read_input_tokens: 11 } },
        weave: expect.anything() as object,
      },
    },
  ],
  [
    "Langfuse, with a total that says that the parts are counted already",
    {
      "langfuse.observation.model.name": "m",
      "langfuse.observation.usage_details": '{"input":12,"output":5,"total":17,"input_cached_tokens":11}',
    },
    {
      summary: {
        usage: { m: { input_tokens: 12, output_tokens: 5, total_tokens: 17, cache_read_input_tokens: 11 } },
        weave: expect.anything() as object,
      },
    },
  ],
  [
    "Mastra",
    {
      "gen_ai.operation.name": "model_generation",
      "mastra.span.type": "model_generation",
      "mastra.model_generation.input": '{"messages":[{"role":"user","content":"1+1="}]}',
      "mastra.model_generation.output": '{"text":"2"}',
    },
    {
      attributes: { kind: "model_generation", operation: "model_generation" },
      inputs: { "mastra.model_generation.input": { messages: [{ role: "user", content: "1+1=" }] } },
      output: { "mastra.model_generation.output": { text: "2" } },
    },
  ],
  [
    "Genkit",
    { "genkit:type": "action", "genkit:input": '{"a":1}', "genkit:output": '{"b":2}' },
    { attributes: { kind: "action" }, inputs: { "genkit:input": { a: 1 } }, output: { "genkit:output": { b: 2 } } },
  ],
  [
    "promptfoo",
    {
      "gen_ai.request.model": "m",
      "promptfoo.request.body": "1+1=",
      "promptfoo.response.body": "2",
    },
    {
      attributes: { model: "m", model_parameters: { model: "m" } },
      inputs: { "promptfoo.request.body": "1+1=" },
      output: { "promptfoo.response.body": "2" },
    },
  ],
  [
    "plain names, whose object is the inputs",
    { input: '{"a": 1}', output: '["b"]' },
    { inputs: { a: 1 }, output: ["b"] },
  ],
  ["plain names without an object", { inputs: "text", outputs: 0n }, { inputs: { inputs: "text" }, output: 0 }],
  [
    "names below a plain name",
    { "input.question": "why", "output.answer": "so" },
    { inputs: { question: "why" }, output: { answer: "so" } },
  ],
  [
    "a tool's call",
    {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "search",
      "gen_ai.tool.call.id": "call_1",
      "gen_ai.tool.call.arguments": '{"q":"x"}',
      "gen_ai.tool.call.result": "found",
    },
    {
      inputs: { "gen_ai.tool.call.arguments": { q: "x" } },
      output: { "gen_ai.tool.call.result": "found" },
      attributes: { operation: "execute_tool", tool_name: "search", tool_call_id: "call_1" },
    },
  ],
  [
    "Weights & Biases",
    {
      "wandb.display_name": "shown",
      "wandb.thread_id": "t",
      "wandb.is_turn": true,
      "wandb.attributes": '{"team": "a", "kind": "mine"}',
      "wandb.wb_run_id": "run-1",
      "wandb.wb_run_step": 3n,
      "wandb.wb_run_step_end": "4",
      "weave.span.kind": "tool",
    },
    {
      display_name: "shown",
      thread_id: "t",
      attributes: { team: "a", kind: "mine" },
      wb_run_step: 3,
      wb_run_step_end: 4,
    },
  ],
  [
    "Weave's own spelling",
    {
      "weave.operation.name": "chat",
      "weave.agent.name": "helper",
      "weave.conversation.id": "c",
      "weave.provider.name": "openai",
      "weave.request.model": "gpt-4o",
      "weave.response.model": "gpt-4o-2024-08-06",
      "weave.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]',
      "weave.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}]',
      "weave.usage.input_tokens": 12n,
      "weave.usage.output_tokens": 3n,
      "weave.usage.cache_read.input_tokens": 4n,
      "weave.usage.cache_creation.input_tokens": 1n,
    },
    {
      inputs: { "weave.input.messages": [{ role: "user", parts: [{ type: "text", content: "hi" }] }] },
      output: { "weave.output.messages": [{ role: "assistant", parts: [{ type: "text", content: "hello" }] }] },
      attributes: { model: "gpt-4o-2024-08-06", provider: "openai", agent: "helper", operation: "chat" },
      thread_id: "c",
      summary: {
        usage: {
          "gpt-4o-2024-08-06": {
            input_tokens: 12,
            output_tokens: 3,
            total_tokens: 15,
            cache_read_input_tokens: 4,
            cache_creation_input_tokens: 1,
          },
        },
        weave: expect.anything() as object,
      },
    },
  ],
  [
    "nothing that is known",
    { "http.route": "/x", "http.status_code": 200n, retries: 1.5, list: '[{"a": 1}]' },
    {
      inputs: {},
      output: null,
      attributes: { http: { route: "/x", status_code: 200 }, retries: 1.5, list: [{ a: 1 }] },
    },
  ],
  [
    "names that would reach a prototype",
    {
      "input.__proto__.polluted": "yes",
      "input.constructor.prototype.polluted": "yes",
      "gen_ai.request.__proto__": "x",
    },
    {
      inputs: JSON.parse(
        '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}',
      ) as Call["inputs"],
    },
  ],
]

test.each(generations)("calls 8: attributes of %s", async (_name, attributes, expected) => {
  const { call } = await sent(attributes)
  for (const [field, value] of Object.entries(expected)) expect(call[field as keyof Call], field).toEqual(value)
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
})

test("calls 8: the turn of a thread is the span itself, and a run is named in full", async () => {
  const { call } = await sent({ "wandb.thread_id": "t", "wandb.is_turn": true, "wandb.wb_run_id": "run-1" })
  expect([call.turn_id, call.wb_run_id]).toEqual([call.id, `${project}/run-1`])
  const { call: other } = await sent({ "wandb.thread_id": "t", "wandb.is_turn": "false", "wandb.wb_run_id": "a/b/c" })
  expect([other.turn_id, other.wb_run_id]).toEqual([null, "a/b/c"])
  expect((await sent({ "wandb.is_turn": true })).call.turn_id).toBeNull()
})

test("calls 8: numbers and JSON in attributes keep their spelling", async () => {
  const { text } = await sent({
    "input.value": '{"big": 12345678901234567890, "one": 1.0, "nul": "\\u0000", "n": NaN}',
    "output.value": { doubleValue: 2 },
    "wandb.attributes": '{"id": 9007199254740993}',
  })
  expect(text).toContain(
    '"inputs":{"input.value":{"big": 12345678901234567890, "one": 1.0, "nul": "\\u0000", "n": null}}',
  )
  expect(text).toContain('"output":{"output.value":2.0}')
  expect(text).toContain('"id":9007199254740993')
})

test("calls 8: messages that came as events of the span", async () => {
  const event = (name: string, attributes: Attributes) => ({ name, attributes: jsonAttributes(attributes) })
  const { call } = await sent(
    { "gen_ai.system": "openai" },
    {
      events: [
        event("gen_ai.system.message", { content: "be brief" }),
        event("other", { content: "no" }),
        event("gen_ai.user.message", { content: "hi", role: "customer" }),
        event("gen_ai.tool.message", { content: '{"found": 1}', id: "call_1" }),
        event("gen_ai.choice", { index: 0n, message: '{"content": "hello"}', finish_reason: "stop" }),
      ],
    },
  )
  expect(call.inputs).toEqual({
    "events.gen_ai.user.message": [
      { role: "system", content: "be brief" },
      { content: "hi", role: "customer" },
      { role: "tool", content: { found: 1 }, id: "call_1" },
    ],
  })
  expect(call.output).toEqual({
    "events.gen_ai.choice": [{ role: "assistant", index: 0, message: { content: "hello" }, finish_reason: "stop" }],
  })
  const { call: details } = await sent(
    {},
    {
      events: [
        event("gen_ai.client.inference.operation.details", {
          "gen_ai.input.messages": '[{"role":"user"}]',
          "gen_ai.output.messages": '[{"role":"assistant"}]',
        }),
      ],
    },
  )
  expect(details.inputs).toEqual({ "gen_ai.input.messages": [{ role: "user" }] })
  expect(details.output).toEqual({ "gen_ai.output.messages": [{ role: "assistant" }] })
})

test("calls 8: times in attributes may be seconds or nanoseconds since 1970", async () => {
  const { call } = await sent({
    "langfuse.startTime": 1_770_091_506.789_123,
    "langfuse.endTime": 1_770_091_507_000_000_001n,
  })
  expect(call).toMatchObject({ started_at: "2026-02-03T04:05:06.789123Z", ended_at: "2026-02-03T04:05:07.000000Z" })
})

test("calls 8: a span that failed has an exception, also without a message", async () => {
  const failed = { code: "STATUS_CODE_ERROR" }
  const thrown = {
    name: "exception",
    attributes: jsonAttributes({ "exception.type": "ValueError", "exception.message": "bad value" }),
  }
  expect((await sent({}, { status: { ...failed, message: "no" }, events: [thrown] })).call.exception).toBe("no")
  expect((await sent({}, { status: failed, events: [thrown] })).call.exception).toBe("bad value")
  const { call } = await sent({}, { status: { code: 2 } })
  expect(call.exception).toBe("the span's status is ERROR, without a message")
  expect(call.summary.weave).toMatchObject({ status: "error" })
  expect((await sent({}, { status: { code: 1 }, events: [thrown] })).call.exception).toBeNull()
})

test("calls 8: Langfuse's clients tell a failure by the observation's level, and leave the status unset", async () => {
  const level = "langfuse.observation.level"
  const broken = { [level]: "ERROR", "langfuse.observation.status_message": "it broke" }
  const { call } = await sent(broken)
  expect([call.exception, call.summary.weave]).toMatchObject(["it broke", { status: "error" }])
  expect((await sent({ [level]: "ERROR" })).call.exception).toBe("the span's status is ERROR, without a message")
  expect((await sent({ ...broken, [level]: "WARNING" })).call.exception).toBeNull()
  expect((await sent(broken, { status: { code: 1 } })).call.exception).toBeNull()
  expect((await sent(broken, { status: { code: 2, message: "no" } })).call.exception).toBe("no")
})

test("calls 8: mapped fields are searched, sorted and priced like those of any call", async () => {
  const own = acme.newProject()
  const spans = [3n, 1n, 2n].map((tokens) =>
    jsonSpan(randomBytes(16).toString("hex"), randomBytes(8).toString("hex"), {
      "input.value": `{"score": ${tokens}}`,
      "llm.model_name": "m-1",
      "llm.token_count.prompt": tokens,
      "llm.token_count.completion": 1n,
    }),
  )
  await acme.post("/otel/v1/traces", jsonTraces(...spans), { project_id: own })
  const calls = (await acme.lines("/calls/stream_query", {
    project_id: own,
    sort_by: [{ field: "inputs.input\\.value.score", direction: "desc" }],
  })) as Call[]
  expect(calls.map(({ inputs }) => inputs)).toEqual([3, 2, 1].map((score) => ({ "input.value": { score } })))
  const stats = await acme.post("/calls/stats", {
    project_id: own,
    start: "2026-01-02T00:00:00Z",
    end: "2026-01-03T00:00:00Z",
    usage_metrics: [{ metric: "input_tokens" }],
  })
  const { usage_buckets } = stats.body as { usage_buckets: { model: string; sum_input_tokens: number }[] }
  expect(usage_buckets.filter((one) => one.sum_input_tokens > 0)).toMatchObject([{ model: "m-1", sum_input_tokens: 6 }])
})

test("calls 8: a count that is told under the names of two conventions counts once", async () => {
  const { call } = await sent({
    "gen_ai.response.model": "m-2",
    "gen_ai.usage.input_tokens": 10n,
    "gen_ai.usage.output_tokens": 4n,
    "ai.usage.promptTokens": 10n,
    "ai.usage.completionTokens": 4n,
  })
  expect(call.summary.usage).toEqual({ "m-2": { input_tokens: 10, output_tokens: 4, total_tokens: 14 } })
  const { body } = await acme.post("/calls/usage", { project_id: project, call_ids: [call.id] })
  expect(body).toMatchObject({
    call_usage: { [call.id]: { "m-2": { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 } } },
  })
  const { call: mixed } = await sent({ "gen_ai.usage.input_tokens": 3n, "llm.token_count.completion": 2n })
  expect(mixed.summary.usage).toEqual({ usage: { input_tokens: 3, completion_tokens: 2, total_tokens: 5 } })
})

test("calls 4.1: the outer span of Vercel's AI SDK and the request inside of it are one request", async () => {
  const own = acme.newProject()
  const [trace, outer, request] = [randomBytes(16), randomBytes(8), randomBytes(8)].map((id) => id.toString("hex"))
  const attributes = { "ai.model.id": "gpt-4o", "ai.usage.promptTokens": 10n, "ai.usage.completionTokens": 4n }
  const answered = {
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.response.model": "gpt-4o-2024-08-06",
    "gen_ai.usage.input_tokens": 10n,
    "gen_ai.usage.output_tokens": 4n,
  }
  const spans = [
    jsonSpan(trace as string, outer as string, { "ai.operationId": "ai.generateText", ...attributes }),
    jsonSpan(
      trace as string,
      request as string,
      { "ai.operationId": "ai.generateText.doGenerate", ...attributes, ...answered },
      { parentSpanId: outer },
    ),
  ]
  await acme.post("/otel/v1/traces", jsonTraces(...spans), { project_id: own })
  const usage = await acme.post("/calls/usage", { project_id: own, call_ids: [outer] })
  const counted = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 }
  expect(usage.body).toEqual({
    call_usage: { [outer as string]: { "gpt-4o-2024-08-06": expect.objectContaining(counted) as object } },
    unfinished_call_ids: [],
  })
  const stats = await acme.post("/calls/stats", {
    project_id: own,
    start: "2026-01-02T00:00:00Z",
    end: "2026-01-03T00:00:00Z",
    granularity: 86_400,
    usage_metrics: [{ metric: "total_tokens" }],
  })
  expect(stats.body).toMatchObject({ usage_buckets: [{ model: "gpt-4o-2024-08-06", sum_total_tokens: 14 }] })
})

test("calls 8: stored spans are mapped again to the same, and what they meant before is written over", async () => {
  const own = acme.newProject()
  const ids = generations.map(() => randomBytes(8).toString("hex"))
  const events = [{ name: "gen_ai.user.message", attributes: jsonAttributes({ content: "hi" }) }]
  const spans = generations.map(([, attributes], index) =>
    jsonSpan(randomBytes(16).toString("hex"), ids[index] as string, attributes, { events }),
  )
  await acme.post("/otel/v1/traces", jsonTraces(...spans), { project_id: own })
  const read = () => acme.post("/calls/stream_query", { project_id: own, sort_by: [{ field: "id", direction: "asc" }] })
  const before = await read()
  // Changes the row to what a server would have stored that knew none of the names.
  const { text } = await acme.post("/call/read", { project_id: own, id: ids[0] })
  const { traces } = app.app.stores
  const [row] = await traces.rows<{ project_id: string; sort_time: string }>(
    "select project_id, sort_time from calls_v2 where id = {id:String}",
    { id: ids[0] ?? "" },
  )
  await traces.insert("calls_v2", JSON.stringify({ ...row, id: ids[0], inputs: [{}], summary: [{}] }))
  expect((await acme.post("/call/read", { project_id: own, id: ids[0] })).text).not.toBe(text)
  const answer = await acme.post("/otel/remap", { project_id: own })
  expect(answer).toMatchObject({ status: 200, body: { remapped: generations.length } })
  expect((await read()).text).toBe(before.text)
  expect((await app.rival.post("/otel/remap", { project_id: own })).status).toBe(403)
})

test("calls 8: JSON over several lines, and JSON that ClickHouse's reader refuses, is stored and searched", async () => {
  const own = acme.newProject()
  const id = randomBytes(8).toString("hex")
  const span = jsonSpan(randomBytes(16).toString("hex"), id, {
    "input.value": '{\n  "a": 1,\n  "large": 99999999999999999999,\n  "half": "\\ud800"\n}',
  })
  expect((await acme.post("/v1/traces", jsonTraces(span), { project_id: own })).status).toBe(200)
  const answer = await acme.post("/calls/stream_query", {
    project_id: own,
    query: { $expr: { $eq: [{ $getField: "inputs.input\\.value.a" }, { $literal: 1 }] } },
  })
  expect(answer.text).toContain('"large": 99999999999999999999')
  expect(answer.text).toContain('"half": "\\ud800"')
})

/** The lists of names in the contract; when a span has two of a list, the earlier counts. */
const listed: [of: string, names: string[], read: (call: Call) => unknown][] = [
  [
    "inputs",
    `ai.prompt gen_ai.prompt input.value mlflow.spanInputs gen_ai.input.messages
      pydantic_ai.all_messages traceloop.entity.input gcp.vertex.agent.tool_call_args
      gcp.vertex.agent.llm_request input inputs`.split(/\s+/),
    ({ inputs }) => Object.entries(inputs),
  ],
  [
    "output",
    `ai.response gen_ai.completion output.value gen_ai.output.messages mlflow.spanOutputs
      final_result gen_ai.content.completion traceloop.entity.output gcp.vertex.agent.tool_response
      gcp.vertex.agent.llm_response output outputs`.split(/\s+/),
    ({ output }) => (typeof output === "object" ? Object.entries(output as object) : output),
  ],
  [
    "attributes.system",
    ["gen_ai.system", "llm.system", "gen_ai.system_instructions", "system_prompt"],
    attribute("system"),
  ],
  ["attributes.kind", ["weave.span.kind", "traceloop.span.kind", "openinference.span.kind"], attribute("kind")],
  [
    "attributes.model",
    ["gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id"],
    attribute("model"),
  ],
  ["attributes.provider", ["llm.provider", "ai.model.provider"], attribute("provider")],
  ["attributes.model_parameters", ["gen_ai.request", "llm.invocation_parameters"], attribute("model_parameters")],
  ["attributes.agent", ["gen_ai.agent.name"], attribute("agent")],
  ["attributes.tools", ["gen_ai.agent.tools"], attribute("tools")],
  ["attributes.operation", ["gen_ai.operation.name"], attribute("operation")],
  ["thread_id", ["wandb.thread_id", "gcp.vertex.agent.session_id"], ({ thread_id }) => thread_id],
  ["display_name", ["wandb.display_name"], ({ display_name }) => display_name],
]

function attribute(name: string) {
  return ({ attributes }: Call) => attributes[name]
}

const usageNames = {
  input_tokens: ["gen_ai.usage.input_tokens"],
  prompt_tokens: ["gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.promptTokens"],
  completion_tokens: ["gen_ai.usage.completion_tokens", "llm.token_count.completion", "ai.usage.completionTokens"],
  output_tokens: ["gen_ai.usage.output_tokens"],
  total_tokens: ["llm.usage.total_tokens", "llm.token_count.total"],
}

/**
 * Calls of one span for each position of the list; a span has the names from there on, each with its position as value.
 */
async function fromEach(names: readonly string[], value: (place: number) => string | bigint) {
  const own = acme.newProject()
  const ids = names.map(() => randomBytes(8).toString("hex"))
  const spans = names.map((_, from) => {
    const attributes = Object.fromEntries(names.flatMap((name, place) => (place < from ? [] : [[name, value(place)]])))
    return jsonSpan(randomBytes(16).toString("hex"), ids[from] as string, attributes)
  })
  const answer = await acme.post("/otel/v1/traces", jsonTraces(...spans), { project_id: own })
  expect([answer.status, answer.body]).toEqual([200, {}])
  const calls = (await acme.lines("/calls/stream_query", { project_id: own })) as Call[]
  return ids.map((id) => calls.find((call) => call.id === id) as Call)
}

test.each(listed)("calls 8: every name of %s, the first of those that are there", async (of, names, read) => {
  const calls = await fromEach(names, (place) => `value ${place}`)
  const expected = names.map((name, place) => {
    if (of === "inputs" || (of === "output" && !/^outputs?$/.test(name))) return [[name, `value ${place}`]]
    return `value ${place}`
  })
  expect(calls.map(read)).toEqual(expected)
})

test.each(Object.entries(usageNames))(
  "calls 8: every name of %s, under usage without a model",
  async (count, names) => {
    const calls = await fromEach(names, (place) => BigInt(place + 1))
    expect(calls.map(({ summary }) => summary.usage)).toEqual(
      names.map((_, place) => ({ usage: { [count]: place + 1 } })),
    )
  },
)
