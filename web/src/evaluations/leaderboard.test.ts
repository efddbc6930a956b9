import { expect, test } from "vitest"
import type { Call } from "../api/calls/calls.ts"
import type { JsonText } from "../json/json-text.ts"
import { bestOf, boardColumns, boardRows, rankedRows } from "./leaderboard.ts"

const evaluation = "weave:///e/p/object/exam:v1"
const column = (scorer_name: string, summary_metric_path: string, should_minimize: boolean | null = null) => ({
  evaluation_object_ref: evaluation,
  scorer_name,
  summary_metric_path,
  should_minimize,
})
const board = (columns: unknown) => boardColumns(JSON.stringify({ name: "b", columns }) as JsonText)

const run = (id: string, model: string, output: unknown, self = evaluation) =>
  ({
    id,
    trace_id: `t-${id}`,
    inputs: JSON.stringify({ self, model }),
    output: JSON.stringify(output),
    summary: "{}",
    started_at: "2026-01-01T00:00:00Z",
    ended_at: "2026-01-01T00:01:00Z",
  }) as unknown as Call

test("columns are read; what is none is left out, and without any it is no leaderboard", () => {
  expect(
    board([column("a.b", "x.mean"), column("exact", "true_fraction", true), { scorer_name: "a" }, 3]),
  ).toMatchObject([
    { path: ["a.b", "x", "mean"], metric: { name: "a.b.x.mean", kind: "number" }, isLessBetter: false },
    { path: ["exact", "true_fraction"], metric: { kind: "share" }, isLessBetter: true },
  ])
  expect([board([]), board("weave:///e/p/object/list:v1"), boardColumns("[1]" as JsonText)]).toEqual([null, null, null])
})

test("of each model the newest run with the figure counts, and runs of other evaluations do not", () => {
  const columns = board([column("exact", "true_fraction"), column("model_latency", "mean", true)]) ?? []
  const rows = boardRows(columns, [
    run("4", "m1", { exact: { true_fraction: 0.5 } }),
    run("3", "m2", { exact: { true_fraction: 0.75 }, model_latency: { mean: 3 } }),
    run("2", "m1", { exact: { true_fraction: 0.9 }, model_latency: { mean: 2 } }),
    run("1", "m3", { exact: { true_fraction: 1 } }, "weave:///e/p/object/exam:v0"),
    run("0", "m4", null),
  ])
  const told = (ranked: typeof rows) =>
    ranked.map(({ model, cells }) => [model.model, ...cells.map((cell) => cell && [cell.value, cell.run.id])])
  expect(told(rows)).toEqual([
    ["m1", [0.5, "4"], [2, "2"]],
    ["m2", [0.75, "3"], [3, "3"]],
  ])
  expect(told(rankedRows(rows, 0, "desc")).map(([model]) => model)).toEqual(["m2", "m1"])
  expect(columns.map((one, index) => bestOf(one, index, rows))).toEqual([0.75, 2])
})

test("models without the figure are last, whichever way", () => {
  const columns = board([column("a", "mean"), column("b", "mean")]) ?? []
  const rows = boardRows(columns, [run("2", "m1", { b: { mean: 1 } }), run("1", "m2", { a: { mean: 1 } })])
  for (const direction of ["asc", "desc"] as const) {
    expect(rankedRows(rows, 0, direction).map(({ model }) => model.model)).toEqual(["m2", "m1"])
  }
  expect(columns.map((one, index) => bestOf(one, index, rows))).toEqual([undefined, undefined])
})
