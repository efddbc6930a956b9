/** The columns that a metric of spans has in an answer: evaluation-store-calls 10. */
import type { SpanMetric } from "../../../wire/agents/span-stats.ts"
import type { Aggregation, ValueType } from "../../../wire/agents/span-values.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import { aggregate, percentileSql } from "./span-measures.ts"
import { spanValue } from "./span-values.ts"

export interface StatColumn {
  name: string
  metric: string
  /** `avg`, `p99_9`, … */
  aggregation: string
  type: ValueType
  /** The aggregate. */
  sql: string
  /** Value of an empty bucket. */
  empty: 0 | null
}

const zeroWhenEmpty = new Set<string>(["sum", "count", "count_distinct", "count_true", "count_false"])

/** @throws {HeddleError} `value_error` for values and aggregations that mean nothing. */
export function statColumns(metric: SpanMetric, parameters: SqlParameters): StatColumn[] {
  const value = spanValue(metric.value, parameters, metric.value_type)
  const column = (aggregation: string, { sql, type }: { sql: string; type: ValueType }): StatColumn => ({
    name: `${aggregation}_${metric.alias}`,
    metric: metric.alias,
    aggregation,
    type,
    sql,
    empty: zeroWhenEmpty.has(aggregation) ? 0 : null,
  })
  return [
    ...aggregationsOf(metric).map((aggregation) => column(aggregation, aggregate(aggregation, value))),
    ...(metric.percentiles ?? []).map((percentile) =>
      column(percentileName(percentile), { sql: percentileSql(percentile, value.sql), type: "number" }),
    ),
  ]
}

function aggregationsOf({ aggregations, percentiles, value_type }: SpanMetric): readonly Aggregation[] {
  if (aggregations?.length || percentiles?.length) return aggregations ?? []
  return value_type === "number" ? ["sum"] : ["count"]
}

/** `p95`, `p99_9`. */
function percentileName(percentile: number): string {
  return `p${String(percentile).replace(".", "_")}`
}

/** Column of a histogram without metrics. */
export const rowCount: StatColumn = {
  name: "count",
  metric: "rows",
  aggregation: "count",
  type: "number",
  sql: "toFloat64(count())",
  empty: 0,
}
