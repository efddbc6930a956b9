/** Measures of spans over time: evaluation-store-calls 10. */
import type { GroupFilter, GroupRef } from "../../../wire/agents/span-values.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { bucketSql, type TimeBuckets } from "../time-buckets.ts"
import type { StatColumn } from "./span-stat-columns.ts"
import { groupCondition } from "./span-measures.ts"
import { type SpanQuery, selectSpans } from "./span-selection.ts"
import { spanGroups } from "./span-values.ts"

export interface TimeStats {
  buckets: TimeBuckets
  groupBy: readonly GroupRef[]
  /** The groups with the most spans. */
  groupLimit: number
  /** Spans of groups that do not meet every one of them are left out. */
  filters: readonly GroupFilter[]
  columns: (parameters: SqlParameters) => StatColumn[]
}

/** `bucket` in Unix seconds, `g<n>` and `m<n>` as they are stored. Buckets without spans are left out. */
export type TimeStatsRow = Readonly<Record<string, unknown>>

export async function readTimeStats(traces: TraceStore, query: SpanQuery, stats: TimeStats): Promise<TimeStatsRow[]> {
  const { from, parameters } = selectSpans(query)
  const groups = spanGroups(stats.groupBy, parameters).map(({ sql }) => sql)
  const keys = groups.map((_, index) => `g${index}`)
  const spans = filteredSpans(`select * from ${from}`, stats.filters, parameters)
  const measured = `select ${bucketSql("started_at", stats.buckets)} as bucket, *,
    ${groups.map((sql, index) => `${sql} as g${index}, `).join("")} 1 as one from (${spans})`
  const values = stats.columns(parameters).map(({ sql }, index) => `${sql} as m${index}`)
  const top = groups.length === 0 ? "" : topGroups(measured, keys, parameters.bind(stats.groupLimit, "UInt64"))
  return traces.rows<TimeStatsRow>(
    `select ${["bucket", ...keys, ...values].join(", ")} from (${measured}) ${top}
      group by ${["bucket", ...keys].join(", ")}`,
    parameters.values,
  )
}

/** Tuples with a null in them are equal to none: keys are compared as text. */
function topGroups(measured: string, keys: readonly string[], limit: string): string {
  const key = `toJSONString(tuple(${keys.join(", ")}))`
  return `where ${key} in (
    select ${key} from (${measured}) group by ${keys.join(", ")} order by count() desc, ${keys.join(", ")} limit ${limit}
  )`
}

function filteredSpans(spans: string, filters: readonly GroupFilter[], parameters: SqlParameters): string {
  const conditions = filters.flatMap((filter) => {
    const condition = groupCondition([filter], parameters)
    const groups = spanGroups(filter.group_by ?? [], parameters).map(({ sql }) => sql)
    if (condition === null || groups.length === 0) return []
    const key = `toJSONString(tuple(${groups.join(", ")}))`
    return [`${key} in (select ${key} from (${spans}) group by ${groups.join(", ")} having ${condition})`]
  })
  return conditions.length === 0 ? spans : `select * from (${spans}) where ${conditions.join(" and ")}`
}
