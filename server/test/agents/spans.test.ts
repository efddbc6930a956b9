import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { agentsPage, agentVersionsPage } from "../../src/wire/agents/agents.ts"
import { attributeSchema, spansPage } from "../../src/wire/agents/span-query.ts"
import { strictly } from "../support/answers.ts"
import { agent, model, said, sendSpans, sendWorld, spanId, traceId } from "../support/agent-spans.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

const project = "acme/agents"

let opened: EvaluationApp
beforeAll(async () => {
  opened = await openEvaluationApp()
  await sendWorld(opened.acme, project)
})
afterAll(() => opened.close())

const ask = (path: string, fields: object) => opened.acme.post(path, { project_id: project, ...fields })

async function query(fields: object) {
  return strictly(spansPage, await ask("/agents/spans/query", fields))
}

const equals = (field: string, value: unknown) => ({ $eq: [{ $getField: field }, { $literal: value }] })
const where = (expression: object) => ({ query: { $expr: expression } })
const ids = (spans: { span_id: string }[]) => spans.map((span) => span.span_id.replace(/^0+/, ""))

describe("calls 10: agents/query", () => {
  async function agents(fields: object = {}) {
    return strictly(agentsPage, await ask("/agents/query", fields))
  }

  test("sums what an agent and the spans inside of it did, the last seen first", async () => {
    const { agents: found, total_count } = await agents({ include_costs: true })
    expect(total_count).toBe(3)
    expect(found.map(({ agent_name }) => agent_name)).toEqual(["writer", "helper", "researcher"])
    // b1, d1 and d2 name no agent, and belong to the one around them; so does b2, which is the researcher's.
    expect(found[1]).toEqual({
      project_id: project,
      agent_name: "helper",
      invocation_count: 2,
      span_count: 6,
      total_input_tokens: 290,
      total_output_tokens: 60,
      total_duration_ms: 20_000,
      p50_duration_ms: 10_000,
      p95_duration_ms: 10_000,
      error_count: 0,
      first_seen: "2026-03-01T10:00:00.000000Z",
      last_seen: "2026-03-01T10:01:06.000000Z",
      // (100 + 100 + 40) · 0.01 + 60 · 0.02 + 50 · 0.001
      total_cost_usd: expect.closeTo(3.65, 9),
    })
    expect(found[0]).toMatchObject({ invocation_count: 0, span_count: 1, total_duration_ms: 250, total_cost_usd: null })
    expect(found[0]).toMatchObject({ p50_duration_ms: null, p95_duration_ms: null })
    expect(found[2]).toMatchObject({ invocation_count: 1, span_count: 2, error_count: 1, total_duration_ms: 4000 })
    expect(found[2]).toMatchObject({ total_input_tokens: 10, p95_duration_ms: 4000 })
  })

  test("the span around a run that names no agent is no invocation of the agent inside of it", async () => {
    const own = opened.acme.newProject()
    const kind = { "openinference.span.kind": "AGENT" }
    await sendSpans(
      opened.acme,
      own,
      { trace: "1", id: "1", at: 0, takes: 4, name: "Agent workflow", attributes: kind },
      {
        trace: "1",
        id: "2",
        parent: "1",
        at: 1,
        takes: 2,
        name: "plain",
        attributes: { ...kind, "agent.name": "plain" },
      },
    )
    expect((await agents({ project_id: own })).agents).toMatchObject([
      { agent_name: "plain", invocation_count: 1, span_count: 2, total_duration_ms: 2000 },
    ])
  })

  test("one of them, in an order, in pages", async () => {
    expect(await agents({ filters: { agent_name: "helper" } })).toMatchObject({
      agents: [{ agent_name: "helper", total_cost_usd: null }],
      total_count: 1,
    })
    const sorted = await agents({ sort_by: [{ field: "total_input_tokens", direction: "asc" }], limit: 1, offset: 1 })
    expect(sorted).toMatchObject({ agents: [{ agent_name: "researcher" }], total_count: 3 })
    expect(await ask("/agents/query", { sort_by: [{ field: "version" }] })).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining('Invalid sort field: "version"') },
    })
  })

  test("those whose name holds a text, whatever the case of its letters", async () => {
    const found = async (filters: object) => (await agents({ filters })).agents.map(({ agent_name }) => agent_name)
    expect(await found({ q: "SEARCH" })).toEqual(["researcher"])
    expect(await found({ q: "er" })).toEqual(["writer", "helper", "researcher"])
    expect(await found({ q: "er", agent_name: "helper" })).toEqual(["helper"])
    expect(await agents({ filters: { q: "shipped" } })).toEqual({ agents: [], total_count: 0 })
    const slowest = await agents({ sort_by: [{ field: "p95_duration_ms" }] })
    expect(slowest.agents.map(({ p95_duration_ms }) => p95_duration_ms)).toEqual([10_000, 4000, null])
  })

  test("the versions of one", async () => {
    const answer = await ask("/agents/agent-versions/query", { agent_name: "helper", include_costs: true })
    expect(agentVersionsPage.strict().parse(answer.body)).toMatchObject({
      total_count: 2,
      versions: [
        { agent_version: "2", span_count: 2, total_input_tokens: 40 },
        { agent_version: "1", span_count: 4, total_input_tokens: 250, total_cost_usd: expect.closeTo(3.05, 9) },
      ],
    })
  })
})

describe("calls 10: agents/spans/query", () => {
  test("the newest first, with the agent and the conversation of their trace, without details", async () => {
    const { spans, groups, total_count } = await query({})
    expect(total_count).toBe(9)
    expect(groups).toEqual([])
    expect(ids(spans)).toEqual(["f3", "d2", "b2", "e2", "a2", "d1", "c1", "b1", "a1"])
    expect(spans[7]).toMatchObject({
      project_id: project,
      trace_id: traceId("1"),
      parent_span_id: spanId("a1"),
      span_kind: "CLIENT",
      status_code: "UNSET",
      operation_name: "chat",
      provider_name: "openai",
      agent_name: "helper",
      agent_version: "1",
      conversation_id: "c1",
      conversation_name: null,
      started_at: "2026-03-01T10:00:01.000000Z",
      ended_at: "2026-03-01T10:00:03.000000Z",
      input_tokens: 100,
      reasoning_tokens: 8,
      request_temperature: null,
      reasoning_content: null,
      input_messages: [],
      custom_attrs_string: {},
      total_cost_usd: null,
      raw_span_dump: null,
    })
    expect(spans[3]).toMatchObject({
      agent_name: "researcher",
      status_code: "ERROR",
      status_message: "no network",
      error_type: "TimeoutError",
    })
  })

  test("details: messages, tools, every attribute and the span as it came", async () => {
    const { spans } = await query({ ...where(equals("trace_id", traceId("1"))), include_details: true })
    const [d1, c1, b1] = spans
    expect(b1).toMatchObject({
      reasoning_content: "I must look it up.",
      input_messages: [
        { role: "user", content: '[{"type":"text","content":"Where is my order?"}]', finish_reason: "" },
      ],
    })
    expect(c1).toMatchObject({ tool_name: "lookup", tool_call_arguments: '{"id":1}', tool_call_result: "shipped" })
    expect(JSON.parse(String(d1?.raw_span_dump))).toMatchObject({
      name: "chat",
      attributes: { gen_ai: { response: { model: "model-a-2026" } } },
    })
  })

  test("attributes without a column, all of them or those that are asked for", async () => {
    const [all] = (await query({ ...where(equals("agent_name", "writer")), include_details: true })).spans
    expect(all).toMatchObject({
      custom_attrs_string: { tier: "gold" },
      custom_attrs_int: { retries: 3 },
      custom_attrs_float: { score: 0.5 },
      custom_attrs_bool: { ok: true },
    })
    const columns = [
      { source: "custom_attrs_string", key: "tier" },
      { source: "custom_attrs_int", key: "absent" },
    ]
    const asked = { custom_attr_columns: columns, sort_by: [{ field: "custom_attrs_string.tier" }], limit: 1 }
    const [shown] = (await query(asked)).spans
    expect(shown?.span_id).toBe(spanId("f3"))
    expect([shown?.custom_attrs_string, shown?.custom_attrs_int, shown?.custom_attrs_bool]).toEqual([
      { tier: "gold" },
      {},
      {},
    ])
  })

  test("costs by the price list, sorted by what a span costs", async () => {
    const { spans } = await query({ include_costs: true, sort_by: [{ field: "total_cost_usd" }] })
    expect(ids(spans).slice(0, 3)).toEqual(["d1", "b1", "d2"])
    expect(spans[0]).toMatchObject({
      // 150 tokens, 50 of them from the cache.
      input_cost_usd: expect.closeTo(1, 9),
      output_cost_usd: expect.closeTo(0.6, 9),
      cache_read_cost_usd: expect.closeTo(0.05, 9),
      cache_creation_cost_usd: 0,
      total_cost_usd: expect.closeTo(1.65, 9),
    })
    expect(spans.find((span) => span.span_id === spanId("f3"))?.total_cost_usd).toBeNull()
  })

  test.each([
    [equals("agent.name", "helper"), 6],
    [equals("gen_ai.agent.name", "helper"), 6],
    [equals("weave.agent.version", "2"), 2],
    [equals("conversation_id", "c2"), 1],
    [equals("operation_name", "execute_tool"), 1],
    [equals("custom_attrs_string.tier", "gold"), 1],
    [equals("tier", "gold"), 1],
    [equals("retries", 3), 1],
    [equals("custom_attrs_int.retries", 3), 1],
    [equals("score", 0.5), 1],
    [equals("ok", true), 1],
    [equals("tool_name", null), 8],
    [{ $gt: [{ $getField: "usage.input_tokens" }, { $literal: 50 }] }, 2],
    [{ $gte: [{ $getField: "duration_ms" }, { $literal: 10_000 }] }, 2],
    [{ $eq: [{ $getField: "total_tokens" }, { $literal: 128 }] }, 1],
    [
      { $contains: { input: { $getField: "tool_call_result" }, substr: { $literal: "SHIP" }, case_insensitive: true } },
      1,
    ],
    [{ $in: [{ $getField: "status_code" }, [{ $literal: "ERROR" }, { $literal: "OK" }]] }, 1],
    [{ $not: [equals("agent_name", "helper")] }, 3],
    [{ $gte: [{ $getField: "started_at" }, { $literal: "2026-03-01T10:01:00Z" }] }, 5],
    [equals("absent'; drop table agent_spans", "x"), 0],
  ])("%j finds %i", async (expression, count) => {
    const { spans, total_count } = await query(where(expression))
    expect([spans.length, total_count]).toEqual([count, count])
  })

  test("a window of time, and pages", async () => {
    const window = { started_after: "2026-03-01T10:00:01Z", started_before: "2026-03-01T10:01:00Z" }
    expect(ids((await query(window)).spans)).toEqual(["d1", "c1", "b1"])
    expect(await query({ limit: 2, offset: 8 })).toMatchObject({ spans: [{ span_id: spanId("a1") }], total_count: 9 })
    expect(await query({ limit: 0 })).toMatchObject({ spans: [], total_count: 9 })
  })

  test("signals: conversations with feedback on agents", async () => {
    const signalled = opened.acme.newProject()
    await sendWorld(opened.acme, signalled)
    const feedback = await opened.acme.post("/feedback/create", {
      project_id: signalled,
      weave_ref: `weave:///${signalled}/agent_conversation/c1`,
      feedback_type: "wandb.agent_user_feedback",
      payload: {},
      scorer_tags: ["rude"],
      scorer_ratings: { quality: 0.25 },
    })
    expect(feedback.status, feedback.text).toBe(200)
    const count = async (signal_filters: object) => {
      const answer = await opened.acme.post("/agents/spans/query", { project_id: signalled, signal_filters })
      return (answer.body as { total_count: number }).total_count
    }
    expect(await count({ tags: ["rude", "slow"] })).toBe(8)
    expect(await count({ tags: ["slow"] })).toBe(0)
    expect(await count({ tags: ["rude"], ratings: [{ scorer_key: "quality", op: "lt", value: 0.5 }] })).toBe(8)
    expect(await count({ ratings: [{ scorer_key: "quality", op: "gt", value: 0.5 }] })).toBe(0)
    expect(await count({ ratings: [{ scorer_key: "other", op: "lte", value: 1 }] })).toBe(0)
    expect(await count({})).toBe(9)
  })

  test("insights: always none, because this server makes none", async () => {
    const insight = { field: "intent_sentiment", values: ["frustrated"] }
    expect((await query({ insight_filters: [insight] })).total_count).toBe(0)
    expect((await query({ insight_filters: [{ ...insight, exclude: true }] })).total_count).toBe(9)
  })
})

describe("calls 10: groups of spans", () => {
  test("by conversation: sums, names, previews", async () => {
    const asked = { group_by: [{ source: "column", key: "conversation_id" }], include_costs: true }
    const { groups, spans, total_count } = await query(asked)
    expect([spans, total_count]).toEqual([[], 2])
    expect(groups[1]).toEqual({
      group_keys: { conversation_id: "c1" },
      span_count: 8,
      invocation_count: 3,
      conversation_count: 1,
      total_input_tokens: 300,
      total_cache_creation_input_tokens: 0,
      total_cache_read_input_tokens: 50,
      total_output_tokens: 65,
      total_reasoning_tokens: 8,
      total_duration_ms: 36_000,
      error_count: 1,
      agent_names: ["helper", "researcher"],
      agent_versions: ["1", "2"],
      provider_names: ["openai"],
      request_models: ["model-a"],
      conversation_names: ["Order"],
      first_seen: "2026-03-01T10:00:00.000000Z",
      last_seen: "2026-03-01T10:01:06.000000Z",
      total_cost_usd: expect.closeTo(3.85, 9),
      total_input_cost_usd: expect.closeTo(2.5, 9),
      total_output_cost_usd: expect.closeTo(1.3, 9),
      first_message: { role: "user_message", text: "Where is my order?" },
      last_message: { role: "assistant_message", text: "You are welcome." },
      metrics: {},
      distributions: {},
    })
  })

  test("measures with filters, in their order, and groups that meet a condition", async () => {
    const tokens = { alias: "tokens", aggregation: "sum", value: { source: "derived", key: "total_tokens" } }
    const measures = [
      tokens,
      { alias: "models", aggregation: "count", filter: where(equals("operation_name", "chat")).query },
      { alias: "longest", aggregation: "max", value: { source: "derived", key: "duration_ms" } },
      { alias: "tools", aggregation: "count_distinct", value: { key: "tool.name" } },
      { alias: "failed", aggregation: "count_true", value: { source: "derived", key: "is_error" } },
      { alias: "last", aggregation: "max", value: { key: "started_at" } },
      { alias: "score", aggregation: "avg", value: { source: "custom_attrs_float", key: "score" } },
      { alias: "cost", aggregation: "sum", value: { source: "derived", key: "total_cost_usd" } },
    ]
    const group_by = [{ key: "agent.name" }]
    const { groups } = await query({ group_by, measures })
    expect(groups.map(({ group_keys, metrics }) => [group_keys["agent_name"], metrics])).toEqual([
      [
        "helper",
        {
          tokens: 358,
          models: 3,
          longest: 10_000,
          tools: 1,
          failed: 0,
          last: "2026-03-01T10:01:06.000000Z",
          score: null,
          cost: expect.closeTo(3.65, 9),
        },
      ],
      ["researcher", expect.objectContaining({ tokens: 15, models: 1, failed: 1 })],
      ["writer", expect.objectContaining({ tokens: 10, models: 1, longest: 250, score: 0.5, cost: null })],
    ])
    const few = await query({ group_by, measures: [tokens], group_filters: [{ measure: tokens, max: 15 }] })
    expect(few.groups.map((group) => group.group_keys["agent_name"])).toEqual(["researcher", "writer"])
    expect(few.total_count).toBe(2)
    const late = { measure: measures[5], min: "2026-03-01T10:01:06Z" }
    expect((await query({ group_by, group_filters: [late] })).total_count).toBe(2)
  })

  test("percentiles of numbers, and of nothing else", async () => {
    const [p50, p95] = (["p50", "p95"] as const).map((aggregation) => ({
      alias: aggregation,
      aggregation,
      value: { source: "derived", key: "duration_ms" },
      filter: where(equals("operation_name", "chat")).query,
    }))
    const group_by = [{ key: "conversation_id" }]
    const { groups } = await query({ group_by, measures: [p50, p95], sort_by: [{ field: "p95" }] })
    // Of 2, 2, 3 and 4 s.
    expect(groups.map(({ metrics }) => metrics)).toEqual([
      { p50: 2500, p95: expect.closeTo(3850, 6) },
      { p50: 250, p95: 250 },
    ])
    const text = { alias: "n", aggregation: "p95", value: { key: "tool_name" } }
    expect(await ask("/agents/spans/query", { group_by, measures: [text] })).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining('aggregation "p95" is not valid for value_type "string"') },
    })
  })

  test("those with a span that holds a text, with all of their spans", async () => {
    const found = async (q: string, key = "conversation_id") => {
      const { groups, total_count } = await query({ group_by: [{ key }], q })
      expect(total_count).toBe(groups.length)
      return groups.map(({ group_keys, span_count }) => [group_keys[key], span_count])
    }
    expect(await found("ROSES are")).toEqual([["c2", 1]])
    expect(await found("nothing found")).toEqual([["c1", 8]])
    expect(await found("order")).toEqual([["c1", 8]])
    expect(await found("RESEARCH")).toEqual([["c1", 8]])
    expect(await found("c2")).toEqual([["c2", 1]])
    expect(await found('"id":1')).toEqual([["c1", 8]])
    expect(await found("shipped", "agent_name")).toEqual([["helper", 6]])
    expect(await found("%")).toEqual([])
    expect(await found("NO network")).toEqual([["c1", 8]])
    expect(ids((await query({ q: "roses" })).spans)).toEqual(["f3"])
    expect((await query({ q: "" })).total_count).toBe(9)
  })

  test("by attributes and by several values; null where a span has none", async () => {
    const group_by = [
      { source: "custom_attrs_string", key: "tier" },
      { key: "operation_name", alias: "did" },
    ]
    const { groups } = await query({ group_by, sort_by: [{ field: "span_count" }, { field: "did", direction: "asc" }] })
    expect(groups.map(({ group_keys, span_count }) => [group_keys, span_count])).toEqual([
      [{ tier: null, did: "chat" }, 4],
      [{ tier: null, did: "invoke_agent" }, 3],
      [{ tier: "gold", did: "chat" }, 1],
      [{ tier: null, did: "execute_tool" }, 1],
    ])
  })

  test("distributions of attributes", async () => {
    const spread = opened.acme.newProject()
    const values = [0, 1, 2, 3, 10]
    await sendSpans(
      opened.acme,
      spread,
      ...values.map((value, index) => ({
        trace: "9",
        id: `9${index}`,
        at: index,
        attributes: model([1n, 1n], [], [], { n: BigInt(value), label: value < 3 ? "low" : "high", same: 2.5 }),
      })),
      { trace: "9", id: "99", at: 9, attributes: model([1n, 1n], [], []) },
    )
    const answer = await opened.acme.post("/agents/spans/query", {
      project_id: spread,
      group_by: [{ key: "operation_name" }],
      group_distributions: [
        { alias: "n", value: { source: "custom_attrs_int", key: "n" }, bins: 2 },
        { alias: "label", value: { source: "custom_attrs_string", key: "label" }, top_n: 1 },
        { alias: "same", value: { source: "custom_attrs_float", key: "same" } },
        { alias: "__proto__", value: { source: "custom_attrs_bool", key: "absent" } },
      ],
    })
    const distributions = spansPage.strict().parse(answer.body).groups[0]?.distributions
    const counts = { total_count: 6, present_count: 5, missing_count: 1, other_count: 0, bins: [], values: [] }
    expect(distributions?.["n"]).toEqual({
      alias: "n",
      source: "custom_attrs_int",
      key: "n",
      value_type: "int",
      ...counts,
      bins: [
        { index: 0, min: 0, max: 5, count: 4 },
        { index: 1, min: 5, max: 10, count: 1 },
      ],
    })
    expect(distributions?.["label"]).toMatchObject({ ...counts, other_count: 2, values: [{ value: "low", count: 3 }] })
    expect(distributions?.["same"]).toMatchObject({ ...counts, bins: [{ index: 0, min: 2.5, max: 2.5, count: 5 }] })
    expect(answer.text).toContain('"__proto__":{"alias":"__proto__"')
  })
})

describe("calls 10: the attributes of spans are listed", () => {
  const schema = async (fields: object) => {
    const answer = await ask("/agents/spans/custom-attrs/schema", fields)
    expect(answer.status, answer.text).toBe(200)
    return attributeSchema.strict().parse(answer.body)
  }

  test("with their types and how many spans have them", async () => {
    expect(await schema({})).toEqual({
      attributes: [
        { source: "custom_attrs_bool", key: "ok", value_type: "bool", span_count: 1 },
        { source: "custom_attrs_int", key: "retries", value_type: "int", span_count: 1 },
        { source: "custom_attrs_float", key: "score", value_type: "float", span_count: 1 },
        { source: "custom_attrs_string", key: "tier", value_type: "string", span_count: 1 },
      ],
      limit: 200,
      offset: 0,
      has_more: false,
    })
    expect(await schema({ limit: 1, offset: 1 })).toMatchObject({ attributes: [{ key: "retries" }], has_more: true })
    expect((await schema(where(equals("agent_name", "helper")))).attributes).toEqual([])
    expect((await schema({ started_before: "2026-03-01T10:02:00Z" })).attributes).toEqual([])
  })
})

describe("calls 10: default limits, also for null", () => {
  const many = "acme/many-agents"
  const of = async (path: string, fields: object, more: object) =>
    (await ask(path, { project_id: many, ...fields, ...more })).body
  beforeAll(async () => {
    const spans = Array.from({ length: 101 }, (_, index) => ({
      trace: `${index + 1}`,
      id: `${index + 1}`,
      at: index,
      attributes: model([1n, 1n], [said("user", `hello ${index}`)], [], {
        "gen_ai.agent.name": `agent ${index}`,
        "gen_ai.conversation.id": index < 51 ? "long" : `short ${index}`,
        ...(index === 0 ? Object.fromEntries(Array.from({ length: 201 }, (__, key) => [`key_${key}`, "x"])) : {}),
      }),
    }))
    await sendSpans(opened.acme, many, ...spans)
  })

  test.each([
    ["/agents/query", {}, "agents", 100, { total_count: 101 }],
    ["/agents/spans/query", {}, "spans", 100, { total_count: 101 }],
    ["/agents/spans/query", { group_by: [{ key: "agent_name" }] }, "groups", 100, { total_count: 101 }],
    ["/agents/search", {}, "results", 20, { total_conversations: 51 }],
    ["/agents/search", { query: null, roles: ["user"] }, "results", 20, { total_conversations: 51 }],
    ["/agents/conversations/chat", { conversation_id: "long" }, "turns", 50, { total_turns: 51, has_more: true }],
    ["/agents/spans/custom-attrs/schema", {}, "attributes", 200, { has_more: true, limit: 200, offset: 0 }],
  ])("%s %j gives as many %s as %i", async (path, fields, name, count, rest) => {
    for (const more of [{}, { limit: null, offset: null }]) {
      const answer = await of(path, fields, more)
      expect(answer).toMatchObject(rest)
      expect((answer as Record<string, unknown[]>)[name]).toHaveLength(count)
    }
  })

  test.each([
    ["/agents/query", {}, { agents: [], total_count: 101 }],
    ["/agents/spans/query", {}, { spans: [], total_count: 101 }],
    ["/agents/search", {}, { results: [], total_conversations: 51 }],
    ["/agents/conversations/chat", { conversation_id: "long" }, { turns: [], total_turns: 51, has_more: true }],
  ])("%s: none of them at a limit of 0", async (path, fields, expected) => {
    expect(await of(path, fields, { limit: 0 })).toMatchObject(expected)
  })

  test("statistics: 24 ranges of a number, the 50 largest groups", async () => {
    const stats = async (fields: object) => {
      const window = { start: "2026-03-01T10:00:00Z", end: "2026-03-01T10:05:00Z", granularity: 300 }
      return (await of("/agents/spans/stats", { ...window, ...fields }, {})) as { rows: object[] }
    }
    for (const bins of [undefined, null]) {
      const range = { value: { source: "derived", key: "duration_ms" }, min: 0, max: 24_000 }
      const bucket_by = { type: "number", ...range, bins }
      expect((await stats({ bucket_by })).rows).toHaveLength(24)
    }
    const metrics = [{ alias: "tokens", value: { key: "input_tokens" }, value_type: "number" }]
    for (const group_limit of [undefined, null]) {
      const { rows } = await stats({ metrics, group_by: [{ key: "agent_name" }], group_limit })
      expect(rows).toHaveLength(50)
    }
  })
})

describe("calls 10: wrong queries", () => {
  const spans = "/agents/spans/query"
  const group_by = [{ key: "agent_name" }]
  test.each<[string, object, number]>([
    [spans, { limit: 10_001 }, 422],
    [spans, { limit: -1 }, 422],
    [spans, { offset: -1 }, 422],
    [spans, { offset: 1e30 }, 422],
    [spans, { started_after: "yesterday" }, 422],
    [spans, { query: { $expr: { $bad: [] } } }, 422],
    [spans, { sort_by: [{ field: "nothing" }] }, 400],
    [spans, { group_by: [{ key: "input_messages" }] }, 400],
    [spans, { group_by: [{ key: "agent_name" }, { key: "agent.name" }] }, 400],
    [spans, { measures: [{ alias: "n", aggregation: "count" }] }, 422],
    [spans, { group_by, include_details: true }, 422],
    [spans, { group_by, custom_attr_columns: [{ source: "custom_attrs_int", key: "a" }] }, 422],
    [spans, { custom_attr_columns: [{ source: "field", key: "a" }] }, 422],
    [spans, { group_by, measures: [{ alias: "n", aggregation: "sum" }] }, 400],
    [spans, { group_by, measures: [{ alias: "n", aggregation: "sum", value: { key: "agent_name" } }] }, 400],
    [spans, { group_by, measures: [{ alias: "n", aggregation: "sum", value: { key: "nothing" } }] }, 400],
    [spans, { group_by, measures: [{ alias: "n", aggregation: "sum", value: { source: "derived", key: "x" } }] }, 400],
    [spans, { group_by, measures: [{ alias: "span_count", aggregation: "count" }] }, 422],
    [spans, { group_by, measures: [{ alias: "a b", aggregation: "count" }] }, 422],
    [
      spans,
      {
        group_by,
        measures: [
          { alias: "n", aggregation: "count" },
          { alias: "n", aggregation: "count" },
        ],
      },
      422,
    ],
    [spans, { group_by, group_filters: [{ measure: { alias: "n", aggregation: "count" } }] }, 422],
    [spans, { group_by, group_filters: [{ measure: { alias: "n", aggregation: "count" }, min: 2, max: 1 }] }, 422],
    [spans, { group_by, group_filters: [{ measure: { alias: "n", aggregation: "count" }, min: "soon" }] }, 422],
    [spans, { group_by, group_filters: [{ measure: { alias: "n", aggregation: "count" }, min: "2026-01-01" }] }, 400],
    [
      spans,
      {
        group_by,
        group_distributions: Array.from({ length: 21 }, (_, index) => ({
          alias: `d${index}`,
          value: { source: "custom_attrs_string", key: "a" },
        })),
      },
      422,
    ],
    [spans, { insight_filters: [{ field: "mood", values: [] }] }, 422],
    ["/agents/query", { limit: 10_001 }, 422],
    ["/agents/agent-versions/query", {}, 422],
    ["/agents/agent-versions/query", { agent_name: "helper", limit: 10_001 }, 422],
    ["/agents/spans/custom-attrs/schema", { limit: 0 }, 422],
    ["/agents/spans/custom-attrs/schema", { limit: 2001 }, 422],
    ["/agents/search", { roles: ["robot"] }, 422],
    ["/agents/search", { limit: 1001 }, 422],
    ["/agents/traces/chat", {}, 422],
    ["/agents/conversations/chat", { conversation_id: "c1", limit: 51 }, 422],
    ["/agents/conversations/spans", { conversation_ids: Array.from({ length: 10_001 }, String) }, 422],
  ])("%s %j is %i", async (path, fields, status) => {
    const answer = await ask(path, fields)
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(/"(detail|reason)":/)])
  })
})

describe("security 5.3: another tenant's agents do not exist", () => {
  const paths: [string, object][] = [
    ["/agents/query", {}],
    ["/agents/agent-versions/query", { agent_name: "helper" }],
    ["/agents/spans/query", {}],
    ["/agents/spans/stats", { start: "2026-03-01", metrics: [] }],
    ["/agents/spans/custom-attrs/schema", {}],
    ["/agents/search", {}],
    ["/agents/traces/chat", { trace_id: traceId("1") }],
    ["/agents/conversations/chat", { conversation_id: "c1" }],
    ["/agents/conversations/spans", { conversation_ids: ["c1"] }],
  ]
  test.each(paths)("%s", async (path, fields) => {
    const body = { project_id: project, bucket_by: { type: "number", value: { key: "input_tokens" } }, ...fields }
    const foreign = await opened.rival.post(path, { ...body, end: "2026-03-02" })
    expect([foreign.status, foreign.body]).toEqual([403, { detail: "Project not found" }])
    expect((await opened.rival.post(path, { ...body, end: "2026-03-02", project_id: "rival/none" })).status).toBe(403)
  })

  test("spans of one project are not in another of the same tenant", async () => {
    const other = opened.acme.newProject()
    await sendSpans(opened.acme, other, { trace: "1", id: "a1", at: 0, attributes: agent("mine", "1") })
    const answer = await opened.acme.post("/agents/spans/query", { project_id: other })
    expect(answer.body).toMatchObject({ spans: [{ agent_name: "mine" }], total_count: 1 })
    expect((await query({})).total_count).toBe(9)
  })
})
