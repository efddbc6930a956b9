/** Whose a span is that names no agent: evaluation-store-calls 10, decision 0044. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { agentSearchAnswer, agentsPage } from "../../src/wire/agents/agents.ts"
import { spansPage } from "../../src/wire/agents/span-query.ts"
import { agent, model, said, sendSpans, sendSpansTo, span, type TestSpan } from "../support/agent-spans.ts"
import { strictly } from "../support/answers.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const asked = (input: bigint) => model([input, 1n], [said("user", "Go.")], [said("assistant", "Gone.")])
const tool = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "delegate" }

async function projectOf(...spans: TestSpan[]) {
  const project = opened.acme.newProject()
  await sendSpans(opened.acme, project, ...spans)
  return project
}

const ask = (project: string, path: string, fields: object = {}) =>
  opened.acme.post(path, { project_id: project, ...fields })

/** The agent of each span, by the span's short id. */
async function agentsOf(project: string) {
  const { spans } = strictly(spansPage, await ask(project, "/agents/spans/query"))
  return Object.fromEntries(spans.map((one) => [one.span_id.replace(/^0+/, ""), one.agent_name]))
}

describe("calls 10: a span that names no agent has that of the nearest span around it", () => {
  const lead: TestSpan[] = [
    span("a", undefined, 0, 20, agent("lead", "1", { "gen_ai.conversation.id": "c1" })),
    span("b", "a", 1, 1, asked(10n)),
    span("c", "a", 3, 9, tool),
    span("d", "c", 4, 7, agent("helper", "2")),
    span("e", "d", 5, 1, asked(100n)),
    span("e1", "e", 5.2, 0.5, asked(100n)),
    span("f", "d", 7, 2, tool),
    span("f1", "f", 7.5, 1, asked(1000n)),
    span("b2", "a", 14, 1, asked(20n)),
  ]

  test("at any depth, whichever was sent first", async () => {
    const expected = { a: "lead", b: "lead", c: "lead", d: "helper", e: "helper", e1: "helper", f: "helper" }
    for (const order of [lead, lead.toReversed()]) {
      const project = await projectOf(...order)
      expect(await agentsOf(project)).toEqual({ ...expected, f1: "helper", b2: "lead" })
      const { agents } = strictly(
        agentsPage,
        await ask(project, "/agents/query", { sort_by: [{ field: "agent_name" }] }),
      )
      expect(agents).toMatchObject([
        { agent_name: "lead", span_count: 4, total_input_tokens: 30 },
        { agent_name: "helper", span_count: 5, total_input_tokens: 1100 },
      ])
    }
  })

  test("in queries, groups, versions and the search too", async () => {
    const project = await projectOf(...lead)
    const named = { $expr: { $eq: [{ $getField: "agent_name" }, { $literal: "helper" }] } }
    const found = strictly(spansPage, await ask(project, "/agents/spans/query", { query: named }))
    expect(found.spans.map(({ agent_version, conversation_id }) => [agent_version, conversation_id])).toEqual(
      Array.from({ length: 5 }, () => ["2", "c1"]),
    )
    const { groups } = strictly(
      spansPage,
      await ask(project, "/agents/spans/query", {
        group_by: [{ key: "agent_name" }],
        sort_by: [{ field: "agent_name", direction: "asc" }],
      }),
    )
    expect(groups.map(({ span_count }) => span_count)).toEqual([5, 4])
    const search = { query: "Gone.", agent_name: "helper", roles: ["assistant"] }
    const { results } = strictly(agentSearchAnswer, await ask(project, "/agents/search", search))
    expect(results).toMatchObject([{ agent_name: "helper", conversation_id: "c1" }])
  })

  test("of agents that work at the same time", async () => {
    const project = await projectOf(
      span("a", undefined, 0, 20, agent("lead", "1")),
      span("b", "a", 1, 9, agent("left", "1")),
      span("c", "a", 1.5, 9, agent("right", "1")),
      span("b1", "b", 2, 1, asked(1n)),
      span("c1", "c", 2, 1, asked(1n)),
      span("b2", "b", 6, 1, asked(1n)),
    )
    expect(await agentsOf(project)).toEqual({ a: "lead", b: "left", c: "right", b1: "left", c1: "right", b2: "left" })
  })

  test("through steps that do nothing of agents, and without one around it the first of the trace", async () => {
    const project = await projectOf(
      { ...span("9", undefined, 0, 30, {}), name: "workflow" },
      span("a", "9", 1, 5, agent("first", "1")),
      span("b", "9", 10, 5, agent("second", "1")),
      { ...span("92", "b", 11, 3, {}), name: "step" },
      span("b1", "92", 12, 1, asked(1n)),
      span("c1", "9", 20, 1, asked(1n)),
      span("d1", "99", 21, 1, asked(1n)),
    )
    const [first, second] = ["first", "second"]
    expect(await agentsOf(project)).toEqual({
      9: first,
      a: first,
      b: second,
      92: second,
      b1: second,
      c1: first,
      d1: first,
    })
  })

  test("on the path of all spans too, through the steps of a framework", async () => {
    const kind = (name: string, more = {}) => ({ "openinference.span.kind": name, ...more })
    const project = opened.acme.newProject()
    await sendSpansTo(
      "/otel/v1/traces",
      opened.acme,
      project,
      span("9", undefined, 0, 30, kind("CHAIN")),
      span("a", "9", 1, 5, kind("AGENT", { "agent.name": "triage" })),
      span("91", "a", 2, 3, kind("CHAIN")),
      span("a1", "91", 3, 1, kind("LLM")),
      span("b", "9", 10, 5, kind("AGENT", { "agent.name": "refunds" })),
      span("92", "b", 11, 3, kind("CHAIN")),
      span("b1", "92", 12, 1, kind("LLM")),
    )
    expect(await agentsOf(project)).toMatchObject({ 9: "triage", a1: "triage", 92: "refunds", b1: "refunds" })
  })

  test("spans in a circle have the first of the trace", async () => {
    const project = await projectOf(
      span("a", undefined, 0, 1, agent("lead", "1")),
      span("b", "a", 5, 1, agent("helper", "1")),
      span("c", "d", 10, 1, asked(1n)),
      span("d", "c", 11, 1, asked(1n)),
      span("e", "e", 12, 1, asked(1n)),
    )
    expect(await agentsOf(project)).toMatchObject({ c: "lead", d: "lead", e: "lead" })
  })
})
