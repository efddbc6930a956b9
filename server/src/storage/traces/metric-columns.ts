/** Aggregations of a value, as columns of a select: evaluation-store-calls 4.2. */
import { HeddleError } from "../../errors.ts"
import type { Aggregation } from "../../wire/queries/metrics.ts"

export interface MetricColumn {
  /** `avg`, `p95`, … */
  aggregation: string
  metric: string
  sql: string
  /** Value of an empty bucket. */
  empty: 0 | null
}

export interface MetricRequest<Metric extends string = string> {
  metric: Metric
  aggregations: readonly Aggregation[]
  percentiles: readonly number[]
}

export interface ComputedMetric extends MetricRequest {
  /** SQL: a nullable number; booleans are 1 and 0. */
  value: string
}

const functions: Record<Aggregation, (value: string) => string> = {
  sum: (value) => `toFloat64(sumOrNull(${value}))`,
  avg: (value) => `avgOrNull(${value})`,
  min: (value) => `toFloat64(minOrNull(${value}))`,
  max: (value) => `toFloat64(maxOrNull(${value}))`,
  count: (value) => `toFloat64(count(${value}))`,
  count_true: (value) => `toFloat64(countIf(${value} = 1))`,
  count_false: (value) => `toFloat64(countIf(${value} = 0))`,
}

/** Nothing has no least or greatest element. */
const withoutNeutral = new Set<Aggregation>(["min", "max"])

/** How many values one bucket has of these metrics. */
export function valueCount(metrics: readonly Pick<MetricRequest, "aggregations" | "percentiles">[]): number {
  return metrics.reduce((sum, { aggregations, percentiles }) => sum + aggregations.length + percentiles.length, 0)
}

/** @throws {HeddleError} `value_error` for a percentile outside 0 to 100. */
export function metricColumns(metrics: readonly ComputedMetric[]): MetricColumn[] {
  return metrics.flatMap(({ metric, value, aggregations, percentiles }) => [
    ...[...new Set(aggregations)].map((aggregation) => ({
      aggregation,
      metric,
      sql: functions[aggregation](value),
      empty: withoutNeutral.has(aggregation) ? null : (0 as const),
    })),
    ...[...new Set(percentiles)].map((percentile) => ({
      aggregation: `p${percentile}`,
      metric,
      sql: `quantileExactInclusiveOrNull(${level(percentile)})(${value})`,
      empty: null,
    })),
  ])
}

/** @throws {HeddleError} `value_error` for one outside 0 to 100. */
export function checkPercentiles(percentiles: readonly number[]): void {
  const wrong = percentiles.find((percentile) => !(percentile >= 0 && percentile <= 100))
  if (wrong === undefined) return
  throw new HeddleError("value_error", `Percentile must be between 0 and 100, got ${wrong}`)
}

function level(percentile: number): number {
  checkPercentiles([percentile])
  return Number((percentile / 100).toFixed(6))
}

/** Under `m0`, `m1`, …, since names of metrics are a client's. */
export function columnList(columns: readonly MetricColumn[]): string {
  return columns.map(({ sql }, index) => `${sql} as m${index}`).join(", ")
}

/** `<aggregation>_<metric>` → value of a row, or of an empty bucket. */
export function metricValues(columns: readonly MetricColumn[], row: Readonly<Record<string, unknown>> | undefined) {
  const values = columns.map((column, index) => {
    const value = row?.[`m${index}`] ?? null
    return [`${column.aggregation}_${column.metric}`, value === null ? column.empty : (value as number)] as const
  })
  return Object.fromEntries(values) as Record<string, number | null>
}
