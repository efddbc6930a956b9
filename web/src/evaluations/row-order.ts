/** The order of compared rows: the largest loss of any score first, for a gain of another one does not make up for it. */
import type { PairedRow } from "./comparison.ts"
import type { Direction, Metric } from "./metrics.ts"
import { rowValue } from "./run-rows.ts"

export type RowSort = "worse" | "better" | "digest"

export interface DirectedMetric {
  metric: Metric
  direction: Direction
}

/** Scores count; what was measured counts only where nothing was scored. */
export function sortRows(pairs: readonly PairedRow[], metrics: readonly DirectedMetric[], sort: RowSort): PairedRow[] {
  if (sort === "digest") return [...pairs]
  const scores = metrics.filter(({ metric }) => !metric.isMeasured)
  const chosen = (scores.length > 0 ? scores : metrics).map((one) => ({ ...one, scale: scaleOf(pairs, one.metric) }))
  const sign = sort === "worse" ? 1 : -1
  const keyed = pairs.map((pair) => {
    const gains = chosen.map(({ metric, direction, scale }) => sign * gainOf(pair, metric, direction) * scale)
    return { pair, extreme: Math.min(0, ...gains), sum: gains.reduce((sum, gain) => sum + gain, 0) }
  })
  return keyed
    .toSorted((a, b) => a.extreme - b.extreme || a.sum - b.sum || (a.pair.digest < b.pair.digest ? -1 : 1))
    .map(({ pair }) => pair)
}

/** How much better the candidate is at this row; 0 where one of both has no value. */
export function gainOf(pair: PairedRow, { id }: Metric, direction: Direction): number {
  const [before, after] = [rowValue(pair.baseline, id), rowValue(pair.candidate, id)]
  if (before === undefined || after === undefined) return 0
  return direction === "up" ? after - before : before - after
}

/** Makes a score from 1 to 5 and one from 0 to 100 count alike. */
function scaleOf(pairs: readonly PairedRow[], { id }: Metric): number {
  let [low, high] = [Infinity, -Infinity]
  for (const { baseline, candidate } of pairs) {
    for (const value of [rowValue(baseline, id), rowValue(candidate, id)]) {
      if (value === undefined) continue
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
  }
  return high > low ? 1 / (high - low) : 0
}
