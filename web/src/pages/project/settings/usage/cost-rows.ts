/** What calls cost, summed over the buckets of `/calls/stats`. */
import type { CallStats } from "../../../../api/calls/calls.ts"

export type CostGroup = "model" | "trace_op" | "wb_user_id"

export interface CostFigures {
  calls: number
  input: number
  /** A part of the input, as most providers count. */
  cached: number
  output: number
  /** US dollars. */
  cost: number
  /** Calls that cost nothing since their model had no price when they began. */
  unpriced: number
}

export interface CostRow extends CostFigures {
  /** A model, op or user. */
  name: string
  /** Share of the whole cost, from 0 to 1. */
  share: number
}

type Bucket = CallStats["usage_buckets"][number]

const metrics = ["input_tokens", "cache_read_input_tokens", "output_tokens", "total_cost", "unpriced_calls"] as const
export const costMetrics = metrics.map((metric) => ({ metric }))

const nothing: CostFigures = { calls: 0, input: 0, cached: 0, output: 0, cost: 0, unpriced: 0 }

function figuresOf(bucket: Bucket): CostFigures {
  const [input, cached, output, cost, unpriced] = metrics.map((metric) => Number(bucket[`sum_${metric}`] ?? 0))
  return { ...nothing, calls: bucket.count, input, cached, output, cost, unpriced } as CostFigures
}

function add(sum: CostFigures, more: CostFigures): CostFigures {
  const names = Object.keys(nothing) as (keyof CostFigures)[]
  return Object.fromEntries(names.map((name) => [name, sum[name] + more[name]])) as unknown as CostFigures
}

export function costTotals(buckets: readonly Bucket[]): CostFigures {
  return buckets.map(figuresOf).reduce(add, nothing)
}

/** The dearest first; of those that cost the same, those with more tokens. */
export function costRows(buckets: readonly Bucket[], group: CostGroup): CostRow[] {
  const all = costTotals(buckets).cost
  const byName = Map.groupBy(buckets, (bucket) => String(bucket[group]))
  return [...byName]
    .map(([name, own]) => ({ name, ...costTotals(own) }))
    .map((row) => ({ ...row, share: all === 0 ? 0 : row.cost / all }))
    .toSorted((a, b) => b.cost - a.cost || b.input + b.output - a.input - a.output)
}

/** The cost of each bucket of these names together; x in milliseconds. */
export function costsOverTime(buckets: readonly Bucket[], group: CostGroup, names: readonly string[]) {
  const byTime = Map.groupBy(buckets, ({ timestamp }) => Date.parse(timestamp))
  const own = (ofTime: readonly Bucket[]) => ofTime.filter((bucket) => names.includes(String(bucket[group])))
  return { x: [...byTime.keys()], y: [...byTime.values()].map((ofTime) => costTotals(own(ofTime)).cost) }
}

/** The filter of the table of traces for one row; null: the filter language has no words for it. */
export function filterOfModel(model: string): string | null {
  // A dot within a key has a backslash before it.
  return /^[^\s"<>=!,\\]+$/u.test(model) ? `summary.usage.${model.replaceAll(".", String.raw`\.`)} exists` : null
}
