import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { spansPage } from "../../src/wire/agents/span-query.ts"
import { strictly } from "../support/answers.ts"
import { agent, model, sendSpans, sendSpansTo, spanId, type TestSpan, traceId } from "../support/agent-spans.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { jsonAttributes, jsonSpan, jsonTraces, protobufTraces, spanFields } from "../support/otlp-message.ts"

const path = "/agents/otel/v1/traces"
const protobuf = { "content-type": "application/x-protobuf" }

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

async function spansOf(project: string) {
  const query = { project_id: project, include_details: true, sort_by: [{ field: "span_id", direction: "asc" }] }
  return strictly(spansPage, await opened.acme.post("/agents/spans/query", query)).spans
}

type Attributes = NonNullable<TestSpan["attributes"]>

/** Sends one span with these attributes; returns it as it was stored. */
async function stored(attributes: Attributes, more: Partial<TestSpan> = {}) {
  const project = opened.acme.newProject()
  await sendSpans(opened.acme, project, { trace: "1", id: "1", at: 0, attributes, ...more })
  const [span] = await spansOf(project)
  if (span === undefined) throw new Error("the span is not there")
  return span
}

describe("calls 8: spans sent to /agents/otel/v1/traces", () => {
  test("protobuf, compressed too, of several projects; sent again it is the same span", async () => {
    const [one, two] = [opened.acme.newProject(), opened.acme.newProject()]
    const resource = (name: string) => ({ "wandb.entity": "acme", "wandb.project": name.split("/")[1] ?? "" })
    const spans = (name: string) => protobufTraces(resource(name), [spanFields(traceId("5"), spanId("5"), "chat bot")])
    const body = gzipSync(Buffer.concat([spans(one), spans(two)]))
    for (let time = 0; time < 2; time++) {
      const answer = await opened.acme.post(path, body, { ...protobuf, "content-encoding": "gzip" })
      expect([answer.status, answer.text]).toEqual([200, ""])
    }
    for (const project of [one, two]) {
      expect(await spansOf(project)).toMatchObject([
        {
          span_id: spanId("5"),
          span_name: "chat bot",
          operation_name: "chat",
          started_at: "2026-01-02T03:04:05.123456Z",
          ended_at: "2026-01-02T03:04:06.623456Z",
        },
      ])
    }
  })

  test("a span that is sent again with other attributes replaces the first one", async () => {
    const project = opened.acme.newProject()
    const span = { trace: "1", id: "1", at: 0 }
    await sendSpans(opened.acme, project, { ...span, attributes: agent("first", "1") })
    await sendSpans(opened.acme, project, { ...span, attributes: agent("second", "1") })
    expect((await spansOf(project)).map((one) => one.agent_name)).toEqual(["second"])
  })

  test("a span that cannot be stored is counted with its reason, and the others are stored", async () => {
    const project = opened.acme.newProject()
    const body = jsonTraces(jsonSpan(traceId("1"), spanId("1")), jsonSpan("0".repeat(32), spanId("2")))
    const answer = await opened.acme.post(path, body, { project_id: project })
    expect([answer.status, answer.body]).toEqual([
      200,
      { partialSuccess: { rejectedSpans: "1", errorMessage: expect.stringContaining("its trace id") } },
    ])
    expect(await spansOf(project)).toHaveLength(1)
  })

  test.each<[string, unknown, Record<string, string>, number]>([
    ["no project", jsonTraces(jsonSpan(traceId("1"), spanId("1"))), {}, 400],
    ["another tenant's project", jsonTraces(jsonSpan(traceId("1"), spanId("1"))), { project_id: "rival/p" }, 403],
    ["no OTLP", "{", { project_id: "acme/p" }, 400],
    ["broken protobuf", Buffer.from([0x0a, 0x05, 0x01]), { ...protobuf, project_id: "acme/p" }, 400],
    ["another type", "a,b", { "content-type": "text/csv", project_id: "acme/p" }, 415],
  ])("%s", async (_what, body, headers, status) => {
    expect((await opened.acme.post(path, body, headers)).status).toBe(status)
  })
})

describe("calls 10: attributes become columns", () => {
  test("everything of the convention", async () => {
    const request = {
      "gen_ai.request.temperature": 0,
      "gen_ai.request.max_tokens": 100n,
      "gen_ai.request.top_p": "0.5",
      "gen_ai.request.seed": 9_007_199_254_740_993n,
      "gen_ai.request.choice.count": 2n,
      "gen_ai.request.stop_sequences": { arrayValue: { values: [{ stringValue: "a" }, { stringValue: "b" }] } },
    }
    const others = {
      "gen_ai.response.finish_reasons": '["stop","length"]',
      "gen_ai.response.id": "r-1",
      "gen_ai.output.type": "json",
      "server.address": "api.example.com",
      "server.port": 443n,
      "weave.eval.run_id": "run-1",
      "weave.eval.trial_index": 0n,
      "weave.parent_call.id": "call-1",
      "wandb.wb_run_id": "run-2",
      "wandb.wb_run_step": 7n,
    }
    const span = await stored({ ...model([1n, 2n], [], []), ...request, ...others })
    expect(span).toMatchObject({
      request_temperature: 0,
      request_max_tokens: 100,
      request_top_p: 0.5,
      request_frequency_penalty: null,
      request_choice_count: 2,
      request_stop_sequences: ["a", "b"],
      finish_reasons: ["stop", "length"],
      response_id: "r-1",
      output_type: "json",
      server_address: "api.example.com",
      server_port: 443,
      eval_run_id: "run-1",
      eval_trial_index: 0,
      eval_kind: null,
      parent_call_id: "call-1",
      wb_run_id: expect.stringMatching(/^acme\/p-[0-9a-f]+\/run-2$/),
      wb_run_step: 7,
    })
    expect([span.custom_attrs_string, span.custom_attrs_int]).toEqual([{}, {}])
  })

  test("whole numbers keep all their digits", async () => {
    const project = opened.acme.newProject()
    const large = 9_007_199_254_740_993n
    await sendSpans(opened.acme, project, {
      trace: "1",
      id: "1",
      at: 0,
      attributes: { large, "gen_ai.request.seed": large },
    })
    const answer = await opened.acme.post("/agents/spans/query", { project_id: project, include_details: true })
    expect(answer.text).toContain('"custom_attrs_int":{"large":9007199254740993}')
    expect(answer.text).toContain('"request_seed":9007199254740993')
    const query = (value: string) =>
      opened.acme.post(
        "/agents/spans/query",
        `{"project_id":"${project}","query":{"$expr":{"$eq":[{"$getField":"large"},{"$literal":${value}}]}}}`,
      )
    expect((await query("9007199254740993")).body).toMatchObject({ total_count: 1 })
    expect((await query("9007199254740992")).body).toMatchObject({ total_count: 0 })
    const counted = async (value: string) => {
      const filter = { $expr: { $eq: [{ $getField: "large" }, { $literal: JSON.rawJSON(value) }] } }
      const measures = [{ alias: "found", aggregation: "count", filter }]
      const group_by = [{ source: "field", key: "trace_id" }]
      return (await opened.acme.post("/agents/spans/query", { project_id: project, group_by, measures })).body
    }
    expect(await counted("9007199254740993")).toMatchObject({ groups: [{ metrics: { found: 1 } }] })
    expect(await counted("9007199254740992")).toMatchObject({ groups: [{ metrics: { found: 0 } }] })
  })

  test("a count below 0, by which some say that they do not know, is none", async () => {
    const counts = { "gen_ai.usage.input_tokens": -1n, "gen_ai.usage.output_tokens": 3n }
    expect(await stored({ ...counts, "gen_ai.request.max_tokens": -1n })).toMatchObject({
      input_tokens: 0,
      output_tokens: 3,
      request_max_tokens: -1,
    })
  })

  test("other attributes by type; names of prototypes are names", async () => {
    const span = await stored({
      text: "a",
      empty: "",
      nan: Number.NaN,
      nested: { kvlistValue: { values: jsonAttributes({ inner: 1n, constructor: true }) } },
      list: { arrayValue: { values: [{ intValue: "1" }, { stringValue: "b" }] } },
    })
    expect(span.custom_attrs_string).toEqual({ text: "a", list: '[1,"b"]' })
    expect(span.custom_attrs_int).toEqual({ "nested.inner": 1 })
    expect(span.custom_attrs_float).toEqual({})
    expect(span.custom_attrs_bool).toEqual({ "nested.constructor": true })
    const project = opened.acme.newProject()
    const attributes = [{ key: "__proto__", value: { stringValue: "kept" } }]
    const body = jsonTraces(jsonSpan(traceId("1"), spanId("1"), {}, { attributes }))
    expect((await opened.acme.post(path, body, { project_id: project })).text).toBe("{}")
    const answer = await opened.acme.post("/agents/spans/query", { project_id: project, include_details: true })
    expect(answer.text).toContain('"custom_attrs_string":{"__proto__":"kept"}')
  })

  test("an operation is also recognised by the span's name, and by other conventions", async () => {
    const operation = async (attributes: Attributes, name: string) => {
      const { operation_name, agent_name } = await stored(attributes, { name })
      return [operation_name, agent_name]
    }
    expect(await operation({}, "invoke_agent planner")).toEqual(["invoke_agent", "planner"])
    expect(await operation({}, "chatter")).toEqual([null, null])
    expect(await operation({ "openinference.span.kind": "LLM" }, "x")).toEqual(["chat", null])
    expect(await operation({ "traceloop.span.kind": "agent", "gen_ai.agent.name": "a" }, "x")).toEqual([
      "invoke_agent",
      "a",
    ])
  })

  test("a span of Langfuse has the operation of its type, its name, and the counts that one attribute holds", async () => {
    const type = "langfuse.observation.type"
    const chat = await stored({
      [type]: "generation",
      "langfuse.observation.model.name": "m",
      "langfuse.observation.usage_details":
        '{"input_tokens":9,"output_tokens":5,"total_tokens":14,"input_tokens_details":{"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":3}}',
    })
    expect(chat).toMatchObject({ operation_name: "chat", request_model: "m", agent_name: null, tool_name: null })
    expect(chat).toMatchObject({ input_tokens: 9, output_tokens: 5, cache_read_input_tokens: 4, reasoning_tokens: 3 })
    expect(await stored({ [type]: "agent" }, { name: "planner" })).toMatchObject({
      operation_name: "invoke_agent",
      agent_name: "planner",
    })
    expect(await stored({ [type]: "tool" }, { name: "search" })).toMatchObject({
      operation_name: "execute_tool",
      tool_name: "search",
    })
    const split = '{"input":1,"output":2,"total":17,"input_cached_tokens":11,"output_reasoning_tokens":3}'
    const failure = { "langfuse.observation.level": "ERROR", "langfuse.observation.status_message": "it broke" }
    expect(
      await stored({ [type]: "generation", "langfuse.observation.usage_details": split, ...failure }),
    ).toMatchObject({
      input_tokens: 12,
      output_tokens: 5,
      cache_read_input_tokens: 11,
      reasoning_tokens: 3,
      status_code: "ERROR",
      status_message: "it broke",
    })
    const unread = { "langfuse.observation.usage_details": '{"input": 1.5, "output": "many", "total": -1' }
    expect(await stored({ [type]: "generation", ...unread })).toMatchObject({ input_tokens: 0, output_tokens: 0 })
  })

  test("counts by Langfuse's own names are apart from each other: a side is their sum", async () => {
    const counted = (details: object) =>
      stored({
        "langfuse.observation.type": "generation",
        "langfuse.observation.usage_details": JSON.stringify(details),
      })
    // As its handler for LangChain sends it.
    expect(
      await counted({ input: 0, output: 7, total: 139, input_cache_read: 129, output_reasoning: 3 }),
    ).toMatchObject({
      input_tokens: 129,
      output_tokens: 10,
      cache_read_input_tokens: 129,
      reasoning_tokens: 3,
    })
    expect(await counted({ input: 10, output: 5, cache_read_input_tokens: 2 })).toMatchObject({
      input_tokens: 12,
      output_tokens: 5,
      cache_read_input_tokens: 2,
    })
  })

  test("a span of LangSmith has its kind, and its conversation from the metadata of the run", async () => {
    const run = { "langsmith.span.kind": "tool", "langsmith.metadata.thread_id": "talk" }
    expect(await stored(run, { name: "look" })).toMatchObject({
      operation_name: "execute_tool",
      conversation_id: "talk",
    })
  })

  test.each<[string, Attributes, object]>([
    [
      "Agent run: {name!r}",
      { name: "planner", handoffs: "[]" },
      { operation_name: "invoke_agent", agent_name: "planner" },
    ],
    [
      "Function: {name}",
      { name: "look", input: '{"a": 1}', output: "B" },
      { operation_name: "execute_tool", tool_name: "look", tool_call_arguments: '{"a": 1}', tool_call_result: "B" },
    ],
    [
      "Turn {turn} for agent planner",
      { agent_name: "planner", name: "turn" },
      { operation_name: null, agent_name: "planner" },
    ],
    ["Chat Completion with {request_data[model]!r}", { name: "x" }, { operation_name: "chat", agent_name: null }],
    ["Embedding Creation with {request_data[model]!r}", {}, { operation_name: "embeddings" }],
    ["Message with {request_data[model]!r}", {}, { operation_name: "chat" }],
    ["Agent run", {}, { operation_name: null }],
  ])("a span of Logfire does what its template says: %s", async (template, attributes, expected) => {
    const own = { "gen_ai.system": "openai", "logfire.msg_template": template }
    expect(await stored({ ...own, ...attributes }, { name: template })).toMatchObject(expected)
  })

  test("the span that Logfire puts around a run of the OpenAI Agents SDK tells the conversation", async () => {
    const project = opened.acme.newProject()
    const run = (id: string, trace: string, more: Attributes) => ({
      trace,
      id,
      at: 0,
      name: "OpenAI Agents trace: {name}",
      attributes: { group_id: "chat-17", ...more },
    })
    const named = { agent_trace_id: "trace_1" }
    const spans = [run("1", "1", named), run("2", "2", { ...named, group_id: "null" }), run("3", "3", {})]
    await sendSpansTo("/otel/v1/traces", opened.acme, project, ...spans)
    expect(await spansOf(project)).toMatchObject([{ span_id: spanId("1"), conversation_id: "chat-17" }])
    const calls = await opened.acme.post("/calls/stream_query", {
      project_id: project,
      filter: { thread_ids: ["chat-17"] },
    })
    expect(calls.text.trim().split("\n")).toHaveLength(1)
    expect(JSON.parse(calls.text)).toMatchObject({ id: spanId("1"), thread_id: "chat-17", turn_id: spanId("1") })
  })

  test("spans of Pydantic AI before version 2 have their operation by their name", async () => {
    const own = { "logfire.json_schema": "{}" }
    const run = await stored({ ...own, agent_name: "helper", final_result: "B" }, { name: "agent run" })
    expect(run).toMatchObject({ operation_name: "invoke_agent", agent_name: "helper" })
    const tool = { "gen_ai.tool.name": "look", tool_arguments: '{"a":1}', tool_response: "B" }
    expect(await stored({ ...own, ...tool }, { name: "running tool" })).toMatchObject({
      operation_name: "execute_tool",
      tool_call_arguments: '{"a":1}',
      tool_call_result: "B",
    })
    expect(await stored(tool, { name: "running tool" })).toMatchObject({ operation_name: null })
  })

  test("the reason that OpenInference tells for the end of an answer", async () => {
    const attributes = { "openinference.span.kind": "LLM", "llm.finish_reason": "stop" }
    expect(await stored(attributes)).toMatchObject({ finish_reasons: ["stop"] })
  })

  test.each([
    ["ai.generateText", "invoke_agent"],
    ["ai.streamObject", "invoke_agent"],
    ["ai.streamText.doStream", "chat"],
    ["ai.generateObject.doGenerate", "chat"],
    ["ai.embedMany.doEmbed", "embeddings"],
    ["ai.toolCall", "execute_tool"],
    ["ai.embedMany", null],
  ])("a span of Vercel's AI SDK before version 7 has the operation of its id: %s", async (id, operation) => {
    const attributes = { "ai.operationId": id, "gen_ai.request.model": "m", "ai.telemetry.functionId": "planner" }
    expect(await stored(attributes, { name: id })).toMatchObject({ operation_name: operation, agent_name: "planner" })
  })

  test("a tool without a name of its own is named as its span is", async () => {
    expect(await stored({}, { name: "execute_tool look up" })).toMatchObject({ tool_name: "look up" })
    expect(await stored({ "gen_ai.tool.name": "find" }, { name: "execute_tool look up" })).toMatchObject({
      tool_name: "find",
    })
  })
})

describe("calls 10: messages of several generations", () => {
  const text = (content: string, role: string) => ({ role, content, finish_reason: "" })

  test.each<[string, Attributes, unknown[], unknown[]]>([
    [
      "OpenTelemetry 1.37, as JSON",
      model(
        [1n, 1n],
        [{ role: "user", parts: [{ type: "text", content: "A" }] }],
        [{ role: "assistant", parts: [], finish_reason: "stop" }],
      ),
      [text('[{"type":"text","content":"A"}]', "user")],
      [{ role: "assistant", content: "[]", finish_reason: "stop" }],
    ],
    [
      "OpenLLMetry, by index, with tool calls",
      {
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": "Be kind.",
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": "A",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.finish_reason": "tool_calls",
        "gen_ai.completion.0.tool_calls.0.id": "t1",
        "gen_ai.completion.0.tool_calls.0.name": "look",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"a": 1.0}',
      },
      [text("Be kind.", "system"), text("A", "user")],
      [
        {
          role: "assistant",
          content: '[{"type":"tool_call","id":"t1","name":"look","arguments":{"a":1.0}}]',
          finish_reason: "tool_calls",
        },
      ],
    ],
    [
      "OpenInference",
      {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.contents.0.message_content.type": "text",
        "llm.input_messages.0.message.contents.0.message_content.text": "A",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "B",
        "llm.token_count.prompt": 5n,
        "input.value": "not this",
      },
      [text('[{"type":"text","text":"A"}]', "user")],
      [text("B", "assistant")],
    ],
    [
      "Vercel",
      {
        "gen_ai.operation.name": "chat",
        "ai.prompt": '{"messages":[{"role":"user","content":"A"}]}',
        "ai.response.text": "B",
      },
      [text("A", "user")],
      [text("B", "assistant")],
    ],
    [
      "Vercel's AI SDK 6: the whole of a run",
      {
        "ai.operationId": "ai.generateText",
        "ai.prompt": '{"system":"Be kind.","prompt":"A"}',
        "ai.response.text": "B",
        "ai.response.finishReason": "stop",
      },
      [text("A", "user")],
      [text("B", "assistant")],
    ],
    [
      "Vercel's AI SDK 6: a request whose answer calls a tool",
      {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.prompt.messages": JSON.stringify([
          { role: "user", content: [{ type: "text", text: "A" }] },
          { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "look", input: { a: 1 } }] },
          {
            role: "tool",
            content: [
              { type: "tool-result", toolCallId: "c1", toolName: "look", output: { type: "json", value: { b: 2 } } },
            ],
          },
        ]),
        "ai.response.text": "B",
        "ai.response.toolCalls": '[{"toolCallId":"c2","toolName":"look","input":"{\\"a\\":2}"}]',
        "ai.response.finishReason": "tool-calls",
      },
      [
        text('[{"type":"text","text":"A"}]', "user"),
        text('[{"type":"tool_call","id":"c1","name":"look","arguments":{"a":1}}]', "assistant"),
        text('[{"type":"tool_call_response","id":"c1","response":{"b":2}}]', "tool"),
      ],
      [
        {
          role: "assistant",
          content:
            '[{"type":"text","content":"B"},{"type":"tool_call","id":"c2","name":"look","arguments":"{\\"a\\":2}"}]',
          finish_reason: "tool-calls",
        },
      ],
    ],
    [
      "Vercel's AI SDK 4: calls of tools and their results have other names",
      {
        "ai.prompt.messages": JSON.stringify([
          { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "look", args: { a: 1 } }] },
          { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", toolName: "look", result: "B" }] },
        ]),
        "ai.response.object": '{"title":"T","content":"C"}',
      },
      [
        text('[{"type":"tool_call","id":"c1","name":"look","arguments":{"a":1}}]', "assistant"),
        text('[{"type":"tool_call_response","id":"c1","response":"B"}]', "tool"),
      ],
      [text('{"title":"T","content":"C"}', "assistant")],
    ],
    [
      "objects with a prompt among other members",
      { "openinference.span.kind": "AGENT", "input.value": '{"prompt":"A","n":1}', "output.value": '{"prompt":"B"}' },
      [text('{"prompt":"A","n":1}', "user")],
      [text('{"prompt":"B"}', "assistant")],
    ],
    [
      "an agent's plain input and output",
      { "openinference.span.kind": "AGENT", "input.value": "A", "output.value": '{"answer":1.0}' },
      [text("A", "user")],
      [text('{"answer":1.0}', "assistant")],
    ],
    ["a step that says nothing", { "input.value": "A", "output.value": "B" }, [], []],
    [
      "results of tools, by the call that they answer",
      model([1n, 1n], [{ role: "tool", tool_call_id: "t1", content: "42" }], []),
      [text('[{"type":"tool_call_response","id":"t1","response":"42"}]', "tool")],
      [],
    ],
  ])("%s", async (_what, attributes, input, output) => {
    const span = await stored(attributes, { name: "step" })
    expect([span.input_messages, span.output_messages]).toEqual([input, output])
  })

  test("in events, as before 1.37", async () => {
    const events = [
      { name: "gen_ai.user.message", attributes: { content: "A" } },
      { name: "gen_ai.choice", attributes: { message: '{"content":"B"}', finish_reason: "stop" } },
    ]
    const span = await stored({ "gen_ai.operation.name": "chat" }, { events })
    expect(span.input_messages).toEqual([text("A", "user")])
    expect(span.output_messages).toEqual([{ role: "assistant", content: "B", finish_reason: "stop" }])
  })

  test("in events as Strands sends them: answers as texts and parts, calls of tools as Bedrock has them", async () => {
    const toolUse = { toolUse: { toolUseId: "t1", name: "look", input: { a: 1 } } }
    const toolResult = { toolResult: { toolUseId: "t1", status: "success", content: [{ text: "42" }] } }
    const events = [
      { name: "gen_ai.user.message", attributes: { content: '[{"text": "A"}]' } },
      { name: "gen_ai.assistant.message", attributes: { content: JSON.stringify([toolUse]) } },
      { name: "gen_ai.tool.message", attributes: { content: JSON.stringify([toolResult]) } },
      { name: "gen_ai.choice", attributes: { message: '[{"text": "B"}]', finish_reason: "end_turn" } },
    ]
    const chat = await stored({ "gen_ai.operation.name": "chat" }, { events })
    expect(chat.input_messages).toEqual([
      text('[{"text":"A"}]', "user"),
      text('[{"type":"tool_call","id":"t1","name":"look","arguments":{"a":1}}]', "assistant"),
      text('[{"type":"tool_call_response","id":"t1","response":[{"text":"42"}]}]', "tool"),
    ])
    expect(chat.output_messages).toEqual([{ ...text('[{"text":"B"}]', "assistant"), finish_reason: "end_turn" }])
    const answered = [{ name: "gen_ai.choice", attributes: { message: "B\n", finish_reason: "end_turn" } }]
    const run = await stored({ "gen_ai.operation.name": "invoke_agent" }, { events: answered })
    expect(run.output_messages).toEqual([{ ...text("B\n", "assistant"), finish_reason: "end_turn" }])
    const used = [
      { name: "gen_ai.tool.message", attributes: { role: "tool", content: '{"a": 1}', id: "t1" } },
      { name: "gen_ai.choice", attributes: { message: '[{"text": "42"}]', id: "t1" } },
    ]
    const tool = await stored({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look" }, { events: used })
    expect(tool).toMatchObject({ tool_call_arguments: '{"a": 1}', tool_call_result: '[{"text": "42"}]' })
    expect(chat).toMatchObject({ tool_call_arguments: null, tool_call_result: null })
  })

  test("in events that one attribute holds, as Logfire and Pydantic AI before version 1 send them", async () => {
    const call = { id: "t1", type: "function", function: { name: "look", arguments: '{"a": 1.0}' } }
    const asked = [
      { "event.name": "gen_ai.system.message", role: "system", content: "Be kind." },
      { "event.name": "gen_ai.user.message", role: "user", content: "A" },
      { "event.name": "gen_ai.assistant.message", role: "assistant", tool_calls: [call] },
      { "event.name": "gen_ai.tool.message", role: "tool", id: "t1", name: "look", content: "42" },
    ]
    const input = [
      text("Be kind.", "system"),
      text("A", "user"),
      text('[{"type":"tool_call","id":"t1","name":"look","arguments":"{\\"a\\": 1.0}"}]', "assistant"),
      text('[{"type":"tool_call_response","id":"t1","response":"42"}]', "tool"),
    ]
    const held = (events: object[]) => ({
      "gen_ai.system": "openai",
      "logfire.msg_template": "Responses API with {gen_ai.request.model!r}",
      events: JSON.stringify(events),
    })
    const answer = { "event.name": "gen_ai.assistant.message", role: "assistant", content: "B" }
    const choice = { "event.name": "gen_ai.choice", index: 0, message: { role: "assistant", content: "B" } }
    for (const last of [answer, choice]) {
      const span = await stored(held([...asked, last]), { name: "Responses API with {gen_ai.request.model!r}" })
      expect(span).toMatchObject({ operation_name: "chat", input_messages: input })
      expect(span.output_messages).toEqual([text("B", "assistant")])
      expect(Object.keys(span.custom_attrs_string)).toEqual(["logfire.msg_template"])
    }
  })

  test("a whole run of Pydantic AI: what it was given, and its answer", async () => {
    const user = { role: "user", parts: [{ type: "text", content: "A" }] }
    const answer = { role: "assistant", parts: [{ type: "text", content: "B" }], finish_reason: "stop" }
    const span = await stored({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "helper",
      "pydantic_ai.all_messages": JSON.stringify([user, answer, user, answer]),
      final_result: "B",
    })
    const given = text('[{"type":"text","content":"A"}]', "user")
    const before = { ...text('[{"type":"text","content":"B"}]', "assistant"), finish_reason: "stop" }
    expect(span.input_messages).toEqual([given, before, given])
    expect(span.output_messages).toEqual([text("B", "assistant")])
    expect(span.custom_attrs_string).toEqual({})
  })

  test("attributes that became messages are not among the other attributes, and usage by another name is", async () => {
    const span = await stored({
      "gen_ai.prompt.0.role": "user",
      "gen_ai.prompt.0.content": "A",
      "llm.token_count.prompt": 5n,
    })
    expect([span.input_tokens, span.custom_attrs_string]).toEqual([5, {}])
    expect(span.custom_attrs_int).toEqual({ "llm.token_count.prompt": 5 })
  })

  test("arguments and results of tools", async () => {
    const span = await stored({
      "openinference.span.kind": "TOOL",
      "tool.name": "look",
      "input.value": '{"a":1}',
      "output.value": "B",
    })
    expect(span).toMatchObject({ tool_name: "look", tool_call_arguments: '{"a":1}', tool_call_result: "B" })
  })
})
