/** Values of feedback payloads over time: evaluation-store-objects 5. */
import type { Aggregation } from "../../../wire/queries/metrics.ts"
import type { ValueType } from "../../../wire/labelling/feedback-stats.ts"
import { jsonValue } from "../query/json-value.ts"
import { columnList, type MetricColumn, metricColumns } from "../metric-columns.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { splitPath } from "../query/sql-value.ts"
import { bucketSql, rangeSql, type TimeBuckets } from "../time-buckets.ts"
import type { TraceStore } from "../store/trace-store.ts"

export interface FeedbackRange {
  projectId: string
  range: Pick<TimeBuckets, "start" | "end">
  feedbackType: string | null
  /** Every version with `:*` at its end. */
  triggerRef: string | null
}

export interface PayloadMetric {
  jsonPath: string
  /** The name of the metric in the answer. */
  slug: string
  valueType: ValueType
  aggregations: readonly Aggregation[]
  percentiles: readonly number[]
}

export interface FeedbackStats {
  columns: MetricColumn[]
  /** By the Unix second at which the bucket begins; `n` counts rows. */
  rows: ReadonlyMap<number, Readonly<Record<string, unknown>>>
  whole: Readonly<Record<string, unknown>>
}

/** Per bucket and over the whole range, in one read. */
export async function readFeedbackStats(
  traces: TraceStore,
  feedback: FeedbackRange,
  buckets: TimeBuckets,
  metrics: readonly PayloadMetric[],
): Promise<FeedbackStats> {
  const parameters = new SqlParameters()
  const values = metrics.map(({ jsonPath, valueType }) => payloadNumber(jsonPath, valueType, parameters))
  const columns = metricColumns(
    metrics.map((metric, index) => ({ ...metric, metric: metric.slug, value: `v${index}` })),
  )
  const rows = await traces.rows<Record<string, unknown>>(
    `select bucket, grouping(bucket) as is_whole, count() as n, ${columnList(columns)}
      from (
        select ${bucketSql("created_at", buckets)} as bucket, ${values.map((value, index) => `${value} as v${index}`).join(", ")}
        from feedback final where ${condition(feedback, parameters)}
      ) group by grouping sets ((bucket), ())`,
    parameters.values,
  )
  const ofBuckets = rows.filter((row) => Number(row["is_whole"]) === 0)
  return {
    columns,
    rows: new Map(ofBuckets.map((row) => [Number(row["bucket"]), row])),
    whole: rows.find((row) => Number(row["is_whole"]) === 1) ?? {},
  }
}

/** A number, 1 or 0 for a boolean; of text, which can only be counted, 1. */
function payloadNumber(jsonPath: string, valueType: ValueType, parameters: SqlParameters): string {
  const value = jsonValue("payload", splitPath(jsonPath), parameters)
  if (valueType === "boolean") return `toFloat64(${value.as("bool")})`
  return valueType === "numeric" ? value.as("number") : `if(${value.exists}, toFloat64(1), NULL)`
}

/** Payloads that are looked at together. One may have a mebibyte. */
const mostSampledBytes = 8 * 1024 ** 2

/** The newest payload of each feedback type and trigger, the newest of them first, as many as these bytes hold. */
export async function samplePayloads(traces: TraceStore, feedback: FeedbackRange, limit: number): Promise<string[]> {
  const parameters = new SqlParameters()
  const rows = await traces.rows<{ sample: string }>(
    `select sample from (
      select sample, newest, sum(length(sample)) over (order by newest desc, sample rows unbounded preceding) as bytes
      from (
        select argMax(substring(payload, 2, length(payload) - 2), created_at) as sample, max(created_at) as newest
        from feedback final where ${condition(feedback, parameters)}
        group by feedback_type, trigger_ref order by newest desc limit ${limit}
      )
    ) where bytes <= ${mostSampledBytes} order by newest desc`,
    parameters.values,
  )
  return rows.map((row) => row.sample)
}

const anyVersion = ":*"

function condition({ projectId, range, feedbackType, triggerRef }: FeedbackRange, parameters: SqlParameters): string {
  const conditions = [`project_id = ${parameters.bind(projectId, "UUID")}`, rangeSql("created_at", range)]
  if (feedbackType !== null) conditions.push(`feedback_type = ${parameters.bind(feedbackType, "String")}`)
  if (triggerRef?.endsWith(anyVersion)) {
    conditions.push(`startsWith(ifNull(trigger_ref, ''), ${parameters.bind(triggerRef.slice(0, -1), "String")})`)
  } else if (triggerRef != null) {
    conditions.push(`trigger_ref = ${parameters.bind(triggerRef, "String")}`)
  }
  return conditions.join(" and ")
}
