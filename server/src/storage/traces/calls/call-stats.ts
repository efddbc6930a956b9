/** Statistics of calls over time: evaluation-store-calls 4.2. */
import type { z } from "zod"
import type { Aggregation } from "../../../wire/evaluation/metrics.ts"
import type { callMetric, tokenMetric } from "../../../wire/evaluation/usage-stats.ts"
import type { CallsSelection } from "./calls-selection.ts"
import { columnList, type MetricColumn, metricColumns, metricValues } from "../metric-columns.ts"
import { bucketSql, rangeSql, type TimeBuckets } from "../time-buckets.ts"
import type { TraceStore } from "../store/trace-store.ts"

export interface MetricRequest<Metric extends string> {
  metric: Metric
  aggregations: readonly Aggregation[]
  percentiles: readonly number[]
}

type CallMetric = z.infer<typeof callMetric>
export type TokenMetric = z.infer<typeof tokenMetric>

const microseconds = (column: string) => `toUnixTimestamp64Micro(${column})`

const callValues: Record<CallMetric, string> = {
  latency_ms: `intDiv(${microseconds("ended_at")} - ${microseconds("started_at")}, 1000)`,
  call_count: "1",
  error_count: "if(ifNull(exception, '') = '', 0, 1)",
}

export interface StatsRow {
  /** Unix seconds. */
  bucket: number
  values: Record<string, number | null>
  count: number
}

export interface Stats<Row> {
  rows: Row[]
  columns: MetricColumn[]
}

/** Buckets without calls are left out. */
export async function readCallStats(
  traces: TraceStore,
  selection: CallsSelection,
  buckets: TimeBuckets,
  metrics: readonly MetricRequest<CallMetric>[],
): Promise<Stats<StatsRow>> {
  const columns = metricColumns(metrics.map((asked) => ({ ...asked, value: callValues[asked.metric] })))
  const rows = await traces.rows<Record<string, unknown>>(
    `select ${["bucket", "count() as n", columnList(columns)].filter((part) => part !== "").join(", ")}
      from (
        select ${bucketSql("started_at", buckets)} as bucket, started_at, ended_at, exception
        from calls final where ${callsWithin(selection, buckets)}
      ) group by bucket`,
    selection.parameters,
  )
  return { columns, rows: rows.map((row) => statsRow(row, columns)) }
}

/** As {@link usageByModel} of the evaluation store reads it: the two spellings added, a total of 0 made from them. */
const tokenValues: Record<TokenMetric, string> = {
  input_tokens: `(${count("prompt_tokens")} + ${count("input_tokens")})`,
  output_tokens: `(${count("completion_tokens")} + ${count("output_tokens")})`,
  total_tokens: `if(${count("total_tokens")} = 0,
    ${["prompt_tokens", "input_tokens", "completion_tokens", "output_tokens"].map(count).join(" + ")}, ${count("total_tokens")})`,
  cache_read_input_tokens: count("cache_read_input_tokens"),
  cache_creation_input_tokens: count("cache_creation_input_tokens"),
}

function count(name: string): string {
  return `ifNull(JSONExtract(reported.2, '${name}', 'Nullable(Float64)'), 0)`
}

export interface UsageStatsRow extends StatsRow {
  model: string
}

/** Per model. */
export async function readUsageStats(
  traces: TraceStore,
  selection: CallsSelection,
  buckets: TimeBuckets,
  metrics: readonly MetricRequest<TokenMetric>[],
): Promise<Stats<UsageStatsRow>> {
  const columns = metricColumns(metrics.map((asked) => ({ ...asked, value: tokenValues[asked.metric] })))
  const rows = await traces.rows<Record<string, unknown>>(
    `select ${["bucket", "reported.1 as model", "count() as n", columnList(columns)].filter((part) => part !== "").join(", ")}
      from (${reportedUsage(selection, buckets)}) group by bucket, model`,
    selection.parameters,
  )
  return { columns, rows: rows.map((row) => ({ ...statsRow(row, columns), model: String(row["model"]) })) }
}

export interface TokenSums {
  bucket: number
  model: string
  /** Start of the earliest of these calls, ISO-like, UTC. */
  started_at: string
  input_tokens: number
  output_tokens: number
  cache_read_input_tokens: number
  cache_creation_input_tokens: number
}

/**
 * Sums of tokens per bucket and model, apart for each stretch of time between two `changes` (Unix
 * microseconds at which some price begins), so that one price holds for all of a sum.
 */
export async function readTokenSums(
  traces: TraceStore,
  selection: CallsSelection,
  buckets: TimeBuckets,
  changes: readonly bigint[],
): Promise<TokenSums[]> {
  const sums = (
    ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"] as const
  ).map((metric) => `sum(${tokenValues[metric]}) as ${metric}`)
  const stretch = `arrayCount(change -> change <= ${microseconds("began_at")}, {changes:Array(Int64)}) as stretch`
  const rows = await traces.rows<Omit<TokenSums, "bucket"> & { bucket: string }>(
    `select bucket, reported.1 as model, toString(min(began_at)) as started_at, ${sums.join(", ")}
      from (select *, ${stretch} from (${reportedUsage(selection, buckets)})) group by bucket, model, stretch`,
    { ...selection.parameters, changes },
  )
  return rows.map((row) => ({ ...row, bucket: Number(row.bucket) }))
}

/** One row for each model of a call's usage: `reported` is its name and the JSON of its counts. */
function reportedUsage(selection: CallsSelection, buckets: TimeBuckets): string {
  return `select ${bucketSql("started_at", buckets)} as bucket, assumeNotNull(started_at) as began_at,
      arrayJoin(JSONExtractKeysAndValuesRaw(ifNull(summary, ''), 1, 'usage')) as reported
    from calls final where ${callsWithin(selection, buckets)}`
}

function callsWithin({ live, asked }: CallsSelection, buckets: TimeBuckets): string {
  return `${live} and ${rangeSql("calls.started_at", buckets)} and ${asked}`
}

function statsRow(row: Record<string, unknown>, columns: readonly MetricColumn[]): StatsRow {
  return { bucket: Number(row["bucket"]), values: metricValues(columns, row), count: Number(row["n"]) }
}
