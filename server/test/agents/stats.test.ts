import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { spanStatsAnswer } from "../../src/wire/agents/span-stats.ts"
import { strictly } from "../support/answers.ts"
import { sendWorld } from "../support/agent-spans.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

const project = "acme/measured"
const range = { start: "2026-03-01T10:00:00Z", end: "2026-03-01T10:03:00Z" }

let opened: EvaluationApp
beforeAll(async () => {
  opened = await openEvaluationApp()
  await sendWorld(opened.acme, project)
})
afterAll(() => opened.close())

const ask = (fields: object) => opened.acme.post("/agents/spans/stats", { project_id: project, ...range, ...fields })

async function stats(fields: object) {
  return strictly(spanStatsAnswer, await ask(fields))
}

const input = { alias: "input", value: { key: "usage.input_tokens" }, value_type: "number" }
const failed = { alias: "failed", value: { source: "derived", key: "is_error" }, value_type: "boolean" }
const took = { alias: "took", value: { source: "derived", key: "duration_ms" }, value_type: "number" }
const minute = (number: number) => `2026-03-01T10:0${number}:00+00:00`

describe("calls 10: statistics over time", () => {
  test("every bucket, with columns that say what they are", async () => {
    const metrics = [
      { ...input, aggregations: ["sum", "avg", "max", "count"] },
      { ...took, percentiles: [50, 99.9] },
      { ...failed, aggregations: ["count_true", "count_false"] },
    ]
    const { rows, columns, ...rest } = await stats({ metrics, granularity: 60 })
    expect(rest).toEqual({
      start: "2026-03-01T10:00:00.000000Z",
      end: "2026-03-01T10:03:00.000000Z",
      granularity: 60,
      timezone: "UTC",
      bucket_type: "time",
    })
    expect(columns.slice(0, 2)).toEqual([
      { name: "timestamp", role: "time", value_type: "datetime", metric: null, aggregation: null },
      { name: "sum_input", role: "metric", value_type: "number", metric: "input", aggregation: "sum" },
    ])
    expect(columns.map(({ name }) => name)).toEqual([
      "timestamp",
      "sum_input",
      "avg_input",
      "max_input",
      "count_input",
      "p50_took",
      "p99_9_took",
      "count_true_failed",
      "count_false_failed",
    ])
    expect(rows[0]).toEqual({
      timestamp: minute(0),
      sum_input: 250,
      avg_input: 62.5,
      max_input: 150,
      count_input: 4,
      // 1, 2, 4 and 10 seconds.
      p50_took: 3000,
      p99_9_took: expect.closeTo(9982, 6),
      count_true_failed: 0,
      count_false_failed: 4,
    })
    expect(rows.map((row) => [row["timestamp"], row["sum_input"], row["count_true_failed"]])).toEqual([
      [minute(0), 250, 0],
      [minute(1), 50, 1],
      [minute(2), 7, 0],
    ])
  })

  test("a bucket without spans: sums and counts are 0, other measures are absent", async () => {
    const metrics = [{ ...input, aggregations: ["sum", "count", "avg", "min"], percentiles: [50] }]
    const empty = { start: "2025-01-01T00:00:00Z", end: "2025-01-01T00:01:00Z", granularity: 60 }
    expect((await stats({ metrics, ...empty })).rows).toEqual([
      {
        timestamp: "2025-01-01T00:00:00+00:00",
        sum_input: 0,
        count_input: 0,
        avg_input: null,
        min_input: null,
        p50_input: null,
      },
    ])
  })

  test("default aggregations, and metrics of times, attributes and costs", async () => {
    const metrics = [
      input,
      { alias: "agents", value: { key: "agent.name" }, value_type: "string", aggregations: ["count_distinct"] },
      { alias: "began", value: { key: "started_at" }, value_type: "datetime", aggregations: ["min"] },
      { alias: "ok", value: { source: "custom_attrs_bool", key: "ok" }, value_type: "boolean" },
      { alias: "cost", value: { source: "derived", key: "total_cost_usd" }, value_type: "number" },
    ]
    expect((await stats({ metrics, granularity: 86_400 })).rows).toEqual([
      {
        timestamp: "2026-03-01T00:00:00+00:00",
        sum_input: 307,
        count_distinct_agents: 3,
        min_began: "2026-03-01T10:00:00.000000Z",
        count_ok: 1,
        sum_cost: expect.closeTo(3.85, 9),
      },
    ])
  })

  test("days begin where the time zone has them", async () => {
    const wide = { start: "2026-03-01T00:00:00Z", end: "2026-03-02T00:00:00Z", granularity: 86_400 }
    const { rows } = await stats({ metrics: [input], ...wide, timezone: "Asia/Tokyo" })
    expect(rows.map((row) => [row["timestamp"], row["sum_input"]])).toEqual([
      ["2026-02-28T15:00:00+00:00", 307],
      ["2026-03-01T15:00:00+00:00", 0],
    ])
  })

  test("by group: every bucket of the groups with the most spans", async () => {
    const asked = { metrics: [input], granularity: 60, group_by: [{ key: "agent_name" }] }
    const { rows, columns } = await stats(asked)
    expect(columns[1]).toMatchObject({ name: "agent_name", role: "group", value_type: "string" })
    expect(rows).toHaveLength(9)
    expect(rows.filter((row) => row["agent_name"] === "helper").map((row) => row["sum_input"])).toEqual([250, 40, 0])
    const top = await stats({ ...asked, group_limit: 1 })
    expect(new Set(top.rows.map((row) => row["agent_name"]))).toEqual(new Set(["helper"]))
    const tiers = await stats({ ...asked, group_by: [{ source: "custom_attrs_string", key: "tier", alias: "t" }] })
    expect(new Set(tiers.rows.map((row) => row["t"]))).toEqual(new Set([null, "gold"]))
  })

  test("only spans of groups that meet a condition, of conversations unless it says otherwise", async () => {
    const many = { measure: { alias: "n", aggregation: "count" }, min: 2 }
    const total = async (group_filters: object[]) =>
      (await stats({ metrics: [input], granularity: 86_400, group_filters })).rows[0]?.["sum_input"]
    expect(await total([many])).toBe(300)
    expect(await total([{ ...many, group_by: [{ key: "trace_id" }], max: 3, min: null }])).toBe(7)
    expect(await total([many, { measure: { alias: "n", aggregation: "count" }, max: 1 }])).toBe(0)
  })

  test("a query and a window that leave few", async () => {
    const query = { $expr: { $eq: [{ $getField: "operation_name" }, { $literal: "chat" }] } }
    const { rows } = await stats({ metrics: [input], granularity: 60, query, start: "2026-03-01T10:00:05Z" })
    expect(rows.map((row) => row["sum_input"])).toEqual([150, 50, 7])
  })
})

describe("calls 10: statistics by ranges of a number", () => {
  test("ranges of spans have metrics, or the number of spans", async () => {
    const bucket_by = { type: "number", value: { source: "derived", key: "duration_ms" }, bins: 2, min: 0, max: 10_000 }
    const { rows, columns, ...rest } = await stats({ bucket_by, metrics: [input] })
    expect(rest).toMatchObject({ granularity: null, bucket_type: "number" })
    expect(columns.map(({ name, role }) => [name, role])).toEqual([
      ["bucket_index", "bucket"],
      ["bucket_min", "bucket"],
      ["bucket_max", "bucket"],
      ["sum_input", "metric"],
    ])
    expect(rows).toEqual([
      { bucket_index: 0, bucket_min: 0, bucket_max: 5000, sum_input: 307 },
      { bucket_index: 1, bucket_min: 5000, bucket_max: 10_000, sum_input: 0 },
    ])
    const counted = await stats({ bucket_by })
    expect(counted.columns.at(-1)).toEqual({
      name: "count",
      role: "metric",
      value_type: "number",
      metric: "rows",
      aggregation: "count",
    })
    expect(counted.rows.map((row) => row["count"])).toEqual([7, 2])
  })

  test("ranges of groups, by a measure of each group", async () => {
    const bucket_by = {
      type: "number",
      group_by: [{ key: "conversation_id" }],
      measure: { alias: "tokens", aggregation: "sum", value: { source: "derived", key: "total_tokens" } },
      bins: 2,
    }
    // 373 tokens in one conversation, 10 in the other.
    expect((await stats({ bucket_by })).rows).toEqual([
      { bucket_index: 0, bucket_min: 10, bucket_max: 191.5, count: 1 },
      { bucket_index: 1, bucket_min: 191.5, bucket_max: 373, count: 1 },
    ])
    const filter = { measure: { alias: "n", aggregation: "count" }, min: 2 }
    expect((await stats({ bucket_by, group_filters: [filter] })).rows).toEqual([
      { bucket_index: 0, bucket_min: 373, bucket_max: 373, count: 1 },
    ])
  })

  test("without values there are no ranges", async () => {
    const bucket_by = { type: "number", value: { source: "custom_attrs_float", key: "absent" } }
    expect((await stats({ bucket_by })).rows).toEqual([])
  })
})

describe("calls 10: statistics that mean nothing", () => {
  const number = { type: "number", value: { key: "input_tokens" } }
  const grouped = {
    type: "number",
    group_by: [{ key: "agent_name" }],
    measure: { alias: "n", aggregation: "count" },
  }
  const filter = { measure: { alias: "n", aggregation: "count" }, min: 1 }
  test("law 8: an answer of more values than memory has room for is refused", async () => {
    const percentiles = Array.from({ length: 100 }, (_, percent) => percent)
    const metrics = [{ ...took, percentiles }]
    const hours = { start: "2026-03-01T10:00:00Z", end: "2026-03-01T12:00:00Z", metrics }
    expect(await ask({ ...hours, granularity: 1 })).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining("7200 buckets with 100 values each") as string },
    })
    expect((await ask({ ...hours, granularity: 60 })).status).toBe(200)
    const wide = Array.from({ length: 11 }, (_, index) => ({ ...took, alias: `took_${index}`, percentiles }))
    const inOne = { metrics: wide, bucket_by: { type: "number", value: took.value, bins: 1 } }
    expect(await ask(inOne)).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining("1100 values") as string },
    })
  })

  test.each<[object, number]>([
    [{}, 422],
    [{ metrics: [input], end: "2026-04-02T00:00:00Z" }, 422],
    [{ metrics: [input], end: "2026-02-01" }, 422],
    [{ metrics: [input], start: "now" }, 422],
    [{ metrics: [input], granularity: 0 }, 422],
    [{ metrics: [input], timezone: "Mars/Olympus" }, 400],
    [{ metrics: [input, input] }, 422],
    [{ metrics: [{ ...input, value_type: "string" }] }, 400],
    [{ metrics: [{ ...input, aggregations: ["count_true"] }] }, 400],
    [{ metrics: [{ ...input, percentiles: [101] }] }, 422],
    [{ metrics: [{ ...input, value: { key: "output_messages" } }] }, 400],
    [{ metrics: [input], group_limit: 1001 }, 422],
    [{ metrics: [input], group_by: [{ key: "agent_name", alias: "timestamp" }] }, 400],
    [{ metrics: [input], group_by: [{ key: "agent_name" }], group_filters: [filter] }, 422],
    [{ bucket_by: { ...number, bins: 201 } }, 422],
    [{ bucket_by: { ...number, min: 2, max: 1 } }, 422],
    [{ bucket_by: { type: "number" } }, 422],
    [{ bucket_by: { ...number, ...grouped } }, 422],
    [{ bucket_by: { type: "number", group_by: [{ key: "agent_name" }] } }, 422],
    [{ bucket_by: { type: "number", value: { key: "agent_name" } } }, 400],
    [{ bucket_by: number, group_by: [{ key: "agent_name" }] }, 422],
    [{ bucket_by: number, group_filters: [filter] }, 422],
    [{ bucket_by: grouped, metrics: [input] }, 422],
    [{ bucket_by: grouped, group_filters: [{ ...filter, group_by: [{ key: "trace_id" }] }] }, 400],
    [{ bucket_by: { type: "weekday" } }, 422],
  ])("%j is %i", async (fields, status) => {
    const answer = await ask(fields)
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(/"(detail|reason)":/)])
  })
})
