import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { usageAnswer } from "../../src/wire/calls/usage.ts"
import { callStatsAnswer } from "../../src/wire/calls/usage-stats.ts"
import { sendSpansTo, spanId, type TestSpan } from "../support/agent-spans.ts"
import { strictly } from "../support/answers.ts"
import { type CallFields, uuid, writeCalls } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const write = (project: string, calls: readonly CallFields[]) => writeCalls(opened.acme, project, calls)

async function usage(path: "/trace/usage" | "/calls/usage", project: string, fields: Record<string, unknown>) {
  return strictly(usageAnswer, await opened.acme.post(path, { project_id: project, ...fields }))
}

const noCosts = {
  prompt_tokens_total_cost: null,
  completion_tokens_total_cost: null,
  cache_read_input_tokens_total_cost: null,
  cache_creation_input_tokens_total_cost: null,
}

const tokens = (prompt: number, completion: number, requests = 1) => ({
  requests,
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  ...noCosts,
})

const reported = (prompt: number, completion: number) => ({
  requests: 1,
  prompt_tokens: prompt,
  completion_tokens: completion,
})

describe("calls 4.1: usage", () => {
  const project = "acme/usage"
  beforeAll(async () => {
    await write(project, [
      { id: 1, trace: 100 },
      { id: 2, parent: 1, trace: 100, usage: { big: reported(10, 1) } },
      {
        id: 3,
        parent: 2,
        trace: 100,
        usage: { big: { requests: 1, input_tokens: 5, output_tokens: 2 }, small: reported(1, 1) },
      },
      { id: 4, parent: 1, trace: 100, usage: { big: "garbage", none: { prompt_tokens: 0 } } },
      { id: 5, trace: 200, usage: { small: reported(7, 7) } },
      { id: 6, parent: 99, trace: 300, usage: { small: reported(2, 2) } },
    ])
    const start = {
      id: uuid(7),
      trace_id: uuid(300),
      parent_id: uuid(6),
      op_name: "op",
      started_at: "2026-03-01T00:00:00Z",
    }
    await opened.acme.post("/call/start", { start: { project_id: project, attributes: {}, inputs: {}, ...start } })
  })

  test("each call has its own and that of its descendants among the calls that match", async () => {
    const answer = await usage("/trace/usage", project, { filter: { trace_ids: [uuid(100)] } })
    expect(answer).toEqual({
      call_usage: {
        [uuid(1)]: { big: tokens(15, 3, 2), small: tokens(1, 1) },
        [uuid(2)]: { big: tokens(15, 3, 2), small: tokens(1, 1) },
        [uuid(3)]: { big: tokens(5, 2), small: tokens(1, 1) },
        [uuid(4)]: {},
      },
      unfinished_call_ids: [],
    })
    const part = await usage("/trace/usage", project, { filter: { call_ids: [uuid(1), uuid(3)] } })
    expect(part.call_usage).toEqual({ [uuid(1)]: {}, [uuid(3)]: { big: tokens(5, 2), small: tokens(1, 1) } })
  })

  test("the query language and the limit choose calls too", async () => {
    const query = { $expr: { $eq: [{ $getField: "trace_id" }, { $literal: uuid(200) }] } }
    expect(Object.keys((await usage("/trace/usage", project, { query })).call_usage)).toEqual([uuid(5)])
    expect(Object.keys((await usage("/trace/usage", project, { limit: 2 })).call_usage)).toEqual([uuid(1), uuid(2)])
    expect(await opened.acme.post("/trace/usage", { project_id: project, limit: -1 })).toMatchObject({ status: 422 })
    expect(await opened.acme.post("/calls/usage", { project_id: project })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "call_ids"], type: "missing" }] },
    })
  })

  test("calls by id: usage includes the whole traces of the calls, and every id asked for has an entry", async () => {
    const call_ids = [uuid(2), uuid(5), uuid(6), uuid(77)]
    expect(await usage("/calls/usage", project, { call_ids })).toEqual({
      call_usage: {
        [uuid(2)]: { big: tokens(15, 3, 2), small: tokens(1, 1) },
        [uuid(5)]: { small: tokens(7, 7) },
        [uuid(6)]: { small: tokens(2, 2) },
        [uuid(77)]: {},
      },
      unfinished_call_ids: [uuid(7)],
    })
    expect((await usage("/calls/usage", project, { call_ids: ["constructor"] })).call_usage).toEqual({
      ["constructor"]: {},
    })
    expect(await usage("/calls/usage", project, { call_ids: [] })).toEqual({ call_usage: {}, unfinished_call_ids: [] })
    expect(await usage("/calls/usage", project, { call_ids: [uuid(78)] })).toMatchObject({
      call_usage: { [uuid(78)]: {} },
    })
  })

  test("with costs: the price at the time of each call, summed over descendants, 0 where there is none", async () => {
    const priced = opened.acme.newProject()
    const price = { prompt_token_cost: 2, completion_token_cost: 3, cache_read_input_token_cost: 0.5 }
    const costs = (effective_date: string, factor: number) => ({
      big: { ...price, prompt_token_cost: price.prompt_token_cost * factor, effective_date },
    })
    for (const body of [costs("2026-01-01T00:00:00Z", 1), costs("2026-02-01T00:00:00Z", 10)]) {
      await opened.acme.post("/cost/create", { project_id: priced, costs: body })
    }
    const cached = { prompt_tokens: 10, completion_tokens: 1, cache_read_input_tokens: 4 }
    await write(priced, [
      { id: 1, startedAt: "2026-01-15T00:00:00Z", usage: { big: cached } },
      { id: 2, parent: 1, startedAt: "2026-02-15T00:00:00Z", usage: { big: reported(1, 0), free: reported(1, 1) } },
      { id: 3, parent: 1, startedAt: "2025-12-31T00:00:00Z", usage: { big: reported(1, 0) } },
    ])
    const { call_usage } = await usage("/calls/usage", priced, { call_ids: [uuid(1)], include_costs: true })
    expect(call_usage[uuid(1)]).toMatchObject({
      big: {
        prompt_tokens: 12,
        prompt_tokens_total_cost: 6 * 2 + 1 * 20,
        completion_tokens_total_cost: 3,
        cache_read_input_tokens_total_cost: 2,
        cache_creation_input_tokens_total_cost: 0,
      },
      free: { prompt_tokens_total_cost: 0, completion_tokens_total_cost: 0 },
    })
  })

  describe("each request counts once, however many ancestors report it", () => {
    const chain = (name: string, ...reports: (object | null)[]) =>
      write(
        name,
        reports.map((report, index) => ({
          id: index + 1,
          ...(index === 0 ? {} : { parent: index }),
          ...(report === null ? {} : { usage: report }),
        })),
      )
    const rootUsage = async (name: string, fields: object = {}) =>
      (await usage("/calls/usage", name, { call_ids: [uuid(1)], ...fields })).call_usage[uuid(1)]

    test("as the SDKs write it: one request of 16 tokens under three ops, in tokens and costs", async () => {
      const own = opened.acme.newProject()
      const price = { prompt_token_cost: 1, completion_token_cost: 1 }
      await opened.acme.post("/cost/create", {
        project_id: own,
        costs: { m: { ...price, effective_date: "2026-01-01" } },
      })
      const one = { m: reported(10, 6) }
      await chain(own, one, one, one, one)
      expect(await rootUsage(own)).toEqual({ m: tokens(10, 6) })
      const { call_usage } = await usage("/trace/usage", own, { include_costs: true })
      expect(Object.keys(call_usage)).toHaveLength(4)
      for (const models of Object.values(call_usage)) {
        expect(models["m"]).toMatchObject({
          requests: 1,
          total_tokens: 16,
          prompt_tokens_total_cost: 10,
          completion_tokens_total_cost: 6,
        })
      }
      expect(await rootUsage(own, { rollup: "sum" })).toEqual({ m: tokens(40, 24, 4) })
      expect(await rootUsage(own, { rollup: "sum", include_costs: true })).toMatchObject({
        m: { prompt_tokens_total_cost: 40 },
      })
    })

    test("a call that reports more than its descendants counts the difference as its own", async () => {
      const own = opened.acme.newProject()
      await write(own, [
        { id: 1, usage: { m: { requests: 3, prompt_tokens: 30, completion_tokens: 9 }, other: reported(1, 1) } },
        { id: 2, parent: 1, usage: { m: reported(10, 2) } },
        { id: 3, parent: 1, usage: { m: reported(15, 3) } },
      ])
      expect(await rootUsage(own)).toEqual({ m: tokens(30, 9, 3), other: tokens(1, 1) })
    })

    test("a call that reports less than its descendants is counted in addition to them", async () => {
      const own = opened.acme.newProject()
      await chain(own, { m: reported(5, 5) }, { m: reported(10, 2) })
      expect(await rootUsage(own)).toEqual({ m: tokens(15, 7, 2) })
    })

    test("the Python SDK sums up what has ended by then: a stream that ends after its parent counts once too", async () => {
      const own = opened.acme.newProject()
      await write(own, [
        { id: 1, usage: { m: reported(10, 2) }, statusCounts: { success: 2, error: 0 } },
        { id: 2, parent: 1, usage: { m: reported(10, 2) } },
        { id: 3, parent: 1, usage: { m: reported(5, 1) } },
      ])
      expect(await rootUsage(own)).toEqual({ m: tokens(15, 3, 2) })
    })

    test("through calls that report nothing, and for a span that names no model", async () => {
      const own = opened.acme.newProject()
      const agent = { usage: { input_tokens: 12, output_tokens: 6 } }
      const spans = [{ big: { input_tokens: 10, output_tokens: 5 } }, { small: { input_tokens: 2, output_tokens: 1 } }]
      await chain(own, agent, null, null, ...spans)
      expect(await rootUsage(own)).toEqual({ big: tokens(10, 5, 0), small: tokens(2, 1, 0) })
    })

    test("a report under the name that was asked for holds what is reported of the version that answered", async () => {
      const [own, other, both] = [opened.acme.newProject(), opened.acme.newProject(), opened.acme.newProject()]
      await chain(own, { "gpt-4o": reported(10, 5) }, { "gpt-4o-2024-08-06": reported(10, 5) })
      expect(await rootUsage(own)).toEqual({ "gpt-4o-2024-08-06": tokens(10, 5) })
      await chain(other, { "gpt-4o": reported(10, 5) }, { "gpt-4o-mini": reported(2, 1) })
      expect(await rootUsage(other)).toEqual({ "gpt-4o": tokens(10, 5), "gpt-4o-mini": tokens(2, 1) })
      const chained = { "m-001": reported(4, 4), "n-latest": reported(6, 6) }
      await chain(both, chained, { "m-003": reported(4, 4), "n-20260101": reported(6, 6) })
      const counted = { "m-001": tokens(4, 4), "m-003": tokens(4, 4), "n-20260101": tokens(6, 6) }
      expect(await rootUsage(both)).toEqual(counted)
    })

    test("an unknown rollup is 422", async () => {
      expect(await opened.acme.post("/trace/usage", { project_id: project, rollup: "all" })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", "rollup"] }] },
      })
    })
  })

  describe("spans of agents: a request counts once, whichever spans tell it", () => {
    const told = (input: bigint, output: bigint) => ({
      "gen_ai.usage.input_tokens": input,
      "gen_ai.usage.output_tokens": output,
    })
    const span = (id: string, parent: string | null, operation: string, counts: object = {}, name = "m"): TestSpan => ({
      trace: "1",
      id,
      ...(parent === null ? {} : { parent }),
      at: 0,
      attributes: { "gen_ai.operation.name": operation, "gen_ai.request.model": name, ...counts },
    })
    async function rootTokens(...spans: TestSpan[]) {
      const own = opened.acme.newProject()
      await sendSpansTo("/otel/v1/traces", opened.acme, own, ...spans)
      const { call_usage } = await usage("/calls/usage", own, { call_ids: [spanId("a")] })
      const stats = await opened.acme.post("/calls/stats", {
        project_id: own,
        start: "2026-03-01T00:00:00Z",
        end: "2026-03-02T00:00:00Z",
        granularity: 86400,
        usage_metrics: [{ metric: "total_tokens" }],
      })
      const buckets = strictly(callStatsAnswer, stats).usage_buckets
      const total = Object.values(call_usage[spanId("a")] ?? {}).reduce((sum, one) => sum + one.total_tokens, 0)
      expect(buckets.reduce((sum, bucket) => sum + Number(bucket["sum_total_tokens"]), 0)).toBe(total)
      return total
    }

    test("an agent whose sum leaves out the agent that its tool asks", async () => {
      const spans = [
        span("a", null, "invoke_agent", told(150n, 30n)),
        span("b", "a", "chat", told(100n, 20n)),
        span("c", "a", "chat", told(50n, 10n)),
        span("d", "a", "execute_tool"),
        span("e", "d", "invoke_agent", told(70n, 7n)),
        span("f", "e", "chat", told(70n, 7n)),
      ]
      expect(await rootTokens(...spans)).toBe(180 + 77)
      const whole = span("a", null, "invoke_agent", told(220n, 37n))
      expect(await rootTokens(whole, ...spans.slice(1))).toBe(180 + 77)
    })

    test("a request that its tool makes is one of its own, smaller or not", async () => {
      const around = [span("a", null, "chat", told(100n, 20n)), span("b", "a", "execute_tool")]
      expect(await rootTokens(...around, span("c", "b", "chat", told(50n, 10n)))).toBe(120 + 60)
      expect(await rootTokens(...around, span("c", "b", "chat", told(100n, 20n)))).toBe(120 + 120)
    })

    test("a span that tells the last of the requests inside of it, or the same under another name", async () => {
      const requests = [span("b", "a", "chat", told(50n, 5n)), span("c", "a", "chat", told(60n, 5n))]
      expect(await rootTokens(span("a", null, "invoke_agent", told(60n, 5n)), ...requests)).toBe(55 + 65)
      const named = span("a", null, "chat", told(60n, 5n), "azure/our-deployment")
      expect(await rootTokens(named, span("b", "a", "chat", told(60n, 5n)))).toBe(65)
    })
  })

  test("a summary with a lone surrogate and a number of more than 64 bits is read like any other", async () => {
    const lone = opened.acme.newProject()
    const summary = String.raw`{"usage":{"big":{"requests":1,"prompt_tokens":10,"completion_tokens":5}},"status_counts":{"error":1},"note":"\ud83d","n":123456789012345678901}`
    const body = (id: string, more: string) =>
      `{"batch":[{"project_id":"${lone}","id":"${id}","trace_id":"${id}","op_name":"op","started_at":"2026-03-01T00:00:00Z",
        "ended_at":"2026-03-01T00:00:01Z","attributes":{},"inputs":{},"output":null,"summary":${more}}]}`
    expect((await opened.acme.post(`/v2/${lone}/calls/complete`, body(uuid(1), summary))).status).toBe(200)
    expect((await opened.acme.post(`/v2/${lone}/calls/complete`, body(uuid(2), "{}"))).status).toBe(200)
    const of = { [uuid(1)]: { big: tokens(10, 5) }, [uuid(2)]: {} }
    expect((await usage("/trace/usage", lone, {})).call_usage).toEqual(of)
    expect((await usage("/calls/usage", lone, { call_ids: [uuid(1), uuid(2)] })).call_usage).toEqual(of)
    const stats = await opened.acme.post("/calls/stats", {
      project_id: lone,
      start: "2026-03-01T00:00:00Z",
      end: "2026-03-01T01:00:00Z",
      granularity: 3600,
      usage_metrics: [{ metric: "total_tokens", aggregations: ["sum"] }],
    })
    expect(strictly(callStatsAnswer, stats).usage_buckets).toMatchObject([{ model: "big", sum_total_tokens: 15 }])
    const where = async (field: string, value: unknown) => {
      const query = { $expr: { $eq: [{ $getField: field }, { $literal: value }] } }
      return (await opened.acme.lines("/calls/stream_query", { project_id: lone, query })).map(
        (call) => (call as { id: string }).id,
      )
    }
    expect(await where("summary.weave.tokens", 15)).toEqual([uuid(1)])
    expect(await where("summary.weave.status", "descendant_error")).toEqual([uuid(1)])
    expect(await where("summary.weave.status", "success")).toEqual([uuid(2)])
  })

  test("parents in a circle end the roll-up and not the server; deleted calls are not counted", async () => {
    const odd = opened.acme.newProject()
    await write(odd, [
      { id: 1, parent: 2, usage: { m: reported(1, 0) } },
      { id: 2, parent: 1, usage: { m: reported(2, 0) } },
      { id: 3, parent: 2, usage: { m: reported(4, 0) } },
      { id: 4, usage: { m: reported(8, 0) } },
    ])
    await opened.acme.post("/calls/delete", { project_id: odd, call_ids: [uuid(4)] })
    expect((await usage("/trace/usage", odd, {})).call_usage).toEqual({
      [uuid(1)]: { m: tokens(1, 0) },
      [uuid(2)]: { m: tokens(6, 0, 2) },
      [uuid(3)]: { m: tokens(4, 0) },
    })
  })

  test("security 5.3: another tenant's project does not exist", async () => {
    for (const [path, body] of [
      ["/trace/usage", {}],
      ["/calls/usage", { call_ids: [uuid(1)] }],
    ] as const) {
      expect(await opened.rival.post(path, { project_id: project, ...body })).toMatchObject({ status: 403 })
      const own = await opened.rival.post("/call/start", {
        start: {
          project_id: "rival/usage",
          op_name: "op",
          started_at: "2026-03-01T00:00:00Z",
          attributes: {},
          inputs: {},
        },
      })
      expect(own.status).toBe(200)
      const answer = await opened.rival.post(path, {
        project_id: "rival/usage",
        filter: { call_ids: [uuid(1)] },
        ...body,
      })
      expect(usageAnswer.parse(answer.body).call_usage[uuid(1)] ?? {}).toEqual({})
    }
  })
})
