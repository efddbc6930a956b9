import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { conversationChat, traceChat } from "../../src/wire/agents/agent-chat.ts"
import { agentsPage, agentVersionsPage } from "../../src/wire/agents/agents.ts"
import { spansPage } from "../../src/wire/agents/span-query.ts"
import { agent, model, said, sendSpans, span, spanId, type TestSpan, traceId } from "../support/agent-spans.ts"
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
    expect(found.find(({ span_id: id }) => id === spanId("a1"))).toMatchObject({
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

describe("calls 10: a request that two instrumentations tell counts once", () => {
  /** Totals of a project of its own, by agent and over everything; the chat of a trace says the same. */
  async function totals(...told: TestSpan[]) {
    const own = opened.acme.newProject()
    await sendSpans(opened.acme, own, ...told)
    const post = (path: string, fields: object) => opened.acme.post(path, { project_id: own, ...fields })
    const { agents } = strictly(agentsPage, await post("/agents/query", {}))
    const { groups } = strictly(spansPage, await post("/agents/spans/query", { group_by: [{ key: "trace_id" }] }))
    const turn = strictly(traceChat, await post("/agents/traces/chat", { trace_id: traceId("1") }))
    const [group] = groups
    expect([turn.total_input_tokens, turn.total_output_tokens]).toEqual([
      group?.total_input_tokens,
      group?.total_output_tokens,
    ])
    return {
      ofTrace: [group?.total_input_tokens, group?.total_output_tokens],
      ofAgents: Object.fromEntries(agents.map((one) => [one.agent_name, one.total_input_tokens])),
    }
  }
  const asked = (name: string, input: bigint, output: bigint, more = {}) =>
    model([input, output], [], [], { "gen_ai.request.model": name, ...more })
  const tool = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup" }

  test("a framework's span around the library's, under whichever names of the model, also three deep", async () => {
    const answeredBy = { "gen_ai.response.model": "gpt-4o-2024-08-06" }
    const counted = await totals(
      span("a", undefined, 0, 20, agent("helper", "1")),
      span("b", "a", 1, 3, asked("openai/gpt-4o", 100n, 20n)),
      span("c", "b", 1.5, 2, asked("gpt-4o", 100n, 20n, answeredBy)),
      span("d", "a", 5, 3, asked("azure/our-deployment", 50n, 10n)),
      span("e", "d", 5.5, 2, asked("our-deployment", 50n, 10n)),
      span("f", "e", 6, 1, asked("gpt-4o", 50n, 10n)),
    )
    expect(counted).toEqual({ ofTrace: [150, 30], ofAgents: { helper: 150 } })
  })

  test("a span that tells the sum, or the last, of the requests right inside it", async () => {
    const requestsIn = (parent: string, from: string, at: number) => [
      span(`${from}1`, parent, at, 1, asked("m", 30n, 5n)),
      span(`${from}2`, parent, at + 2, 1, asked("n", 70n, 15n)),
    ]
    expect(await totals(span("a", undefined, 0, 9, asked("m", 100n, 20n)), ...requestsIn("a", "b", 1))).toMatchObject({
      ofTrace: [100, 20],
    })
    expect(await totals(span("a", undefined, 0, 9, asked("n", 70n, 15n)), ...requestsIn("a", "b", 1))).toMatchObject({
      ofTrace: [100, 20],
    })
  })

  test("of spans of the same model that tell different counts, those that tell more", async () => {
    const [outer, inner] = [asked("m", 100n, 20n), asked("m", 60n, 20n)]
    const around = (out: TestSpan["attributes"], within: TestSpan["attributes"]) =>
      totals(span("a", undefined, 0, 9, out), span("b", "a", 1, 1, within))
    expect(await around(outer, inner)).toMatchObject({ ofTrace: [100, 20] })
    expect(await around(inner, outer)).toMatchObject({ ofTrace: [100, 20] })
  })

  test("but a request of a tool, and one to another model, is a request of its own", async () => {
    const ofTool = await totals(
      span("a", undefined, 0, 9, asked("m", 100n, 20n)),
      span("b", "a", 1, 5, tool),
      span("c", "b", 2, 2, asked("m", 100n, 20n)),
    )
    expect(ofTool).toMatchObject({ ofTrace: [200, 40] })
    const other = await totals(
      span("a", undefined, 0, 9, asked("m", 100n, 20n)),
      span("b", "a", 1, 2, asked("judge", 30n, 1n)),
    )
    expect(other).toMatchObject({ ofTrace: [130, 21] })
  })

  test("an agent's sum counts where no span tells its requests, beside agents whose requests are told", async () => {
    const sum = (input: bigint, output: bigint) => ({
      "gen_ai.usage.input_tokens": input,
      "gen_ai.usage.output_tokens": output,
    })
    const counted = await totals(
      span("a", undefined, 0, 60, agent("lead", "1", sum(100n, 20n))),
      span("b", "a", 1, 5, asked("m", 60n, 10n)),
      span("c", "a", 10, 20, tool),
      span("d", "c", 11, 18, agent("remote", "1", sum(1000n, 200n))),
      span("e", "d", 12, 9, tool),
      span("f", "a", 40, 5, asked("m", 40n, 10n)),
    )
    expect(counted).toEqual({ ofTrace: [1100, 220], ofAgents: { lead: 100, remote: 1000 } })
    const sums = await totals(
      span("a", undefined, 0, 60, agent("lead", "1", sum(70n, 7n))),
      span("b", "a", 1, 5, agent("first", "1", sum(30n, 3n))),
      span("c", "a", 10, 5, agent("second", "1", sum(40n, 4n))),
    )
    expect(sums).toEqual({ ofTrace: [70, 7], ofAgents: { lead: 0, first: 30, second: 40 } })
  })
})
