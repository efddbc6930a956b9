/** Spans, or groups of them, by ranges of a number: evaluation-store-calls 10. */
import type { NumberBuckets } from "../../../wire/agents/span-stats.ts"
import type { GroupFilter } from "../../../wire/agents/span-values.ts"
import { HeddleError } from "../../../errors.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import { finite } from "../query/sql-value.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { groupCondition, measureSql } from "./span-measures.ts"
import { type SpanQuery, selectSpans } from "./span-selection.ts"
import type { StatColumn } from "./span-stat-columns.ts"
import { spanGroups, spanValue } from "./span-values.ts"

export interface Histogram {
  /** Bounds of all values, or as requested; null without values. */
  bounds: { low: number; high: number } | null
  /** `bucket` and `m<n>`; buckets without values are left out. */
  rows: Readonly<Record<string, unknown>>[]
}

/** @throws {HeddleError} `value_error` for values and measures that mean nothing, or are no numbers. */
export async function readHistogram(
  traces: TraceStore,
  query: SpanQuery,
  bucketBy: NumberBuckets,
  filters: readonly GroupFilter[],
  columns: (parameters: SqlParameters) => StatColumn[],
): Promise<Histogram> {
  const bounds = await readBounds(traces, query, bucketBy, filters)
  if (bounds === null) return { bounds, rows: [] }
  const { low, high } = bounds
  const { from, parameters } = selectSpans(query)
  const values = valuesSql(from, bucketBy, filters, parameters)
  const [least, greatest] = [parameters.bind(low, "Float64"), parameters.bind(high, "Float64")]
  const width = parameters.bind((high - low) / bucketBy.bins, "Float64")
  const place = high > low ? `toUInt32(least(${bucketBy.bins - 1}, floor((number_value - ${least}) / ${width})))` : "0"
  const aggregates = columns(parameters).map(({ sql }, index) => `${sql} as m${index}`)
  const rows = await traces.rows<Record<string, unknown>>(
    `select ${[`${place} as bucket`, ...aggregates].join(", ")} from (${values})
      where number_value >= ${least} and number_value <= ${greatest} group by bucket`,
    parameters.values,
  )
  return { bounds, rows }
}

async function readBounds(
  traces: TraceStore,
  query: SpanQuery,
  bucketBy: NumberBuckets,
  filters: readonly GroupFilter[],
): Promise<{ low: number; high: number } | null> {
  const { from, parameters } = selectSpans(query)
  const [found] = await traces.rows<{ n: string; low: number | null; high: number | null }>(
    `select count() as n, min(number_value) as low, max(number_value) as high
      from (${valuesSql(from, bucketBy, filters, parameters)})`,
    parameters.values,
  )
  if (found === undefined || Number(found.n) === 0) return null
  const [low, high] = [bucketBy.min ?? Number(found.low), bucketBy.max ?? Number(found.high)]
  return low <= high ? { low, high } : null
}

/** A select with the column `number_value`; of spans, with all their columns too. */
function valuesSql(
  from: string,
  { value, group_by, measure }: NumberBuckets,
  filters: readonly GroupFilter[],
  parameters: SqlParameters,
): string {
  if (measure == null) {
    const { sql } = spanValue(value ?? { source: "field", key: "" }, parameters, "number")
    return `select * from (select *, ${finite(sql)} as number_value from ${from}) where number_value is not null`
  }
  const measured = measureSql(measure, parameters)
  if (measured.type !== "number") {
    throw new HeddleError("value_error", "numeric group bucket measure must produce a number")
  }
  const groups = spanGroups(group_by ?? [], parameters).map(({ sql }) => sql)
  const condition = groupCondition(filters, parameters)
  return `select * from (
      select ${finite(measured.sql)} as number_value from ${from}
      group by ${groups.join(", ")} ${condition === null ? "" : `having ${condition}`}
    ) where number_value is not null`
}
