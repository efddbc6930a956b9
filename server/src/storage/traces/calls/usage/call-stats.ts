/** Statistics of calls over time: evaluation-store-calls 4.2. */
import type { z } from "zod"
import type { callMetric } from "../../../../wire/calls/usage-stats.ts"
import type { CallsSelection } from "../calls-selection.ts"
import { callsFinal } from "../calls-tables.ts"
import { columnList, type MetricColumn, metricColumns, type MetricRequest, metricValues } from "../../metric-columns.ts"
import { bucketSql, type TimeBuckets } from "../../time-buckets.ts"
import type { TraceStore } from "../../store/trace-store.ts"
import { startedIn } from "./started-in.ts"

type CallMetric = z.infer<typeof callMetric>

const microseconds = (column: string) => `toUnixTimestamp64Micro(${column})`

const callValues: Record<CallMetric, string> = {
  latency_ms: `intDiv(${microseconds("ended_at")} - ${microseconds("started_at")}, 1000)`,
  call_count: "1",
  error_count: "if(ifNull(exception, '') = '', 0, 1)",
}

interface StatsRow {
  /** Unix seconds. */
  bucket: number
  values: Record<string, number | null>
  count: number
}

interface Stats {
  rows: StatsRow[]
  columns: MetricColumn[]
}

/** Buckets without calls are left out. */
export async function readCallStats(
  traces: TraceStore,
  selection: CallsSelection,
  buckets: TimeBuckets,
  metrics: readonly MetricRequest<CallMetric>[],
): Promise<Stats> {
  const within = startedIn(selection, buckets)
  const columns = metricColumns(metrics.map((request) => ({ ...request, value: callValues[request.metric] })))
  const rows = await traces.rows<Record<string, unknown>>(
    `select ${["bucket", "count() as n", columnList(columns)].filter((part) => part !== "").join(", ")}
      from (
        select ${bucketSql("started_at", buckets)} as bucket, started_at, ended_at, exception
        from ${callsFinal} where ${within.sql} and ${selection.condition}
      ) group by bucket`,
    { ...selection.parameters, ...within.values },
  )
  return { columns, rows: rows.map((row) => statsRow(row, columns)) }
}

function statsRow(row: Record<string, unknown>, columns: readonly MetricColumn[]): StatsRow {
  return { bucket: Number(row["bucket"]), values: metricValues(columns, row), count: Number(row["n"]) }
}
