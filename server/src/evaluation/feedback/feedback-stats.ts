/** `/feedback/stats`, `/feedback/payload_schema` and `/feedback/aggregate`: evaluation-store-objects 5. */
import { invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { aggregateFeedback } from "../../storage/traces/feedback/feedback-aggregate.ts"
import {
  type FeedbackRange,
  type FeedbackStats,
  type PayloadMetric,
  readFeedbackStats,
  samplePayloads,
} from "../../storage/traces/feedback/feedback-stats.ts"
import { metricValues } from "../../storage/traces/metric-columns.ts"
import { throwQueryFailure } from "../../storage/traces/query-failure.ts"
import { bucketStarts } from "../../storage/traces/time-buckets.ts"
import type {
  FeedbackAggregateAnswer,
  FeedbackAggregateBody,
  FeedbackStatsAnswer,
  FeedbackStatsBody,
  PayloadSchemaAnswer,
  PayloadSchemaBody,
  ValueType,
} from "../../wire/evaluation/feedback-stats.ts"
import type { Aggregation } from "../../wire/evaluation/metrics.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { payloadPaths } from "./payload-paths.ts"
import { type ProjectAccess, projectForRead } from "../project-access.ts"
import { range, shownBucket, shownRange, timeBuckets } from "../stats-range.ts"

const longestRangeDays = 31
const dayMs = 86_400_000

export async function feedbackStats(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  body: FeedbackStatsBody,
): Promise<FeedbackStatsAnswer> {
  const project = await projectForRead(database, principal, body.project_id)
  const buckets = timeBuckets(body)
  checkLength(buckets)
  const shown = shownRange(buckets, body.timezone)
  if (!body.metrics?.length) return { ...shown, buckets: [], window_stats: null }
  const metrics = body.metrics.map(toMetric)
  const stats = await readFeedbackStats(traces, rangeOf(project, buckets, body), buckets, metrics).catch(
    throwQueryFailure,
  )
  const rows = bucketStarts(buckets).map((start) => {
    const row = stats.rows.get(start)
    return { timestamp: shownBucket(start), ...metricValues(stats.columns, row), count: Number(row?.["n"] ?? 0) }
  })
  return { ...shown, buckets: rows, window_stats: windowStats(stats) }
}

/** What is asked of a type when nothing is said. */
const defaultAggregations: Record<ValueType, Aggregation[]> = {
  numeric: ["avg", "min", "max"],
  boolean: ["count_true", "count_false"],
  categorical: ["count"],
}

type AskedMetric = NonNullable<FeedbackStatsBody["metrics"]>[number]

function toMetric({ json_path, value_type, aggregations, percentiles }: AskedMetric): PayloadMetric {
  const valueType = value_type ?? "numeric"
  return {
    jsonPath: json_path,
    slug: json_path.replaceAll(/[. ]/g, "_"),
    valueType,
    aggregations: aggregations?.length ? aggregations : defaultAggregations[valueType],
    percentiles: valueType === "numeric" ? (percentiles ?? []) : [],
  }
}

function windowStats({ columns, whole }: FeedbackStats): Record<string, Record<string, number | null>> {
  const values = metricValues(
    columns.map((column) => ({ ...column, empty: column.aggregation.startsWith("count") ? 0 : null })),
    whole,
  )
  const stats: Record<string, Record<string, number | null>> = {}
  for (const { metric, aggregation } of columns) {
    stats[metric] = { ...stats[metric], [aggregation]: values[`${aggregation}_${metric}`] ?? null }
  }
  return stats
}

const defaultSample = 2000

export async function payloadSchema(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  body: PayloadSchemaBody,
): Promise<PayloadSchemaAnswer> {
  const project = await projectForRead(database, principal, body.project_id)
  const asked = range(body)
  checkLength(asked)
  const limit = body.sample_limit ?? defaultSample
  const samples = await samplePayloads(traces, rangeOf(project, asked, body), limit).catch(throwQueryFailure)
  return { paths: payloadPaths(samples.map((sample) => JSON.parse(sample) as unknown)) }
}

function checkLength({ start, end }: { start: bigint; end: bigint }): void {
  if (end - start <= BigInt(longestRangeDays * dayMs) * 1000n) return
  throw invalid(["body"], `Feedback request date range cannot exceed ${longestRangeDays} days`)
}

function rangeOf(
  project: ProjectAccess,
  { start, end }: { start: bigint; end: bigint },
  { feedback_type, trigger_ref }: Pick<FeedbackStatsBody, "feedback_type" | "trigger_ref">,
): FeedbackRange {
  return {
    projectId: project.id,
    range: { start, end },
    feedbackType: feedback_type ?? null,
    triggerRef: trigger_ref ?? null,
  }
}

const mostAggregateBuckets = 256

export async function aggregatedFeedback(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  body: FeedbackAggregateBody,
): Promise<FeedbackAggregateAnswer> {
  checkAggregate(body)
  const project = await projectForRead(database, principal, body.project_id)
  const bucketSeconds = body.time_bucket_seconds ?? null
  const rows = await aggregateFeedback(traces, {
    projectId: project.id,
    afterMs: body.after_ms,
    beforeMs: body.before_ms,
    bucketSeconds,
    groupBy: [...new Set(body.group_by)],
    feedbackTypes: body.feedback_types ?? [],
    tags: body.tags ?? [],
    ratingMin: body.rating_min ?? null,
    ratingMax: body.rating_max ?? null,
    monitorIds: body.monitor_ids ?? [],
    scorerIds: body.scorer_ids ?? [],
    agentNames: body.span_agent_names ?? [],
    spanTypes: body.span_types ?? [],
  }).catch(throwQueryFailure)
  const buckets = rows.map((row) => ({
    time_bucket_start_ms: row.bucket === null ? null : row.bucket * 1000,
    group: row.group,
    total_count: row.total,
    scored_count: row.scored,
    tag_counts: row.tagCounts,
    rating_counts: row.ratingCounts,
    rating_sums: row.ratingSums,
  }))
  return { time_bucket_seconds: bucketSeconds, after_ms: body.after_ms, before_ms: body.before_ms, buckets }
}

const listFilters = [
  "feedback_types",
  "tags",
  "monitor_ids",
  "scorer_ids",
  "span_agent_names",
  "span_types",
  "group_by",
] as const

function checkAggregate(body: FeedbackAggregateBody): void {
  const length = body.before_ms - body.after_ms
  if (length <= 0) throw invalid(["body", "before_ms"], "before_ms must be greater than after_ms")
  const seconds = body.time_bucket_seconds ?? null
  const isNarrowed =
    listFilters.some((name) => body[name]?.length) || body.rating_min != null || body.rating_max != null
  if (length > longestRangeDays * dayMs && (seconds !== null || isNarrowed)) {
    const message = `over ${longestRangeDays} days there is only the total of the project: no time_bucket_seconds, group_by or filters`
    throw invalid(["body"], message)
  }
  if (seconds !== null && length / 1000 / seconds > mostAggregateBuckets) {
    throw invalid(
      ["body", "time_bucket_seconds"],
      `Feedback request range cannot exceed ${mostAggregateBuckets} buckets`,
    )
  }
}
