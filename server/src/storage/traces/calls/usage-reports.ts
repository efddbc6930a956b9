/** Tokens that calls report, with the links between the calls of a trace: evaluation-store-calls 4.2. */
import type { CallsSelection } from "./calls-selection.ts"
import { callsFinal } from "./calls-tables.ts"
import { opTitleSql } from "./fields/call-query-fields.ts"
import { isoTimeSql } from "../query/sql-time.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { bucketSql, rangeSql, type TimeBuckets } from "../time-buckets.ts"

export interface UsageReport {
  id: string
  trace_id: string
  parent_id: string | null
  /** ISO 8601, UTC. */
  started_at: string
  /** It has `status_counts`, which the Python SDK sums up over all descendants in the same step as the usage. */
  is_sum: boolean
  /** JSON text of `summary.usage`; empty: none, or the call is not asked for. */
  usage: string
}

/** SQL of the columns that a report is made of; `usage` is empty where the condition does not hold. */
export function reportColumns(condition = "true"): string {
  const isSum = "JSONHas(ifNull(summary, ''), 1, 'status_counts')"
  const usage = `if(${condition}, JSONExtractRaw(ifNull(summary, ''), 1, 'usage'), '')`
  return `id, trace_id, parent_id, ${isoTimeSql("calls.started_at")} as started_at, ${isSum} as is_sum, ${usage} as usage`
}

/** What each call may be told with, besides. */
const facts = { trace_op: opTitleSql, wb_user_id: "ifNull(wb_user_id, '')" }

/** A call of a range of time. */
export interface DatedReport extends UsageReport {
  bucket: number
  /** What was asked for with it; empty without. */
  fact: string
}

/** The usage reports of this many calls take about 60 MB of memory. */
const callsAtOnce = 100_000

/** Calls of the range in parts, each of whole traces; traces in which no call that is asked for reports any usage are left out. */
export async function* readUsageReports(
  traces: TraceStore,
  { live, condition, parameters }: CallsSelection,
  buckets: TimeBuckets,
  fact: keyof typeof facts | null,
): AsyncGenerator<DatedReport[]> {
  const within = `${live} and ${rangeSql("calls.started_at", buckets)}`
  const inTraces = `trace_id in (
    select trace_id from ${callsFinal} where ${within} and ${condition} and JSONHas(ifNull(summary, ''), 1, 'usage'))`
  const [counted] = await traces.rows<{ calls: string }>(
    `select count() as calls from ${callsFinal} where ${within} and ${inTraces}`,
    parameters,
  )
  const parts = Math.ceil(Number(counted?.calls ?? 0) / callsAtOnce)
  for (let part = 0; part < parts; part++) {
    const rows = await traces.rows<Omit<DatedReport, "bucket"> & { bucket: string }>(
      `select ${bucketSql("calls.started_at", buckets)} as bucket, ${fact === null ? "''" : facts[fact]} as fact,
          ${reportColumns(condition)}
        from ${callsFinal} where ${within} and ${inTraces} and cityHash64(trace_id) % ${parts} = ${part}`,
      parameters,
    )
    yield rows.map((row) => ({ ...row, bucket: Number(row.bucket) }))
  }
}
