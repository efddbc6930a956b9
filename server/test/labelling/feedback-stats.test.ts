import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  feedbackAggregateAnswer,
  feedbackStatsAnswer,
  payloadSchemaAnswer,
} from "../../src/wire/labelling/feedback-stats.ts"
import { strictly } from "../support/answers.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { createdFeedback } from "../support/feedback-items.ts"

const project = "acme/scored"
const ref = (kind: string, name: string) => `weave:///${project}/${kind}/${name}`
const scorer = (name: string) => ref("object", `${name}:v1`)
const turn = ref("agent_turn", "t1")

const runnable = (name: string, payload: unknown, fields: Record<string, unknown> = {}) => ({
  feedback_type: `wandb.runnable.${name}`,
  runnable_ref: scorer(name),
  trigger_ref: ref("object", "monitor:abc"),
  payload: { output: payload },
  ...fields,
})

const items = [
  runnable(
    "judge",
    { score: 1, ok: true, label: "a" },
    { scorer_ratings: { _rating_: 0.25 }, scorer_tags: ["good", "good"] },
  ),
  runnable(
    "judge",
    { score: 3, ok: false, label: "b" },
    { scorer_ratings: { _rating_: 0.75 }, scorer_tags: ["good", "long"], weave_ref: turn },
  ),
  runnable("judge", { score: "none" }, { trigger_ref: ref("object", "monitors:abc"), scorer_ratings: { zero: 0 } }),
  runnable(
    "judges",
    { score: 10 },
    { span_agent_name: "bot", span_status_code: "OK", trigger_ref: ref("object", "monitor:def") },
  ),
  { feedback_type: "custom", payload: { output: { score: 100 }, note: "x" } },
]

let opened: EvaluationApp
let start: string
let end: string
beforeAll(async () => {
  opened = await openEvaluationApp()
  start = new Date(Date.now() - 60_000).toISOString()
  const batch = items.map((item) => ({ project_id: project, weave_ref: ref("call", "c1"), ...item }))
  const answer = await opened.acme.post("/feedback/batch/create", { batch })
  if (answer.status !== 200) throw new Error(answer.text)
  end = new Date(Date.now() + 60_000).toISOString()
})
afterAll(() => opened.close())

describe("objects 5: stats", () => {
  const ask = (fields: Record<string, unknown>) =>
    opened.acme.post("/feedback/stats", { project_id: project, start, end, ...fields })
  async function stats(fields: Record<string, unknown>) {
    return strictly(feedbackStatsAnswer, await ask(fields))
  }

  test("defaults by type, percentiles for numbers, in buckets and over the whole range", async () => {
    const metrics = [
      { json_path: "output.score", percentiles: [50] },
      { json_path: "output.ok", value_type: "boolean", percentiles: [50] },
      { json_path: "output.label", value_type: "categorical" },
      { json_path: "output.none", aggregations: ["sum", "count"] },
    ]
    const { buckets, window_stats, ...range } = await stats({ metrics, feedback_type: "wandb.runnable.judge" })
    expect(range).toEqual({
      start: start.replace("Z", "000Z"),
      end: end.replace("Z", "000Z"),
      granularity: 300,
      timezone: "UTC",
    })
    expect(window_stats).toEqual({
      output_score: { avg: 2, min: 1, max: 3, p50: 2 },
      output_ok: { count_true: 1, count_false: 1 },
      output_label: { count: 2 },
      output_none: { sum: null, count: 0 },
    })
    expect(buckets.filter(({ count }) => count > 0)).toEqual([
      {
        timestamp: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d[05]:00\+00:00$/),
        avg_output_score: 2,
        min_output_score: 1,
        max_output_score: 3,
        p50_output_score: 2,
        count_true_output_ok: 1,
        count_false_output_ok: 1,
        count_output_label: 2,
        sum_output_none: 0,
        count_output_none: 0,
        count: 3,
      },
    ])
  })

  test("every aggregation of numbers, in buckets of a day that begins where the zone says", async () => {
    const metrics = [{ json_path: "output.score", aggregations: ["sum", "avg", "min", "max", "count"] }]
    const found = await stats({ metrics, granularity: 86_400, timezone: "Asia/Kolkata", feedback_type: null })
    expect(found.window_stats).toEqual({ output_score: { sum: 114, avg: 28.5, min: 1, max: 100, count: 4 } })
    expect([found.granularity, found.timezone]).toEqual([86_400, "Asia/Kolkata"])
    for (const { timestamp } of found.buckets) expect(timestamp).toMatch(/T18:30:00\+00:00$/)
  })

  test("an empty range has empty buckets", async () => {
    const metrics = [{ json_path: "output.score", aggregations: ["avg", "max", "count"] }]
    const day = { start: "2020-01-01", end: "2020-01-01T00:10:00Z", metrics }
    const empty = { avg_output_score: 0, max_output_score: null, count_output_score: 0, count: 0 }
    expect(await stats(day)).toMatchObject({
      buckets: [
        { timestamp: "2020-01-01T00:00:00+00:00", ...empty },
        { timestamp: "2020-01-01T00:05:00+00:00", ...empty },
      ],
      window_stats: { output_score: { avg: null, max: null, count: 0 } },
    })
    expect(await stats({})).toMatchObject({ buckets: [], window_stats: null })
  })

  test.each([
    [{ trigger_ref: ref("object", "monitor:abc") }, 2],
    [{ trigger_ref: ref("object", "monitor:*") }, 3],
    [{ trigger_ref: ref("object", "mon:*") }, 0],
    [{ feedback_type: "custom" }, 1],
    [{}, 5],
    [{ end: null }, 5],
  ])("%j counts %i", async (fields, count) => {
    const { buckets } = await stats({ metrics: [{ json_path: "output.score" }], granularity: 3600, ...fields })
    expect(buckets.reduce((sum, bucket) => sum + bucket.count, 0)).toBe(count)
  })

  test.each([
    [{ start: "2026-01-01", end: "2025-12-31" }, 422],
    [{ start: "2026-01-01", end: "2026-02-01T00:00:01Z" }, 422],
    [{ start: undefined }, 422],
    [{ start: "yesterday" }, 422],
    [{ granularity: 0 }, 422],
    [{ timezone: "Mars/Olympus" }, 400],
    [{ metrics: [{ json_path: 1 }] }, 422],
    [{ metrics: [{ json_path: "a", aggregations: ["median"] }] }, 422],
    [{ metrics: [{ json_path: "a", value_type: "text" }] }, 422],
    [{ metrics: [{ json_path: "a", percentiles: [200] }] }, 400],
    [{ metrics: [{ json_path: "" }] }, 422],
    [{ metrics: [{ json_path: "a'b\\') --" }] }, 200],
  ])("%j is %i", async (fields, status) => {
    expect((await ask(fields)).status).toBe(status)
  })

  test("law 8: an answer of more values than memory has room for is refused", async () => {
    const percentiles = Array.from({ length: 100 }, (_, percent) => percent)
    const metrics = [{ json_path: "output.score", aggregations: ["sum"], percentiles }]
    const twoHours = { start: "2026-01-01T00:00:00Z", end: "2026-01-01T02:00:00Z", metrics }
    expect(await ask({ ...twoHours, granularity: 1 })).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining("it may have 500000 values. Ask for a larger granularity") as string },
    })
    expect((await ask({ ...twoHours, granularity: 60 })).status).toBe(200)
  })

  test("payload_schema finds what can be aggregated", async () => {
    const answer = await opened.acme.post("/feedback/payload_schema", { project_id: project, start })
    expect(payloadSchemaAnswer.strict().parse(answer.body).paths).toEqual(
      expect.arrayContaining([
        { json_path: "note", value_type: "categorical" },
        { json_path: "output.score", value_type: "categorical" },
      ]),
    )
    const custom = await opened.acme.post("/feedback/payload_schema", {
      project_id: project,
      start,
      feedback_type: "custom",
    })
    expect(custom.body).toEqual({
      paths: [
        { json_path: "note", value_type: "categorical" },
        { json_path: "output.score", value_type: "numeric" },
      ],
    })
    const trigger_ref = ref("object", "monitor:def")
    const triggered = await opened.acme.post("/feedback/payload_schema", { project_id: project, start, trigger_ref })
    expect(triggered.body).toEqual({ paths: [{ json_path: "output.score", value_type: "numeric" }] })
    for (const bad of [{ sample_limit: 0 }, { sample_limit: 5001 }, { start: "2020-01-01" }, { start: undefined }]) {
      const refused = await opened.acme.post("/feedback/payload_schema", { project_id: project, start, ...bad })
      expect([bad, refused.status]).toEqual([bad, 422])
    }
  })
})

test("law 8: payload_schema looks at no more large payloads than memory is meant for, the newest ones", async () => {
  const other = opened.acme.newProject()
  for (let n = 0; n < 12; n++) {
    await createdFeedback(opened.acme, other, {
      feedback_type: `large.${n}`,
      payload: { [`p${n}`]: "x".repeat(1_000_000) },
    })
  }
  const answer = await opened.acme.post("/feedback/payload_schema", {
    project_id: other,
    start: new Date(Date.now() - 3_600_000).toISOString(),
  })
  const { paths } = payloadSchemaAnswer.strict().parse(answer.body)
  expect(paths.map(({ json_path }) => json_path)).toEqual(["p10", "p11", "p4", "p5", "p6", "p7", "p8", "p9"])
})

test("law 8: payload_schema names no more paths than memory is meant for: a long key may stand before many", async () => {
  const other = opened.acme.newProject()
  const key = "k".repeat(400_000)
  const members = Array.from({ length: 50_000 }, (_, n): [string, number] => [`m${n}`, 1])
  await createdFeedback(opened.acme, other, {
    feedback_type: "deep",
    payload: { first: 1, [key]: Object.fromEntries(members) },
  })
  const answer = await opened.acme.post("/feedback/payload_schema", {
    project_id: other,
    start: new Date(Date.now() - 3_600_000).toISOString(),
  })
  const { paths } = payloadSchemaAnswer.strict().parse(answer.body)
  expect(paths[0]).toEqual({ json_path: "first", value_type: "numeric" })
  expect(paths[1]).toEqual({ json_path: `${key}.m0`, value_type: "numeric" })
  // All of them would be 20 GB.
  expect(paths.length).toBeLessThan(100)
})

describe("objects 5: aggregate", () => {
  const ask = (fields: Record<string, unknown>) => {
    const range = { after_ms: Date.parse(start), before_ms: Date.parse(end) }
    return opened.acme.post("/feedback/aggregate", { project_id: project, ...range, ...fields })
  }
  async function aggregate(fields: Record<string, unknown>) {
    return strictly(feedbackAggregateAnswer, await ask(fields))
  }

  const nothing = { tag_counts: {}, rating_counts: {}, rating_sums: {} }

  test("one total without groups and buckets", async () => {
    expect(await aggregate({})).toEqual({
      time_bucket_seconds: null,
      after_ms: Date.parse(start),
      before_ms: Date.parse(end),
      buckets: [
        {
          time_bucket_start_ms: null,
          group: {},
          total_count: 5,
          scored_count: 3,
          tag_counts: { good: 2, long: 1 },
          rating_counts: { _rating_: 2, zero: 1 },
          rating_sums: { _rating_: 1, zero: 0 },
        },
      ],
    })
    expect((await aggregate({ feedback_types: ["absent"] })).buckets).toEqual([
      { time_bucket_start_ms: null, group: {}, total_count: 0, scored_count: 0, ...nothing },
    ])
  })

  test("by group and by time", async () => {
    const { buckets } = await aggregate({ group_by: ["scorer_id", "span_status_code"], time_bucket_seconds: 3600 })
    const hours = [...new Set(buckets.map((bucket) => bucket.time_bucket_start_ms))]
    expect(hours.every((hour) => hour !== null && hour % 3_600_000 === 0)).toBe(true)
    expect(buckets.map(({ group, total_count }) => [group, total_count])).toEqual([
      [{ scorer_id: "", span_status_code: "UNSET" }, 1],
      [{ scorer_id: "judge", span_status_code: "UNSET" }, 3],
      [{ scorer_id: "judges", span_status_code: "OK" }, 1],
    ])
    expect(
      (await aggregate({ group_by: ["span_agent_name", "span_agent_version"] })).buckets.map(({ group }) => group),
    ).toEqual([
      { span_agent_name: "", span_agent_version: "" },
      { span_agent_name: "bot", span_agent_version: "" },
    ])
  })

  test.each([
    [{ feedback_types: ["wandb.runnable.judge"] }, 4],
    [{ feedback_types: ["wandb.runnable.*", "custom"] }, 5],
    [{ scorer_ids: ["judge"] }, 3],
    [{ scorer_ids: ["judge*"] }, 4],
    [{ monitor_ids: ["monitor"] }, 3],
    [{ monitor_ids: ["monitor*"] }, 4],
    [{ span_agent_names: ["bot", "cat"] }, 1],
    [{ span_types: ["agent_turn"] }, 1],
    [{ span_types: ["agent_conversation"] }, 0],
    [{ tags: ["long", "other"] }, 1],
    [{ rating_min: 0.5 }, 1],
    [{ rating_max: 0.5 }, 2],
    [{ rating_min: 0.25, rating_max: 0.5 }, 1],
    [{ tags: ["good"], rating_max: 0.5 }, 1],
  ])("%j leaves %i", async (fields, count) => {
    expect((await aggregate(fields)).buckets).toMatchObject([{ total_count: count }])
  })

  test.each([
    [{ before_ms: 0 }],
    [{ after_ms: -1 }],
    [{ after_ms: 0, group_by: ["scorer_id"] }],
    [{ after_ms: 0, time_bucket_seconds: 86_400 }],
    [{ after_ms: 0, rating_min: 0.1 }],
    [{ after_ms: 0, tags: ["a"] }],
    [{ time_bucket_seconds: 0 }],
    [{ before_ms: Date.now() + 86_400_000, time_bucket_seconds: 60 }],
    [{ rating_min: 1.5 }],
    [{ group_by: ["payload"] }],
    [{ span_types: ["agent_span"] }],
  ])("%j is 422", async (fields) => {
    expect(await ask(fields)).toMatchObject({ status: 422, body: { detail: expect.any(Array) } })
  })

  test("over 31 days there is the total", async () => {
    expect((await aggregate({ after_ms: 0 })).buckets).toMatchObject([{ total_count: 5 }])
  })

  test("security 5.3: another tenant's project does not exist", async () => {
    for (const [path, body] of [
      ["/feedback/stats", { start }],
      ["/feedback/payload_schema", { start }],
      ["/feedback/aggregate", { after_ms: 0, before_ms: Date.now() }],
    ] as const) {
      expect((await opened.rival.post(path, { project_id: project, ...body })).status).toBe(403)
    }
  })
})
