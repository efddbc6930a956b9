import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { callStatsAnswer } from "../../src/wire/calls/usage-stats.ts"
import { strictly } from "../support/answers.ts"
import { type CallFields, writeCalls } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const write = (project: string, calls: readonly CallFields[]) => writeCalls(opened.acme, project, calls)

const ask = (project: string, fields: Record<string, unknown>) =>
  opened.acme.post("/calls/stats", { project_id: project, start: "2026-03-01", end: "2026-03-01T03:00:00Z", ...fields })

async function stats(project: string, fields: Record<string, unknown>) {
  return strictly(callStatsAnswer, await ask(project, fields))
}

describe("calls 4.2: statistics", () => {
  const project = "acme/stats"
  beforeAll(async () => {
    await write(project, [
      {
        id: 1,
        startedAt: "2026-03-01T00:10:00Z",
        endedAt: "2026-03-01T00:10:00.100900Z",
        usage: { big: { prompt_tokens: 10, completion_tokens: 1 }, small: { input_tokens: 1, output_tokens: 2 } },
      },
      {
        id: 2,
        startedAt: "2026-03-01T00:59:59.999999Z",
        endedAt: "2026-03-01T01:00:00.299999Z",
        exception: "boom",
        usage: { big: { prompt_tokens: 20, input_tokens: 1, completion_tokens: 3, total_tokens: 99 } },
        opName: "other",
      },
      {
        id: 3,
        startedAt: "2026-03-01T02:00:00Z",
        endedAt: "2026-03-01T02:00:02Z",
        usage: { big: { prompt_tokens: 5 } },
      },
      { id: 4, startedAt: "2026-03-01T03:00:00Z" },
      { id: 5, startedAt: "2026-02-28T23:59:59Z" },
    ])
    await opened.acme.post("/call/start", {
      start: {
        project_id: project,
        op_name: "op",
        started_at: "2026-03-01T02:30:00Z",
        attributes: {},
        inputs: {},
      },
    })
  })

  test("call metrics: every bucket is there, with zeros or null when empty", async () => {
    const call_metrics = [
      { metric: "latency_ms", aggregations: ["avg", "min", "max", "count"], percentiles: [50, 99.9] },
      { metric: "call_count" },
      { metric: "error_count", aggregations: ["sum", "count_true", "count_false"] },
    ]
    const answer = await stats(project, { call_metrics, granularity: 3600 })
    expect(answer).toEqual({
      start: "2026-03-01T00:00:00.000000Z",
      end: "2026-03-01T03:00:00.000000Z",
      granularity: 3600,
      timezone: "UTC",
      usage_buckets: [],
      call_buckets: [
        {
          timestamp: "2026-03-01T00:00:00+00:00",
          avg_latency_ms: 200,
          min_latency_ms: 100,
          max_latency_ms: 300,
          count_latency_ms: 2,
          p50_latency_ms: 200,
          "p99.9_latency_ms": expect.closeTo(299.8, 3),
          sum_call_count: 2,
          sum_error_count: 1,
          count_true_error_count: 1,
          count_false_error_count: 1,
          count: 2,
        },
        {
          timestamp: "2026-03-01T01:00:00+00:00",
          avg_latency_ms: 0,
          min_latency_ms: null,
          max_latency_ms: null,
          count_latency_ms: 0,
          p50_latency_ms: null,
          "p99.9_latency_ms": null,
          sum_call_count: 0,
          sum_error_count: 0,
          count_true_error_count: 0,
          count_false_error_count: 0,
          count: 0,
        },
        {
          timestamp: "2026-03-01T02:00:00+00:00",
          avg_latency_ms: 2000,
          min_latency_ms: 2000,
          max_latency_ms: 2000,
          count_latency_ms: 1,
          p50_latency_ms: 2000,
          "p99.9_latency_ms": 2000,
          sum_call_count: 2,
          sum_error_count: 0,
          count_true_error_count: 0,
          count_false_error_count: 2,
          count: 2,
        },
      ],
    })
  })

  test("usage metrics: by model, spellings added, a missing total made from its parts", async () => {
    const usage_metrics = ["input_tokens", "output_tokens", "total_tokens"].map((metric) => ({ metric }))
    const { usage_buckets, call_buckets } = await stats(project, { usage_metrics, granularity: 7200 })
    const row = (timestamp: string, model: string, [input, output, total, count]: number[]) => ({
      timestamp,
      model,
      sum_input_tokens: input,
      sum_output_tokens: output,
      sum_total_tokens: total,
      count,
    })
    expect(call_buckets).toEqual([])
    expect(usage_buckets).toEqual([
      row("2026-03-01T00:00:00+00:00", "big", [31, 4, 110, 2]),
      row("2026-03-01T00:00:00+00:00", "small", [1, 2, 3, 1]),
      row("2026-03-01T02:00:00+00:00", "big", [5, 0, 5, 1]),
      row("2026-03-01T02:00:00+00:00", "small", [0, 0, 0, 0]),
    ])
  })

  test("tokens of caches, by every aggregation; the range begins with its first moment and ends before its last", async () => {
    const cached = opened.acme.newProject()
    const at = (startedAt: string, read: number, written: number) => ({
      startedAt,
      usage: { m: { cache_read_input_tokens: read, cache_creation_input_tokens: written } },
    })
    await write(cached, [
      { id: 1, ...at("2026-03-01T00:00:00Z", 3, 1) },
      { id: 2, ...at("2026-03-01T00:59:59.999999Z", 5, 0) },
      { id: 3, ...at("2026-03-01T01:00:00Z", 100, 100) },
      { id: 4, ...at("2026-02-28T23:59:59.999999Z", 100, 100) },
    ])
    const usage_metrics = [
      {
        metric: "cache_read_input_tokens",
        aggregations: ["sum", "avg", "min", "max", "count"],
        percentiles: [0, 50, 100],
      },
      { metric: "cache_creation_input_tokens", aggregations: ["sum", "count_true", "count_false"] },
    ]
    const { usage_buckets } = await stats(cached, { usage_metrics, granularity: 3600, end: "2026-03-01T01:00:00Z" })
    expect(usage_buckets).toEqual([
      {
        timestamp: "2026-03-01T00:00:00+00:00",
        model: "m",
        sum_cache_read_input_tokens: 8,
        avg_cache_read_input_tokens: 4,
        min_cache_read_input_tokens: 3,
        max_cache_read_input_tokens: 5,
        count_cache_read_input_tokens: 2,
        p0_cache_read_input_tokens: 3,
        p50_cache_read_input_tokens: 4,
        p100_cache_read_input_tokens: 5,
        sum_cache_creation_input_tokens: 1,
        count_true_cache_creation_input_tokens: 1,
        count_false_cache_creation_input_tokens: 1,
        count: 2,
      },
    ])
  })

  test("costs: each call at the price of its time, also within one bucket", async () => {
    const priced = opened.acme.newProject()
    const price = (prompt: number, effective_date: string) => ({
      m: { prompt_token_cost: prompt, completion_token_cost: 1, cache_read_input_token_cost: 0.5, effective_date },
    })
    for (const costs of [price(1, "2026-01-01"), price(100, "2026-03-01T00:30:00Z")]) {
      await opened.acme.post("/cost/create", { project_id: priced, costs })
    }
    await write(priced, [
      {
        id: 1,
        startedAt: "2026-03-01T00:29:59.999999Z",
        usage: { m: { prompt_tokens: 3, cache_read_input_tokens: 2 } },
      },
      {
        id: 2,
        startedAt: "2026-03-01T00:30:00Z",
        usage: { m: { prompt_tokens: 2, completion_tokens: 4 }, n: { prompt_tokens: 9 } },
      },
    ])
    const usage_metrics = ["input_cost", "output_cost", "total_cost"].map((metric) => ({ metric }))
    const { usage_buckets } = await stats(priced, { usage_metrics, granularity: 3600, end: "2026-03-01T01:00:00Z" })
    const timestamp = "2026-03-01T00:00:00+00:00"
    expect(usage_buckets).toEqual([
      { timestamp, model: "m", sum_input_cost: 201, sum_output_cost: 4, sum_total_cost: 206, count: 2 },
      { timestamp, model: "n", sum_input_cost: 0, sum_output_cost: 0, sum_total_cost: 0, count: 1 },
    ])
  })

  test("each request counts once, however many ancestors report it; rollup sum adds up what calls report", async () => {
    const chained = opened.acme.newProject()
    const price = { prompt_token_cost: 1, completion_token_cost: 1, effective_date: "2026-01-01" }
    await opened.acme.post("/cost/create", { project_id: chained, costs: { m: price } })
    const usage = { m: { requests: 1, prompt_tokens: 10, completion_tokens: 6 } }
    const at = (minute: number) => `2026-03-01T00:0${minute}:00Z`
    await write(chained, [
      { id: 1, trace: 1, startedAt: at(0), usage, opName: "root" },
      { id: 2, trace: 1, parent: 1, startedAt: at(1) },
      { id: 3, trace: 1, parent: 2, startedAt: at(2), usage },
      { id: 4, trace: 1, parent: 3, startedAt: at(3), usage, opName: "request" },
      { id: 5, trace: 2, startedAt: at(4), usage, opName: "request" },
    ])
    const usage_metrics = [
      { metric: "total_tokens", aggregations: ["sum", "avg", "max", "count"], percentiles: [50] },
      { metric: "total_cost" },
    ]
    const bucket = async (fields: object) =>
      (await stats(chained, { usage_metrics, granularity: 10_800, ...fields })).usage_buckets
    const counted = {
      timestamp: "2026-03-01T00:00:00+00:00",
      model: "m",
      sum_total_tokens: 32,
      avg_total_tokens: 16,
      max_total_tokens: 16,
      count_total_tokens: 2,
      p50_total_tokens: 16,
      sum_total_cost: 32,
      count: 2,
    }
    expect(await bucket({})).toEqual([counted])
    expect(await bucket({ filter: { op_names: ["request"] } })).toEqual([counted])
    expect(await bucket({ filter: { op_names: ["root", "request"] } })).toEqual([counted])
    expect(await bucket({ filter: { trace_roots_only: true } })).toEqual([counted])
    expect(await bucket({ rollup: "sum" })).toMatchObject([{ sum_total_tokens: 64, sum_total_cost: 64, count: 4 }])
  })

  test("each request counts once in a trace that goes on beside thousands of others", async () => {
    const long = opened.acme.newProject()
    const usage = { m: { requests: 1, prompt_tokens: 10, completion_tokens: 6 } }
    const second = (n: number) => new Date(Date.UTC(2026, 2, 1, 0, 0, n)).toISOString()
    const others = Array.from({ length: 10_001 }, (_, n) => ({
      id: n + 10,
      trace: n + 10,
      startedAt: second(n),
      usage,
    }))
    await write(long, [
      { id: 1, trace: 1, startedAt: second(0), usage, opName: "root" },
      { id: 2, trace: 1, parent: 1, startedAt: second(5_000) },
      { id: 3, trace: 1, parent: 2, startedAt: second(9_999), usage },
      { id: 4, trace: 1, parent: 2, startedAt: second(10_000) },
      { id: 5, trace: 2, startedAt: second(1) },
      { id: 6, trace: 2, parent: 5, startedAt: second(9_000) },
      ...others,
    ])
    const usage_metrics = [{ metric: "total_tokens" }]
    const by = async (fields: object) =>
      (await stats(long, { usage_metrics, granularity: 10_800, ...fields })).usage_buckets
    expect(await by({})).toMatchObject([{ sum_total_tokens: 16 * 10_002, count: 10_002 }])
    expect(await by({ rollup: "sum" })).toMatchObject([{ sum_total_tokens: 16 * 10_003, count: 10_003 }])
    expect(await by({ usage_group_by: "trace_op" })).toMatchObject([
      { trace_op: "op", sum_total_tokens: 16 * 10_001 },
      { trace_op: "root", sum_total_tokens: 16, count: 1 },
    ])
  })

  test("usage by the op that a trace began with, and by user: each call once, with those that had no price told", async () => {
    const spent = opened.acme.newProject()
    const price = { prompt_token_cost: 2, completion_token_cost: 1, effective_date: "2026-03-01T00:05:00Z" }
    await opened.acme.post("/cost/create", { project_id: spent, costs: { m: price } })
    const op = (version: string) => `weave:///${spent}/op/answer:${version.repeat(43)}`
    const usage = (model: string, tokens: number) => ({ [model]: { requests: 1, prompt_tokens: tokens } })
    const both = { ...usage("m", 10), ...usage("free", 3) }
    const at = (minute: number) => `2026-03-01T00:${minute}:00Z`
    await write(spent, [
      { id: 1, trace: 1, startedAt: at(10), usage: both, opName: op("a"), statusCounts: { success: 4, error: 0 } },
      { id: 2, trace: 1, parent: 1, startedAt: at(11), usage: both, opName: "plan" },
      { id: 3, trace: 1, parent: 2, startedAt: at(12), usage: usage("m", 10), opName: "request" },
      { id: 4, trace: 1, parent: 2, startedAt: at(13), usage: usage("free", 3), opName: "request" },
      { id: 5, trace: 2, startedAt: at(14), usage: usage("m", 7), opName: op("b") },
      { id: 6, trace: 3, startedAt: at(15), usage: usage("m", 1), opName: "request" },
      // Its price is not there yet.
      { id: 7, trace: 4, startedAt: "2026-03-01T00:04:00Z", usage: usage("m", 5), opName: "early" },
    ])
    const usage_metrics = ["input_tokens", "total_cost", "unpriced_calls"].map((metric) => ({ metric }))
    const by = async (usage_group_by: string | null, fields = {}) =>
      (await stats(spent, { usage_metrics, granularity: 10_800, usage_group_by, ...fields })).usage_buckets
    const timestamp = "2026-03-01T00:00:00+00:00"
    const figures = (tokens: number, cost: number, unpriced: number, count: number) => ({
      timestamp,
      sum_input_tokens: tokens,
      sum_total_cost: cost,
      sum_unpriced_calls: unpriced,
      count,
    })
    expect(await by(null)).toEqual([
      { model: "free", ...figures(3, 0, 1, 1) },
      { model: "m", ...figures(23, 36, 1, 4) },
    ])
    expect(await by("trace_op")).toEqual([
      { trace_op: "answer", ...figures(20, 34, 1, 3) },
      { trace_op: "early", ...figures(5, 0, 1, 1) },
      { trace_op: "request", ...figures(1, 2, 0, 1) },
    ])
    expect(await by("trace_op", { filter: { op_names: ["request"] } })).toEqual([
      { trace_op: "answer", ...figures(13, 20, 1, 2) },
      { trace_op: "request", ...figures(1, 2, 0, 1) },
    ])
    const [user, ...others] = await by("wb_user_id")
    expect([user, others]).toEqual([{ wb_user_id: expect.stringMatching(/./), ...figures(26, 36, 2, 5) }, []])
    expect((await ask(spent, { usage_metrics, usage_group_by: "agent" })).status).toBe(422)
  })

  test.each([
    [{ end: "2026-03-01T02:00:00Z" }, 300],
    [{ end: "2026-03-01T02:00:01Z" }, 3600],
    [{ end: "2026-03-01T12:00:00Z" }, 3600],
    [{ end: "2026-03-01T12:00:01Z" }, 21_600],
    [{ end: "2026-03-04T00:00:00Z" }, 21_600],
    [{ end: "2026-03-04T00:00:01Z" }, 43_200],
    [{ end: "2026-03-15T00:00:00Z" }, 43_200],
    [{ end: "2026-03-15T00:00:01Z" }, 86_400],
    [{ end: "2026-03-02T00:00:00Z", granularity: 1 }, 9],
  ])("the width suits the range, and there are at most 10,000 buckets: %j", async (fields, granularity) => {
    const answer = await stats(project, { call_metrics: [{ metric: "call_count" }], ...fields })
    expect(answer.granularity).toBe(granularity)
    expect(answer.call_buckets.length).toBeLessThanOrEqual(10_001)
  })

  test("buckets begin by the clock of the time zone", async () => {
    const fields = { call_metrics: [{ metric: "call_count" }], granularity: 86_400, timezone: "America/New_York" }
    const { call_buckets, timezone } = await stats(project, fields)
    expect(timezone).toBe("America/New_York")
    expect(call_buckets).toEqual([{ timestamp: "2026-02-28T05:00:00+00:00", sum_call_count: 4, count: 4 }])
    const half = await stats(project, { ...fields, granularity: 3600, timezone: "Asia/Kolkata" })
    expect(half.call_buckets.map(({ timestamp, count }) => [timestamp, count])).toEqual([
      ["2026-02-28T23:30:00+00:00", 1],
      ["2026-03-01T00:30:00+00:00", 1],
      ["2026-03-01T01:30:00+00:00", 1],
      ["2026-03-01T02:30:00+00:00", 1],
    ])
  })

  test("the filter narrows; without an end the range goes up to now", async () => {
    const call_metrics = [{ metric: "call_count" }]
    const filtered = await stats(project, { call_metrics, granularity: 10_800, filter: { op_names: ["other"] } })
    expect(filtered.call_buckets).toMatchObject([{ count: 1 }])
    const versioned = opened.acme.newProject()
    const op = (name: string) => `weave:///${versioned}/op/${name}`
    await write(versioned, [
      { id: 1, opName: op("f:v1") },
      { id: 2, opName: op("f:v2") },
      { id: 3, opName: op("g:v1") },
    ])
    // `f:*` matches all versions of f; the reference takes exact names only.
    for (const [op_names, count] of [
      [[op("f:v1")], 1],
      [[op("f:*")], 2],
    ] as const) {
      const found = await stats(versioned, { call_metrics, granularity: 10_800, filter: { op_names } })
      expect(found.call_buckets).toMatchObject([{ count }])
    }
    const { end } = await stats(project, { call_metrics, end: null })
    expect(Date.parse(end)).toBeGreaterThan(Date.parse("2026-03-01"))
  })

  test.each([
    [{ end: "2026-02-01" }, 422],
    [{ start: "soon" }, 422],
    [{ start: undefined }, 422],
    [{ project_id: undefined }, 422],
    [{ granularity: 0 }, 422],
    [{ start: "1969-12-31", granularity: Number.MAX_SAFE_INTEGER, call_metrics: [{ metric: "call_count" }] }, 422],
    [{ usage_metrics: [{ metric: "speed" }] }, 422],
    [{ usage_metrics: [{ metric: "total_tokens", percentiles: [101] }] }, 400],
    [{ rollup: "all" }, 422],
    [{ call_metrics: [{ metric: "latency_ms", aggregations: ["median"] }] }, 422],
    [{ call_metrics: [{ metric: "latency_ms", percentiles: [101] }] }, 400],
    [{ call_metrics: [{ metric: "latency_ms", percentiles: [-1] }] }, 400],
    [{ timezone: "Mars/Olympus" }, 400],
  ])("%j is %i", async (fields, status) => {
    const answer = await ask(project, fields)
    expect(answer.status).toBe(status)
    expect(Object.keys(answer.body as object)).toEqual(status === 422 ? ["detail"] : ["reason", "error_type"])
  })

  test("law 8: an answer of more values than memory has room for is refused, with the way out", async () => {
    const percentiles = Array.from({ length: 100 }, (_, percent) => percent)
    const metric = { metric: "latency_ms", aggregations: [], percentiles }
    const twoHours = { granularity: 1, end: "2026-03-01T02:00:00Z" }
    const tooMany = await ask(project, { call_metrics: [metric], ...twoHours })
    expect([tooMany.status, tooMany.body]).toMatchObject([
      400,
      {
        reason:
          "the answer would have 7200 buckets with 100 values each; it may have 500000 values. " +
          "Ask for a larger granularity, a shorter range or fewer metrics",
      },
    ])
    const wide = Array.from({ length: 11 }, (_, index) => ({
      ...metric,
      percentiles: percentiles.slice(1).map((percent) => percent - index / 100),
    }))
    const tooWide = await ask(project, { call_metrics: wide, granularity: 10_800 })
    expect(tooWide).toMatchObject({ status: 400, body: { reason: expect.stringContaining("1089 values") as string } })
    const many = opened.acme.newProject()
    const usage = Object.fromEntries(Array.from({ length: 70 }, (_, model) => [`m${model}`, { prompt_tokens: 1 }]))
    await write(many, [{ id: 1, usage }])
    const usage_metrics = [{ metric: "input_tokens" }]
    expect((await ask(many, { usage_metrics, ...twoHours })).status).toBe(400)
    expect((await ask(many, { usage_metrics, ...twoHours, granularity: 2 })).status).toBe(200)
  })

  test("security 5.3: another tenant's project does not exist", async () => {
    const body = { project_id: project, start: "2026-03-01", call_metrics: [{ metric: "call_count" }] }
    expect((await opened.rival.post("/calls/stats", body)).status).toBe(403)
  })
})
