import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { conversationChat, traceChat } from "../../src/wire/agents/agent-chat.ts"
import { agentsPage, agentVersionsPage } from "../../src/wire/agents/agents.ts"
import { spansPage } from "../../src/wire/agents/span-query.ts"
import { agent, model, said, sendSpans, spanId, type TestSpan, traceId } from "../support/agent-spans.ts"
import { strictly } from "../support/answers.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let project: string
beforeAll(async () => {
  opened = await openEvaluationApp()
  project = opened.acme.newProject()
  await sendSpans(opened.acme, project, ...spans)
  const price = { prompt_token_cost: 0.01, completion_token_cost: 0.02, effective_date: "2026-01-01T00:00:00Z" }
  const answer = await opened.acme.post("/cost/create", { project_id: project, costs: { "model-a": price } })
  expect(answer.status).toBe(200)
})
afterAll(() => opened.close())

const ask = (path: string, fields: object) => opened.acme.post(path, { project_id: project, ...fields })

const usage = (input: bigint, output: bigint) => ({
  "gen_ai.request.model": "model-a",
  "gen_ai.usage.input_tokens": input,
  "gen_ai.usage.output_tokens": output,
})
const answered = { "gen_ai.output.messages": JSON.stringify([said("assistant", "Done.")]) }
const inside = (conversation: string) => ({ "gen_ai.conversation.id": conversation })

/** In the conversation `sums` one run whose every level tells the sum, in `alone` a run whose agents alone tell anything. */
const spans: TestSpan[] = [
  {
    trace: "1",
    id: "a1",
    at: 0,
    takes: 9,
    attributes: agent("helper", "1", { ...usage(150n, 30n), ...inside("sums"), ...answered }),
  },
  { trace: "1", id: "b1", parent: "a1", name: "step 1", at: 1, takes: 7, attributes: usage(150n, 30n) },
  { trace: "1", id: "c1", parent: "b1", at: 2, attributes: model([100n, 20n], [], []) },
  { trace: "1", id: "d1", parent: "b1", at: 4, attributes: model([50n, 10n], [], []) },
  {
    trace: "1",
    id: "e1",
    parent: "b1",
    at: 6,
    attributes: { "gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 7n },
  },
  {
    trace: "2",
    id: "a2",
    at: 60,
    takes: 9,
    attributes: agent("coder", "1", { ...usage(1000n, 200n), ...inside("alone"), ...answered }),
  },
  {
    trace: "2",
    id: "b2",
    parent: "a2",
    at: 61,
    attributes: { "gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 7n },
  },
  // A request whose tokens nobody told.
  { trace: "2", id: "c2", parent: "a2", at: 63, attributes: model([0n, 0n], [], []) },
]

describe("calls 10: a request counts once, however many spans around it tell its tokens", () => {
  test("in the totals of agents and of their versions", async () => {
    const { agents } = strictly(agentsPage, await ask("/agents/query", { include_costs: true }))
    expect(agents).toMatchObject([
      {
        agent_name: "coder",
        total_input_tokens: 1007,
        total_output_tokens: 200,
        // 1,000 · 0.01 + 200 · 0.02; the embedding has no price.
        total_cost_usd: expect.closeTo(14, 9),
      },
      {
        agent_name: "helper",
        span_count: 5,
        total_input_tokens: 157,
        total_output_tokens: 30,
        total_cost_usd: expect.closeTo(2.1, 9),
      },
    ])
    const asked = { agent_name: "helper", include_costs: true }
    const { versions } = strictly(agentVersionsPage, await ask("/agents/agent-versions/query", asked))
    expect(versions).toMatchObject([{ total_input_tokens: 157, total_cost_usd: expect.closeTo(2.1, 9) }])
  })

  test("in the totals of groups, also where the window begins within the trace", async () => {
    const asked = { group_by: [{ key: "conversation_id" }], include_costs: true }
    const { groups } = strictly(spansPage, await ask("/agents/spans/query", asked))
    expect(groups).toMatchObject([
      { group_keys: { conversation_id: "alone" }, total_input_tokens: 1007, total_output_tokens: 200 },
      {
        group_keys: { conversation_id: "sums" },
        span_count: 5,
        total_input_tokens: 157,
        total_output_tokens: 30,
        total_cost_usd: expect.closeTo(2.1, 9),
        total_input_cost_usd: expect.closeTo(1.5, 9),
        total_output_cost_usd: expect.closeTo(0.6, 9),
      },
    ])
    const early = { ...asked, started_before: "2026-03-01T10:00:02Z" }
    const before = strictly(spansPage, await ask("/agents/spans/query", early))
    expect(before.groups).toMatchObject([{ span_count: 2, total_input_tokens: 0, total_cost_usd: null }])
  })

  test("in the totals of a turn, a conversation and an answer", async () => {
    const turn = strictly(traceChat, await ask("/agents/traces/chat", { trace_id: traceId("1") }))
    expect(turn).toMatchObject({
      total_input_tokens: 157,
      total_output_tokens: 30,
      total_cost_usd: expect.closeTo(2.1, 9),
    })
    expect(turn.messages.findLast(({ type }) => type === "assistant_message")).toMatchObject({
      span_id: spanId("a1"),
      assistant_message: {
        text: "Done.",
        input_tokens: 157,
        output_tokens: 30,
        total_cost_usd: expect.closeTo(2.1, 9),
      },
    })
    const alone = { conversation_id: "alone" }
    const conversation = strictly(conversationChat, await ask("/agents/conversations/chat", alone))
    expect(conversation).toMatchObject({
      total_cost_usd: expect.closeTo(14, 9),
      turns: [{ total_input_tokens: 1007, total_output_tokens: 200 }],
    })
  })

  test("a span shows what it said, and a measure is of what spans say", async () => {
    const { spans: found } = strictly(spansPage, await ask("/agents/spans/query", { include_costs: true }))
    expect(found.find((span) => span.span_id === spanId("a1"))).toMatchObject({
      input_tokens: 150,
      output_tokens: 30,
      total_cost_usd: expect.closeTo(2.1, 9),
    })
    const tokens = { alias: "tokens", aggregation: "sum", value: { key: "input_tokens" } }
    const asked = { group_by: [{ key: "agent_name" }], measures: [tokens], sort_by: [{ field: "last_seen" }] }
    const { groups } = strictly(spansPage, await ask("/agents/spans/query", asked))
    expect(groups.map(({ metrics }) => metrics["tokens"])).toEqual([1007, 457])
  })
})
