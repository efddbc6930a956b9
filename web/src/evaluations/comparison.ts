/** Two runs row by row: rows are the same when their digests are, whichever version of a dataset they came from. */
import { type Interval, type IntervalKind, intervalKind, meanInterval, meanOf } from "../statistics/intervals.ts"
import { type PairedTest, pairedTest } from "../statistics/paired-tests.ts"
import { type Direction, type Metric, sortedMetrics } from "./metrics.ts"
import { rowValue, type RunRows, type Trial } from "./run-rows.ts"

export interface PairedRow {
  digest: string
  baseline: readonly Trial[]
  candidate: readonly Trial[]
}

export interface Pairing {
  /** In both runs. */
  pairs: readonly PairedRow[]
  onlyBaseline: number
  onlyCandidate: number
  /** Rows of a run beyond those that were read are left out of all counts. */
  isWhole: boolean
}

function pairRows(baseline: RunRows, candidate: RunRows): Pairing {
  const horizon = sharedHorizon([baseline, candidate])
  const seen = (digest: string) => horizon === null || digest <= horizon
  const pairs: PairedRow[] = []
  let onlyBaseline = 0
  for (const [digest, trials] of baseline.rows) {
    if (!seen(digest)) continue
    const other = candidate.rows.get(digest)
    if (other === undefined) onlyBaseline += 1
    else pairs.push({ digest, baseline: trials, candidate: other })
  }
  const inCandidate = [...candidate.rows.keys()].filter(seen).length
  return { pairs, onlyBaseline, onlyCandidate: inCandidate - pairs.length, isWhole: horizon === null }
}

export interface RunComparison {
  pairing: Pairing
  metrics: readonly MetricComparison[]
}

/** Cache of comparisons of two runs, which a page shows again with every key that is pressed. */
const compared = new WeakMap<RunRows, WeakMap<RunRows, RunComparison>>()

export function compareRuns(baseline: RunRows, candidate: RunRows): RunComparison {
  const known = compared.get(baseline)?.get(candidate)
  if (known !== undefined) return known
  const pairing = pairRows(baseline, candidate)
  const comparison = { pairing, metrics: compareMetrics(pairing.pairs, baseline, candidate) }
  const ofBaseline = compared.get(baseline) ?? new WeakMap<RunRows, RunComparison>()
  compared.set(baseline, ofBaseline.set(candidate, comparison))
  return comparison
}

/** Rows come by digest: of a run that was cut, those past its last one may exist. null: both are whole. */
function sharedHorizon(runs: readonly RunRows[]): string | null {
  const ends = runs.filter(({ rows, total }) => rows.size < total).map(({ rows }) => [...rows.keys()].at(-1) ?? "")
  return ends.toSorted()[0] ?? null
}

export interface MetricComparison {
  metric: Metric
  /** Rows that have it in both runs. */
  count: number
  /** Value of the baseline in those rows. */
  baseline: number
  candidate: number
  /** Candidate less baseline. */
  change: number
  /** 95 %; null: of one row alone. */
  interval: Interval | null
  intervalKind: IntervalKind
  test: PairedTest
  /** Rows by the sign of their change. */
  up: number
  down: number
  same: number
}

/** Those that at least one row has in both runs. */
function compareMetrics(pairs: readonly PairedRow[], baseline: RunRows, candidate: RunRows): MetricComparison[] {
  const shared = new Map(baseline.metrics.map((metric) => [metric.id, metric]))
  const metrics = candidate.metrics.flatMap((metric) => {
    const other = shared.get(metric.id)
    if (other === undefined) return []
    return other.kind === "number" ? [other] : [metric]
  })
  return sortedMetrics(metrics).flatMap((metric) => compareMetric(metric, pairs) ?? [])
}

function compareMetric(metric: Metric, pairs: readonly PairedRow[]): MetricComparison | null {
  const before: number[] = []
  const after: number[] = []
  for (const pair of pairs) {
    const [first, second] = [rowValue(pair.baseline, metric.id), rowValue(pair.candidate, metric.id)]
    if (first === undefined || second === undefined) continue
    before.push(first)
    after.push(second)
  }
  if (before.length === 0) return null
  const differences = after.map((value, index) => roundedOff(value - (before[index] ?? 0)))
  const isYesNo = metric.kind === "share" && [...before, ...after].every((value) => value === 0 || value === 1)
  const up = differences.filter((each) => each > 0).length
  const down = differences.filter((each) => each < 0).length
  return {
    metric,
    count: before.length,
    baseline: meanOf(before),
    candidate: meanOf(after),
    change: meanOf(differences),
    interval: meanInterval(differences),
    intervalKind: intervalKind(differences.length),
    test: pairedTest(differences, isYesNo),
    up,
    down,
    same: differences.length - up - down,
  }
}

/** 0.1 + 0.2 less 0.3 is no change. */
function roundedOff(difference: number): number {
  return Math.abs(difference) < 1e-12 ? 0 : difference
}

const significance = 0.05

export type Reading = "better" | "worse" | "unclear"

/** Only what both the interval and the test are sure of is called a change. */
export function readingOf({ interval, change, test }: MetricComparison, direction: Direction): Reading {
  const isSure = interval !== null && (interval[0] > 0 || interval[1] < 0) && test.p < significance
  if (!isSure) return "unclear"
  return change > 0 === (direction === "up") ? "better" : "worse"
}
