/** A span is a call and a span of an agent: what it cost is the same in both views (evaluation-store-calls 3.2, 8 and 10). */
import { afterAll, beforeAll, expect, test } from "vitest"
import { spansPage } from "../../src/wire/agents/span-query.ts"
import { sendSpansTo, spanId, type TestSpan } from "../support/agent-spans.ts"
import { strictly } from "../support/answers.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let project: string
beforeAll(async () => {
  opened = await openEvaluationApp()
  project = opened.acme.newProject()
  await sendSpansTo(
    "/otel/v1/traces",
    opened.acme,
    project,
    ...cases.map(([, attributes], index) => span(index, attributes)),
  )
  const price = (effective_date: string, prompt_token_cost: number) => ({
    prompt_token_cost,
    completion_token_cost: 2,
    cache_read_input_token_cost: 0.5,
    cache_creation_input_token_cost: 4,
    effective_date,
  })
  for (const costs of [
    { "model-a": price("2026-01-01T00:00:00Z", 1), "model-b": price("2026-03-02T00:00:00Z", 1) },
    { "model-a": price("2026-03-02T00:00:00Z", 1000), "model-b-2026-03-01": price("2026-03-02T00:00:00Z", 1) },
    { "model-c": price("2026-01-01T00:00:00Z", 1), "model-c-0301": price("2026-01-01T00:00:00Z", 100) },
  ]) {
    const answer = await opened.acme.post("/cost/create", { project_id: project, costs })
    expect(answer.status).toBe(200)
  }
})
afterAll(() => opened.close())

const tokens = { "gen_ai.usage.input_tokens": 10n, "gen_ai.usage.output_tokens": 3n }
const asked = (model: string) => ({ "gen_ai.operation.name": "chat", "gen_ai.request.model": model })

type Case = [title: string, attributes: NonNullable<TestSpan["attributes"]>, cost: number | null]

const cases: Case[] = [
  ["the price that held when it began", { ...asked("model-a"), ...tokens }, 16],
  ["a price that did not hold yet", { ...asked("model-b"), ...tokens }, null],
  ["no price", { ...asked("unpriced"), ...tokens }, null],
  [
    "the model that answered, before the one that was asked",
    { ...asked("model-a"), "gen_ai.response.model": "model-c", ...tokens },
    16,
  ],
  [
    "a version without a price of its own, at that of its model",
    { ...asked("other"), "gen_ai.response.model": "model-a-2026-02-01", ...tokens },
    16,
  ],
  ["a version with a price of its own", { ...asked("model-c-0301"), ...tokens }, 1006],
  [
    "a version whose own price did not hold yet, nor did that of its model",
    { ...asked("model-b-2026-03-01"), ...tokens },
    null,
  ],
  [
    "another model than the one that was asked, without a price",
    { ...asked("model-a"), "gen_ai.response.model": "elsewhere", ...tokens },
    null,
  ],
  [
    "tokens of caches",
    {
      ...asked("model-a"),
      ...tokens,
      "gen_ai.usage.cache_read.input_tokens": 4n,
      "gen_ai.usage.cache_creation.input_tokens": 1n,
    },
    // (10 - 4 - 1) · 1 + 4 · 0.5 + 1 · 4 + 3 · 2
    17,
  ],
  [
    "tokens written to a cache, as weave 0.54.0 names them",
    { ...asked("model-a"), ...tokens, "gen_ai.usage.cache_write.input_tokens": 1n },
    // (10 - 1) · 1 + 1 · 4 + 3 · 2
    19,
  ],
  [
    "tokens of a cache that are counted beside the prompt",
    { ...asked("model-a"), ...tokens, "gen_ai.usage.cache_read.input_tokens": 20n },
    // 20 · 0.5 + 3 · 2
    16,
  ],
  [
    "the names of Weave",
    {
      "weave.operation.name": "chat",
      "weave.request.model": "other",
      "weave.response.model": "model-a",
      "weave.usage.input_tokens": 10n,
      "weave.usage.output_tokens": 3n,
      "weave.usage.cache_read.input_tokens": 2n,
      "weave.usage.cache_creation.input_tokens": 1n,
    },
    // (10 - 2 - 1) · 1 + 2 · 0.5 + 1 · 4 + 3 · 2
    18,
  ],
  [
    "a model that only the parameters name",
    {
      "openinference.span.kind": "LLM",
      "llm.invocation_parameters": '{"model":"model-a","temperature":0}',
      "llm.token_count.prompt": 10n,
      "llm.token_count.completion": 3n,
    },
    16,
  ],
]

const span = (index: number, attributes: Case[1]): TestSpan => ({
  trace: String(index + 1),
  id: `a${index}`,
  at: 0,
  attributes,
})

test.each(cases.map(([title, , cost], index) => [title, index, cost] as const))("%s", async (_, index, cost) => {
  const expected = cost === null ? null : expect.closeTo(cost, 9)
  expect({ agents: await costOfSpan(index), calls: await costOfCall(index), sums: await costInStats(index) }).toEqual({
    agents: expected,
    calls: expected,
    sums: cost === null ? 0 : expected,
  })
})

async function costOfSpan(index: number) {
  const query = { $expr: { $eq: [{ $getField: "span_id" }, { $literal: spanId(`a${index}`) }] } }
  const asking = { project_id: project, query, include_costs: true }
  const { spans } = strictly(spansPage, await opened.acme.post("/agents/spans/query", asking))
  expect(spans).toHaveLength(1)
  return spans[0]?.total_cost_usd
}

const parts = ["prompt_tokens", "completion_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]

async function costOfCall(index: number): Promise<number | null> {
  const asking = { project_id: project, id: spanId(`a${index}`), include_costs: true }
  const { body } = await opened.acme.post("/call/read", asking)
  const { call } = body as { call: { summary: { weave: { costs?: Record<string, Record<string, number>> } } } }
  const models = Object.values(call.summary.weave.costs ?? {})
  if (models.length === 0) return null
  return models.flatMap((costs) => parts.map((part) => Number(costs[`${part}_total_cost`]))).reduce((a, b) => a + b)
}

async function costInStats(index: number): Promise<number> {
  const range = { start: "2026-03-01T00:00:00Z", end: "2026-03-02T00:00:00Z", granularity: 86_400 }
  const filter = { call_ids: [spanId(`a${index}`)] }
  const asking = { project_id: project, ...range, filter, usage_metrics: [{ metric: "total_cost" }] }
  const { body } = await opened.acme.post("/calls/stats", asking)
  const { usage_buckets } = body as { usage_buckets: { sum_total_cost: number }[] }
  return usage_buckets.reduce((sum, bucket) => sum + bucket.sum_total_cost, 0)
}
