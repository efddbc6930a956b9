import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { spansPage } from "../../src/wire/agents/span-query.ts"
import { must, mustBody } from "../support/answers.ts"
import { sendSpansTo, spanId, type TestSpan, traceId, world } from "../support/agent-spans.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

async function ask<Answer>(path: string, fields: object): Promise<Answer> {
  return mustBody<Answer>(opened.acme.post(path, fields))
}

async function agentSpans(project_id: string, fields: object = {}) {
  const order = [{ field: "span_id", direction: "asc" }]
  const answer = await ask("/agents/spans/query", { project_id, include_details: true, sort_by: order, ...fields })
  return spansPage.strict().parse(answer).spans
}

interface StoredCall {
  id: string
  trace_id: string
  op_name: string
  attributes: { otel_span: { name: string; events: unknown[] } }
}

async function calls(project_id: string): Promise<StoredCall[]> {
  const { text } = await must(
    opened.acme.post("/calls/stream_query", {
      project_id,
      sort_by: [{ field: "id", direction: "asc" }],
    }),
  )
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as StoredCall)
}

const allIds = world.map(({ id }) => spanId(id)).toSorted()

describe.each(["/agents/otel/v1/traces", "/otel/v1/traces", "/v1/traces"])("spans of agents sent to %s", (path) => {
  test("calls 8, 10: stand among the calls and among the agents", async () => {
    const project = opened.acme.newProject()
    await sendSpansTo(path, opened.acme, project, ...world)
    const stored = await calls(project)
    expect(stored.map(({ id }) => id)).toEqual(allIds)
    const [a1] = stored
    expect(a1).toMatchObject({ trace_id: traceId("1"), op_name: "invoke_agent helper" })
    const spans = await agentSpans(project)
    expect(spans.map(({ span_id }) => span_id)).toEqual(allIds)
    expect(spans[0]).toMatchObject({ agent_name: "helper", conversation_id: "c1", operation_name: "invoke_agent" })
    const agents = await ask<{ agents: { agent_name: string }[] }>("/agents/query", { project_id: project })
    expect(agents.agents.map(({ agent_name }) => agent_name).toSorted()).toEqual(["helper", "researcher", "writer"])
  })

  test("calls 10: the raw span is the one that the call shows", async () => {
    const project = opened.acme.newProject()
    await sendSpansTo(path, opened.acme, project, ...world)
    const [stored, spans] = await Promise.all([calls(project), agentSpans(project)])
    expect(spans).toHaveLength(9)
    for (const [index, { raw_span_dump }] of spans.entries()) {
      expect(JSON.parse(String(raw_span_dump))).toEqual(stored[index]?.attributes.otel_span)
    }
  })

  test("calls 2.3: a call that is deleted is no span of an agent either", async () => {
    const project = opened.acme.newProject()
    await sendSpansTo(path, opened.acme, project, ...world)
    await ask("/calls/delete", { project_id: project, call_ids: [spanId("a2")] })
    expect((await calls(project)).map(({ trace_id }) => trace_id)).not.toContain(traceId("2"))
    const left = ["a1", "b1", "c1", "d1", "f3"].map(spanId)
    expect((await agentSpans(project)).map(({ span_id }) => span_id)).toEqual(left)
  })

  test("calls 2.3: a span that is sent again after its call was deleted is shown nowhere", async () => {
    const [project, other] = [opened.acme.newProject(), opened.acme.newProject()]
    const send = async (count: number) => {
      for (const name of [project, other]) await sendSpansTo(path, opened.acme, name, ...world.slice(0, count))
    }
    await send(2)
    await ask("/calls/delete", { project_id: project, call_ids: [spanId("a1")] })
    await send(3)
    const shown = async (name: string) => {
      const [stored, spans] = await Promise.all([calls(name), agentSpans(name)])
      return [stored.map(({ id }) => id), spans.map(({ span_id }) => span_id)]
    }
    // The second is below the first, and was deleted with it; the third is new.
    const all = ["a1", "b1", "c1"].map(spanId)
    expect([await shown(project), await shown(other)]).toEqual([
      [[spanId("c1")], [spanId("c1")]],
      [all, all],
    ])
  })
})

describe("a span belongs to an agent", () => {
  const attributes = (named: string, value: string): Partial<TestSpan> => ({
    name: "step",
    attributes: { [named]: value },
  })
  test.each<[string, Partial<TestSpan>]>([
    ["an operation", attributes("gen_ai.operation.name", "rerank")],
    ["an agent", attributes("gen_ai.agent.name", "helper")],
    ["a conversation", attributes("gen_ai.conversation.id", "c1")],
    ["a provider", attributes("gen_ai.system", "openai")],
    ["a model", attributes("gen_ai.request.model", "model-a")],
    ["a kind of OpenInference", attributes("openinference.span.kind", "LLM")],
    ["a step of a framework", attributes("openinference.span.kind", "CHAIN")],
    ["a name of the conventions", { name: "execute_tool lookup" }],
  ])("calls 10: when it names %s", async (_, more) => {
    const project = opened.acme.newProject()
    await sendSpansTo("/otel/v1/traces", opened.acme, project, { trace: "1", id: "1", at: 0, ...more })
    expect(await agentSpans(project)).toHaveLength(1)
  })

  test.each<[string, Partial<TestSpan>]>([
    ["a request", { name: "GET /orders", attributes: { "http.request.method": "GET" } }],
    ["a name that only begins alike", { name: "chatty" }],
  ])("calls 10: %s does not, unless it comes by the agents' own path", async (_, more) => {
    const [general, own] = [opened.acme.newProject(), opened.acme.newProject()]
    const span = { trace: "1", id: "1", at: 0, ...more }
    await sendSpansTo("/otel/v1/traces", opened.acme, general, span)
    await sendSpansTo("/agents/otel/v1/traces", opened.acme, own, span)
    expect([await agentSpans(general), await calls(general)]).toMatchObject([[], [{ id: spanId("1") }]])
    expect([await agentSpans(own), await calls(own)]).toMatchObject([[{ span_id: spanId("1") }], [{ id: spanId("1") }]])
  })
})

test("calls 10: the raw span is no field of a query", async () => {
  const project_id = opened.acme.newProject()
  await sendSpansTo("/otel/v1/traces", opened.acme, project_id, { trace: "1", id: "1", at: 0 })
  const raw = { $getField: "raw_span_dump" }
  const message = '"raw_span_dump" is shown with include_details, and no field of a query; name an attribute instead'
  for (const fields of [
    { query: { $expr: { $contains: { input: raw, substr: { $literal: "x" } } } } },
    { sort_by: [{ field: "raw_span_dump", direction: "asc" }] },
  ]) {
    const answer = await opened.acme.post("/agents/spans/query", { project_id, ...fields })
    expect(answer).toMatchObject({ status: 422, body: { reason: message } })
  }
})
