/** Curves of runs, as the page of a run draws them: platform-wandb 7. */
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { type RunNames, startRun, streamPath } from "../support/wandb-runs.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

interface Curve {
  metric: string
  x?: number[]
  step: number[]
  at: string[]
  min: number[]
  max: number[]
  mean: number[]
  last: number[]
}

const began = Date.parse("2026-11-20T08:00:00Z") / 1000

async function newRun(): Promise<RunNames> {
  const names = { entity: "acme", project: "curves", run: randomUUID().slice(0, 8) }
  await startRun(opened.acme, names)
  return names
}

async function stream(names: RunNames, file: string, content: readonly string[], offset = 0) {
  expect(await opened.acme.post(streamPath(names), { files: { [file]: { offset, content } } })).toMatchObject({
    status: 200,
  })
}

async function metricsOf({ entity, project, run }: RunNames, query: string) {
  const { status, body } = await opened.acme.get(`/v1/runs/${entity}/${project}/${run}/metrics?${query}`)
  return {
    status,
    ...(body as { metrics: string[]; media: { name: string; type: string }[]; data: Curve[]; not_finite: object[] }),
  }
}

test("platform-wandb 7: a curve of few points keeps the lowest and highest value of each", async () => {
  const names = await newRun()
  const loss = (step: number) => (step === 777 ? 1000 : step === 4321 ? -1000 : step % 7)
  const rows = Array.from({ length: 10_000 }, (_, step) =>
    JSON.stringify({ _step: step, _timestamp: began + step, _runtime: step, loss: loss(step) }),
  )
  await stream(names, "wandb-history.jsonl", rows)
  const { metrics, data } = await metricsOf(names, "metric=loss&metric=nothing&points=100")
  expect(metrics).toEqual(["loss"])
  expect(data.map(({ metric }) => metric)).toEqual(["loss"])
  const [curve] = data
  expect(curve?.step).toEqual(Array.from({ length: 100 }, (_, point) => point * 100 + 99))
  expect([curve?.max[7], curve?.min[43]]).toEqual([1000, -1000])
  expect(curve?.last.at(-1)).toBe(loss(9999))
  expect(curve?.mean[0]).toBeCloseTo(2.95, 5)
  expect(curve?.at[0]).toBe("2026-11-20T08:01:39.000Z")
})

test("platform-wandb 7: columns are read by their dots, steps that came twice by their later value, and what is no number not at all", async () => {
  const names = await newRun()
  await stream(names, "wandb-history.jsonl", [
    '{"_step": 0, "a.b": 1, "d": {"e": 5, "f": {"g": 2}}, "text": "x", "loss": NaN, "yes": true}',
    '{"_step": 1, "a.b": 2, "d": {"e": 6}, "loss": -Infinity, "big": 4611686018427387904}',
    '{"_step": 2, "a.b": "three", "loss": 0.5, "note": "x: NaN"}',
    '{"_step": 2, "loss": 0.25}',
  ])
  const { metrics, data } = await metricsOf(
    names,
    "metric=a.b&metric=d.e&metric=d.f.g&metric=loss&metric=big&metric=yes",
  )
  expect(metrics).toEqual(["a.b", "big", "d.e", "d.f.g", "loss"])
  expect(data.map(({ metric, step, last }) => [metric, step, last])).toEqual([
    ["a.b", [0, 1], [1, 2]],
    ["big", [1], [2 ** 62]],
    ["d.e", [0, 1], [5, 6]],
    ["d.f.g", [0], [2]],
    ["loss", [2], [0.25]],
  ])
  expect((await metricsOf(names, "")).data).toEqual([])
})

test("platform-wandb 7: NaN and the infinities are counted by metric, with their steps; a later value of a step counts", async () => {
  const names = await newRun()
  await stream(names, "wandb-history.jsonl", [
    '{"_step": 0, "loss": NaN, "d": {"loss": 1, "e": -Infinity}, "note": "NaN: Infinity", "yes": true}',
    '{"_step": 1, "loss": Infinity, "d": {"loss": NaN}, "list": [NaN, 1]}',
    '{"_step": 2, "loss": NaN, "gone": null, "big": 123456789012345678901234567890}',
    '{"_step": 2, "loss": 0.25}',
    ...Array.from(
      { length: 30 },
      (_, index) => `{"_step": ${index + 10}, "late": NaN, "text": "half \\\\ud800 of a pair"}`,
    ),
  ])
  const query = "metric=loss&metric=d.e&metric=d.loss&metric=late&metric=yes&metric=big&metric=gone"
  const { data, not_finite } = await metricsOf(names, query)
  expect(data.map(({ metric, step }) => [metric, step])).toEqual([
    ["big", [2]],
    ["d.loss", [0]],
    ["loss", [2]],
  ])
  const steps = Array.from({ length: 20 }, (_, index) => index + 10)
  expect(not_finite).toEqual([
    { metric: "d.e", count: 1, step: [0], value: ["-Infinity"], last: { step: 0, value: "-Infinity" } },
    { metric: "d.loss", count: 1, step: [1], value: ["NaN"], last: { step: 1, value: "NaN" } },
    { metric: "late", count: 30, step: steps, value: steps.map(() => "NaN"), last: { step: 39, value: "NaN" } },
    { metric: "loss", count: 2, step: [0, 1], value: ["NaN", "Infinity"], last: { step: 1, value: "Infinity" } },
  ])
  expect((await metricsOf(names, "metric=loss&x=_runtime")).not_finite).toMatchObject([{ metric: "loss", count: 2 }])
  expect((await metricsOf(names, "source=system")).not_finite).toEqual([])
})

test("platform-wandb 7: system rows are curves by time; a time that is none is that of the arrival", async () => {
  const names = await newRun()
  await stream(names, "wandb-events.jsonl", [
    JSON.stringify({ "system.cpu": 3, "system.proc.memory": 7, _wandb: true, _timestamp: began, _runtime: 1 }),
    JSON.stringify({ "system.cpu": 90, _wandb: true, _timestamp: began + 15, _runtime: 16 }),
    JSON.stringify({ "system.cpu": 5, _wandb: true, _timestamp: 1e300 }),
  ])
  const { metrics, data } = await metricsOf(names, "source=system&metric=system.cpu")
  expect(metrics).toEqual(["system.cpu", "system.proc.memory"])
  expect(data.map(({ step, last }) => [step, last])).toEqual([
    [
      [0, 1, 2],
      [3, 90, 5],
    ],
  ])
  expect(data[0]?.at.slice(0, 2)).toEqual(["2026-11-20T08:00:00.000Z", "2026-11-20T08:00:15.000Z"])
  expect(Math.abs(Date.parse(data[0]?.at[2] ?? "") - Date.now())).toBeLessThan(600_000)
})

test("platform-wandb 7: a curve over another column has its numbers, ascending, whatever lines of a step they came in", async () => {
  const names = await newRun()
  await stream(names, "wandb-history.jsonl", [
    '{"_step": 0, "epoch": 0.5, "loss": 4, "deep": {"x": 9}, "_runtime": 2}',
    '{"_step": 1, "loss": 3, "_runtime": 4}',
    '{"_step": 2, "loss": 2}',
    '{"_step": 2, "epoch": 2, "_runtime": 7.5}',
    '{"_step": 3, "loss": 1, "epoch": 1, "_runtime": 9}',
    '{"_step": 4, "loss": NaN, "epoch": 3}',
    '{"_step": 5, "loss": 0, "epoch": "three"}',
  ])
  const over = async (x: string, metrics = "metric=loss") =>
    (await metricsOf(names, `x=${x}&${metrics}`)).data.map(({ metric, x: places, step, last }) => [
      metric,
      places,
      step,
      last,
    ])
  expect(await over("epoch")).toEqual([["loss", [0.5, 1, 2], [0, 3, 2], [4, 1, 2]]])
  expect(await over("_runtime", "metric=epoch&metric=loss")).toEqual([
    ["epoch", [2, 7.5, 9], [0, 2, 3], [0.5, 2, 1]],
    ["loss", [2, 4, 7.5, 9], [0, 1, 2, 3], [4, 3, 2, 1]],
  ])
  expect(await over("deep.x", "metric=loss&metric=deep.x")).toEqual([
    ["deep.x", [9], [0], [9]],
    ["loss", [9], [0], [4]],
  ])
  // A name that no row has is not looked for, however it is made.
  for (const none of ["nothing", "a.".repeat(2000), "%00", "'"]) expect(await over(none)).toEqual([])
  expect((await metricsOf(names, "metric=loss")).data[0]?.x).toBeUndefined()
  expect(await metricsOf(names, "source=system&x=epoch&metric=system.cpu")).toMatchObject({ status: 422 })
})

test("platform-wandb 7: over a column too a curve of few points keeps every lowest and highest value", async () => {
  const names = await newRun()
  const loss = (step: number) => (step === 777 ? 1000 : step === 4321 ? -1000 : step % 7)
  const rows = Array.from({ length: 10_000 }, (_, step) =>
    JSON.stringify({ _step: step, _timestamp: began + step, loss: loss(step), tokens: 5e15 + step * 1e12, same: 3 }),
  )
  await stream(names, "wandb-history.jsonl", rows)
  const [curve] = (await metricsOf(names, "x=tokens&metric=loss&points=100")).data
  expect(curve?.x).toHaveLength(100)
  expect(curve?.x?.toSorted((a, b) => a - b)).toEqual(curve?.x)
  expect([curve?.x?.at(-1), curve?.step.at(-1), curve?.last.at(-1)]).toEqual([5e15 + 9999e12, 9999, loss(9999)])
  expect([Math.max(...(curve?.max ?? [])), Math.min(...(curve?.min ?? []))]).toEqual([1000, -1000])
  expect((await metricsOf(names, "x=same&metric=loss")).data).toMatchObject([
    { x: [3], step: [9999], min: [-1000], max: [1000], last: [loss(9999)] },
  ])
})

test("law 3: no number of a row is missing because of what else the row holds", async () => {
  const names = await newRun()
  await stream(names, "wandb-history.jsonl", [
    '{"_step": 0, "loss": 5, "big": 123456789012345678901234567890}',
    '{"_step": 1, "loss": 4, "ids": [123456789012345678901, -123456789012345678902, 1.5]}',
    String.raw`{"_step": 2, "loss": 3, "text": "half \ud800 of a pair", "note": "id: 123456789012345678901"}`,
    String.raw`{"_step": 3, "loss": 2, "\ud83d\ude00": 7, "nan": NaN}`,
    '{"_step": 5, "loss": 1, "list": [1, NaN, -Infinity]}',
    '{"_step": 4, "loss": NaN, "big": 1e300, "text": "\\ud800"}',
    `{"_step": 6, "loss": 0, "big": 1e309, "modulus": ${"9".repeat(617)}, "lows": [-9223372036854775809, 1]}`,
  ])
  await stream(names, "wandb-events.jsonl", [
    '{"_wandb": true, "_runtime": 1, "system.cpu": 5, "system.bytes": 123456789012345678901}',
  ])
  const { metrics, data } = await metricsOf(names, `metric=loss&metric=big&metric=${encodeURIComponent("😀")}`)
  expect(metrics).toEqual(["big", "loss", "modulus", "nan", "😀"])
  expect(data.map(({ metric, step, last }) => [metric, step, last])).toEqual([
    ["big", [0, 4], [Number("123456789012345678901234567890"), 1e300]],
    ["loss", [0, 1, 2, 3, 5, 6], [5, 4, 3, 2, 1, 0]],
    ["😀", [3], [7]],
  ])
  const system = await metricsOf(names, "source=system&metric=system.cpu&metric=system.bytes")
  expect(system.data.map(({ metric, last }) => [metric, last])).toEqual([
    ["system.bytes", [Number("123456789012345678901")]],
    ["system.cpu", [5]],
  ])
})

test("platform-wandb 7: what is a picture, a table or a histogram is named with the newest of its types", async () => {
  const names = await newRun()
  const file = (type: string) => ({ _type: type, path: `media/${type}`, size: 1 })
  const rows = [
    {
      _step: 0,
      loss: 1,
      rows: file("table-file"),
      out: { sample: file("image-file") },
      map: { a: 1 },
      list: [1],
      no: null,
    },
    { _step: 1, "grad/w": { _type: "histogram", values: [1], bins: [0, 1] }, rows: file("incremental-table-file") },
    { _step: 2, text: "image-file", yes: true },
  ]
  await stream(
    names,
    "wandb-history.jsonl",
    rows.map((row) => JSON.stringify(row)),
  )
  await stream(names, "wandb-events.jsonl", ['{"_wandb": true, "_runtime": 1, "system.cpu": 5}'])
  const { metrics, media } = await metricsOf(names, "")
  expect(metrics).toEqual(["loss", "map.a"])
  expect(media).toEqual([
    { name: "grad/w", type: "histogram" },
    { name: "out.sample", type: "image-file" },
    { name: "rows", type: "incremental-table-file" },
  ])
  expect((await metricsOf(names, "source=system")).media).toEqual([])
})

test("law 8: more metrics and points than an answer may have are refused", async () => {
  const names = await newRun()
  const many = Array.from({ length: 51 }, (_, index) => `metric=m${index}`)
  expect((await metricsOf(names, many.join("&"))).status).toBe(422)
  expect((await metricsOf(names, `points=2000&${many.slice(0, 26).join("&")}`)).status).toBe(422)
  expect(await metricsOf(names, many.slice(1).join("&"))).toMatchObject({ status: 200, metrics: [], data: [] })
})
