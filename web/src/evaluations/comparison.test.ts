import { describe, expect, test } from "vitest"
import { compareRuns, readingOf } from "./comparison.ts"
import {
  betterDirection,
  formatDifference,
  formatDifferenceInterval,
  formatValue,
  formatValueInterval,
  latency,
  metricOfScore,
  price,
} from "./metrics.ts"
import { sortRows } from "./row-order.ts"
import { runFigure } from "./run-figures.ts"
import { type ResultRow, rowValue, runRows } from "./run-rows.ts"

type Scores = Record<string, unknown>

/** Rows by digest, with the scores of each of their trials. */
function run(rows: Record<string, Scores[]>, total = Object.keys(rows).length) {
  const found = Object.entries(rows).map(([row_digest, trials]): ResultRow => ({
    row_digest,
    raw_data_row: null,
    evaluations: [
      {
        evaluation_call_id: "run",
        trials: trials.map((scores, index) => ({
          predict_and_score_call_id: `${row_digest}${index}`,
          predict_call_id: null,
          model_output: null,
          scores: scores as ResultRow["evaluations"][0]["trials"][0]["scores"],
          model_latency_seconds: index === 0 ? 0.5 : null,
          total_tokens: null,
          total_cost: null,
          scorer_call_ids: {},
          genai_span_ref: null,
        })),
      },
    ],
  }))
  return runRows("run", found, total)
}

const number = (name: string) => metricOfScore([name], "number")

describe("rows of a run", () => {
  test("runRows makes a metric of each leaf of a score: a share of yes and no, none of a text", () => {
    const { metrics } = run({ a: [{ judge: { tone: 3, ok: true, why: "x", deep: { er: 1 } }, exact: false }] })
    expect(metrics).toEqual([
      { id: "score:judge.tone", name: "judge.tone", kind: "number", isMeasured: false },
      { id: "score:judge.ok", name: "judge.ok", kind: "share", isMeasured: false },
      { id: "score:judge.deep.er", name: "judge.deep.er", kind: "number", isMeasured: false },
      { id: "score:exact", name: "exact", kind: "share", isMeasured: false },
      latency,
    ])
  })

  test("the value of a row is the mean of its trials that have one", () => {
    const { rows } = run({ a: [{ s: 1 }, { s: 2 }, {}] })
    expect([rowValue(rows.get("a"), "score:s"), rowValue(rows.get("a"), latency.id)]).toEqual([1.5, 500])
    expect(rowValue(rows.get("b"), "score:s")).toBeUndefined()
  })

  test("a score that is yes once and 0.5 another time is a number", () => {
    expect(run({ a: [{ s: true }], b: [{ s: 0.5 }], c: [{ s: false }] }).metrics[0]?.kind).toBe("number")
  })
})

describe("pairs", () => {
  test("compareRuns pairs rows of one digest, and counts the rows that one run alone has", () => {
    const { pairing } = compareRuns(run({ a: [{}], b: [{}], c: [{}] }), run({ b: [{}], d: [{}] }))
    expect(pairing.pairs.map(({ digest }) => digest)).toEqual(["b"])
    expect(pairing).toMatchObject({ onlyBaseline: 2, onlyCandidate: 1, isWhole: true })
  })

  test("compareRuns counts no row as missing that lies past the last row of a run that was cut", () => {
    const { pairing } = compareRuns(run({ a: [{}], b: [{}] }, 9), run({ a: [{}], c: [{}] }))
    expect(pairing).toMatchObject({ onlyBaseline: 1, onlyCandidate: 0, isWhole: false })
  })
})

describe("the comparison of a metric", () => {
  const before = run({ a: [{ ok: true }], b: [{ ok: true }], c: [{ ok: false }], d: [{}] })
  const after = run({ a: [{ ok: false }], b: [{ ok: true }], c: [{ ok: false }], d: [{ ok: true }] })

  test("compareRuns compares a metric over the rows that have it in both runs", () => {
    const [ok] = compareRuns(before, after).metrics
    expect(ok).toMatchObject({ count: 3, up: 0, down: 1, same: 2, test: { p: 1, name: "exact McNemar test" } })
    expect([ok?.baseline, ok?.candidate, ok?.change]).toEqual([2 / 3, 1 / 3, -1 / 3])
  })

  test("yes and no of several trials are tested as numbers", () => {
    const twice = run({ a: [{ ok: true }, { ok: false }], b: [{ ok: true }], c: [{ ok: true }] })
    const [ok] = compareRuns(before, twice).metrics
    expect(ok?.test.name).toBe("exact permutation test")
  })

  test("a metric that one run lacks is left out", () => {
    const other = run({ a: [{ tone: 3 }] })
    expect(compareRuns(before, other).metrics.map(({ metric }) => metric.id)).toEqual(["latency"])
  })

  test("readingOf calls a change better or worse only when its interval and its test are sure of it", () => {
    const rows = (value: number) =>
      run(Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`r${index}`, [{ s: value + (index % 3) }]])))
    const [s] = compareRuns(rows(1), rows(2)).metrics
    if (s === undefined) throw new Error("the metric is missing")
    expect([readingOf(s, "up"), readingOf(s, "down")]).toEqual(["better", "worse"])
    expect(readingOf({ ...s, test: { ...s.test, p: 0.06 } }, "up")).toBe("unclear")
    expect(readingOf({ ...s, interval: [-0.1, 2] }, "up")).toBe("unclear")
    expect(readingOf({ ...s, interval: null }, "up")).toBe("unclear")
  })
})

test("regressions first: a loss counts by the range of its score, and no gain makes up for it", () => {
  const before = run({ a: [{ tone: 5, ok: true }], b: [{ tone: 3, ok: true }], c: [{ tone: 1, ok: false }] })
  const after = run({ a: [{ tone: 3, ok: true }], b: [{ tone: 5, ok: false }], c: [{ tone: 5, ok: true }] })
  const metrics = [
    { metric: number("tone"), direction: "up" as const },
    { metric: metricOfScore(["ok"], "share"), direction: "up" as const },
  ]
  const { pairs } = compareRuns(before, after).pairing
  const order = (sort: "worse" | "better" | "digest") => sortRows(pairs, metrics, sort).map(({ digest }) => digest)
  expect([order("worse"), order("better"), order("digest")]).toEqual([
    ["b", "a", "c"],
    ["c", "b", "a"],
    ["a", "b", "c"],
  ])
})

test("a figure says how many of the trials have the value: those that failed have no score", () => {
  const read = run({ a: [{ ok: true }, {}], b: [{}, {}] })
  expect(runFigure(read, metricOfScore(["ok"], "share"))).toMatchObject({ mean: 1, count: 1, scored: 1, trials: 4 })
})

test.each([
  ["tone", "up"],
  ["terror_level", "up"],
  ["errorRate", "down"],
  ["judge.hallucination", "down"],
  ["token_count", "down"],
  ["lossless", "up"],
])("of %s %s is better, unless a person turned it", (name, direction) => {
  const metric = number(name)
  expect(betterDirection(metric, [])).toBe(direction)
  expect(betterDirection(metric, [metric.id])).not.toBe(direction)
})

test("figures have the form of their kind", () => {
  const share = metricOfScore(["ok"], "share")
  expect([formatValue(share, 0.763), formatDifference(share, 0.042)]).toEqual(["76.3\u202f%", "+4.2\u202fpts"])
  expect(formatDifferenceInterval(share, [-0.002, 0.085])).toBe("[−0.2, +8.5]")
  expect([formatValue(number("s"), 4.09), formatDifference(number("s"), -0.11)]).toEqual(["4.090", "−0.110"])
  expect([formatValue(latency, 4020), formatDifference(latency, -290)]).toEqual(["4.02\u202fs", "−290\u202fms"])
  expect(formatDifference(latency, 0)).toBe("±0\u202fms")
  expect(formatDifference(latency, 0.2143)).toBe("+0.21\u202fms")
  expect(formatDifference(price, -0.00517)).toBe("−$0.00517")
  expect(formatDifferenceInterval(price, [-0.005572, 0.0004])).toBe("[−0.00557, +0.0004]")
  expect(formatValueInterval(price, [0.08261, 0.0854])).toBe("[0.0826, 0.0854]")
})
