import { afterAll, beforeAll, expect, test } from "vitest"
import { sendSpans, sendWorld, traceId } from "../support/agent-spans.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

const project = "acme/odd"

let opened: EvaluationApp
beforeAll(async () => {
  opened = await openEvaluationApp()
  await sendWorld(opened.acme, project)
})
afterAll(() => opened.close())

const texts = ["\0", "\ud800", "'", "\\", "{p0:String}", "a".repeat(100_000), "💥", "__proto__", "constructor", ""]
const times = ["0000-01-01", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59.999999Z", "2026-02-30", "", "1e9", "\0"]

const requests: [string, (value: string) => object][] = [
  ["/agents/query", (value) => ({ filters: { agent_name: value } })],
  ["/agents/query", (value) => ({ sort_by: [{ field: value }] })],
  ["/agents/agent-versions/query", (value) => ({ agent_name: value })],
  ["/agents/spans/query", (value) => ({ query: { $expr: { $eq: [{ $getField: value }, { $literal: value }] } } })],
  [
    "/agents/spans/query",
    (value) => ({ query: { $expr: { $gt: [{ $getField: "started_at" }, { $literal: value }] } } }),
  ],
  ["/agents/spans/query", (value) => ({ group_by: [{ source: "custom_attrs_string", key: value, alias: value }] })],
  ["/agents/spans/query", (value) => ({ custom_attr_columns: [{ source: "custom_attrs_int", key: value }] })],
  ["/agents/spans/query", (value) => ({ sort_by: [{ field: `custom_attrs_string.${value}` }] })],
  [
    "/agents/spans/query",
    (value) => ({ signal_filters: { tags: [value], ratings: [{ scorer_key: value, op: "eq", value: 1e308 }] } }),
  ],
  [
    "/agents/spans/stats",
    (value) => ({
      start: "2026-03-01",
      end: "2026-03-02",
      metrics: [{ alias: "a", value: { source: "custom_attrs_float", key: value }, value_type: "number" }],
    }),
  ],
  [
    "/agents/spans/stats",
    (value) => ({
      start: "2026-03-01",
      end: "2026-03-02",
      group_by: [{ key: value }],
      metrics: [{ alias: "a", value: { key: "input_tokens" }, value_type: "number" }],
    }),
  ],
  ["/agents/search", (value) => ({ query: value, conversation_id: value })],
  ["/agents/traces/chat", (value) => ({ trace_id: value, include_feedback: true })],
  ["/agents/conversations/chat", (value) => ({ conversation_id: value, include_feedback: true })],
  ["/agents/conversations/spans", (value) => ({ conversation_ids: [value] })],
]

test.each(requests)("calls 1.1: %s takes any text or says what is wrong with it", async (path, body) => {
  for (const value of texts) {
    const answer = await opened.acme.post(path, { project_id: project, ...body(value) })
    expect([JSON.stringify(value.slice(0, 20)), answer.status < 500]).toEqual([
      JSON.stringify(value.slice(0, 20)),
      true,
    ])
  }
})

test("calls 1.1: so with times", async () => {
  for (const value of times) {
    for (const path of ["/agents/spans/query", "/agents/search", "/agents/conversations/spans"]) {
      const window = { started_after: value, started_before: value, conversation_ids: ["c1"] }
      const answer = await opened.acme.post(path, { project_id: project, ...window })
      expect([value, answer.status < 500, answer.text]).toEqual([value, true, expect.any(String)])
    }
    const metrics = [{ alias: "a", value: { key: "started_at" }, value_type: "datetime" }]
    const answer = await opened.acme.post("/agents/spans/stats", {
      project_id: project,
      start: value,
      end: value,
      metrics,
    })
    expect([value, answer.status < 500]).toEqual([value, true])
  }
})

test("calls 1.1: so with numbers", async () => {
  const stats = { start: "2026-03-01", end: "2026-03-02" }
  for (const value of [-1e308, 1e308, 5e-324, -0, 1.5]) {
    const bucket_by = { type: "number", value: { key: "input_tokens" }, min: value, bins: 3 }
    const answers = [
      await opened.acme.post("/agents/spans/stats", { project_id: project, ...stats, bucket_by }),
      await opened.acme.post("/agents/spans/stats", {
        project_id: project,
        ...stats,
        bucket_by: { ...bucket_by, min: null, max: value },
      }),
      await opened.acme.post("/agents/spans/query", { project_id: project, limit: value }),
      await opened.acme.post("/agents/search", { project_id: project, offset: value }),
    ]
    expect([value, answers.map(({ status }) => status < 500)]).toEqual([value, [true, true, true, true]])
  }
  const large = { project_id: project, offset: Number.MAX_SAFE_INTEGER }
  expect((await opened.acme.post("/agents/spans/query", large)).body).toMatchObject({ spans: [], total_count: 9 })
})

test("calls 8: odd texts are kept, or become what can be kept", async () => {
  const own = opened.acme.newProject()
  const odd = {
    "gen_ai.agent.name": "a'\\\0b",
    "gen_ai.conversation.id": "c\n/💥",
    "gen_ai.input.messages": '["\\ud800"]',
  }
  await sendSpans(opened.acme, own, {
    trace: "1",
    id: "1",
    at: 0,
    name: "\ud800",
    attributes: { "gen_ai.operation.name": "chat", ...odd },
  })
  const query = { project_id: own, include_details: true }
  const answer = await opened.acme.post("/agents/spans/query", query)
  expect(answer.body).toMatchObject({
    spans: [{ agent_name: "a'\\\0b", conversation_id: "c\n/💥", span_name: "�", input_messages: [{ content: "�" }] }],
  })
  const chat = await opened.acme.post("/agents/conversations/chat", { project_id: own, conversation_id: "c\n/💥" })
  expect(chat.body).toMatchObject({ total_turns: 1 })
})

/** JSON so deep that JSON.parse reads it and JSON.stringify fails on the value. */
const deep = `[${'{"0":'.repeat(20_000)}1${"}".repeat(20_000)}]`

test("calls 8: a text that is JSON nested too deep stays a text", async () => {
  const own = opened.acme.newProject()
  const answered = `[{"type":"tool_call","name":"x","arguments":${deep}}]`
  await sendSpans(opened.acme, own, {
    trace: "1",
    id: "1",
    at: 0,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.response.finish_reasons": deep,
      "gen_ai.output.messages": JSON.stringify([{ role: "assistant", content: answered }]),
    },
  })
  const rows = await opened.acme.post("/agents/spans/query", { project_id: own })
  expect(rows.body).toMatchObject({ spans: [{ finish_reasons: [deep] }] })
  const chat = { project_id: own, trace_id: traceId("1"), include_model_tool_calls: true }
  expect((await opened.acme.post("/agents/traces/chat", chat)).body).toMatchObject({
    messages: [{ type: "assistant_message", assistant_message: { text: answered } }],
  })
})

test("calls 10: a chat reckons with counts past 2^53", async () => {
  const own = opened.acme.newProject()
  const large = 9_007_199_254_740_993n
  const attributes = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.usage.input_tokens": large,
    "weave.compaction.items_before": large,
  }
  await sendSpans(opened.acme, own, { trace: "1", id: "1", at: 0, attributes })
  const chat = await opened.acme.post("/agents/traces/chat", { project_id: own, trace_id: traceId("1") })
  expect(chat.body).toMatchObject({
    total_input_tokens: 9_007_199_254_740_992,
    messages: [{ context_compacted: { compaction_items_before: 9_007_199_254_740_992 } }],
  })
})

test("calls 1.1: an answer that would be too large is refused, and smaller pages are not", async () => {
  const own = opened.acme.newProject()
  await sendSpans(opened.acme, own, { trace: "1", id: "1", at: 0 })
  const { traces } = opened.app.stores
  const [stored] = await traces.rows<{ project_id: string }>(
    "select project_id from agent_spans order by version desc limit 1",
  )
  await traces.command(
    `insert into agent_spans (project_id, trace_id, span_id, span_name, started_at, conversation_id, output_messages)
      select {project:UUID}, {trace:String}, leftPad(hex(number + 16), 16, '0'), 'large', '2026-03-01 12:00:00', 'large',
        [('assistant', repeat('x', 1000000), '')] from numbers(150) settings max_block_size = 10`,
    { project: stored?.project_id ?? "", trace: traceId("2") },
  )
  const ask = (path: string, body: object) => opened.acme.post(path, { project_id: own, ...body })
  const tooLarge = {
    status: 502,
    body: { reason: "the query needs too much memory; narrow it with a filter or a limit" },
  }
  expect(await ask("/agents/spans/query", { include_details: true, limit: 1000 })).toMatchObject(tooLarge)
  expect(await ask("/agents/traces/chat", { trace_id: traceId("2") })).toMatchObject(tooLarge)
  expect(await ask("/agents/search", { truncate_content: false, limit: 1000 })).toMatchObject(tooLarge)
  expect(await ask("/agents/spans/query", {})).toMatchObject({ status: 200, body: { total_count: 151 } })
  expect(await ask("/agents/spans/query", { include_details: true, limit: 5 })).toMatchObject({ status: 200 })
  expect(await ask("/agents/search", { limit: 100 })).toMatchObject({ status: 200 })
})
