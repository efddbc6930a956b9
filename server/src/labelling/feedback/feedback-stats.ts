/** `/feedback/stats` and `/feedback/payload_schema`: evaluation-store-objects 5. */
import { invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import {
  type FeedbackRange,
  type FeedbackStats,
  type PayloadMetric,
  readFeedbackStats,
  samplePayloads,
} from "../../storage/traces/labelling/feedback-stats.ts"
import { metricValues, valueCount } from "../../storage/traces/metric-columns.ts"
import { bucketCount, bucketStarts } from "../../storage/traces/time-buckets.ts"
import type {
  FeedbackStatsAnswer,
  FeedbackStatsBody,
  PayloadSchemaAnswer,
  PayloadSchemaBody,
  ValueType,
} from "../../wire/labelling/feedback-stats.ts"
import type { Aggregation } from "../../wire/queries/metrics.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { payloadPaths } from "./payload-paths.ts"
import { type ProjectAccess, existingProject } from "../../access/project-access.ts"
import { range, bucketTime, checkAnswerSize, rangeAnswer, timeBuckets } from "../../objects/requests/stats-range.ts"

/** Longest time range of one request for feedback figures. */
export const longestRangeDays = 31
export const dayMs = 86_400_000

export async function feedbackStats(
  { database, traces }: StoreDependencies,
  principal: Principal,
  body: FeedbackStatsBody,
): Promise<FeedbackStatsAnswer> {
  const project = await existingProject(database, principal, body.project_id)
  const buckets = timeBuckets(body)
  checkLength(buckets)
  const answer = rangeAnswer(buckets, body.timezone)
  if (!body.metrics?.length) return { ...answer, buckets: [], window_stats: null }
  const metrics = body.metrics.map(toMetric)
  checkAnswerSize(bucketCount(buckets), valueCount(metrics))
  const stats = await readFeedbackStats(traces, rangeOf(project, buckets, body), buckets, metrics)
  const rows = bucketStarts(buckets).map((start) => {
    const row = stats.rows.get(start)
    return { timestamp: bucketTime(start), ...metricValues(stats.columns, row), count: Number(row?.["n"] ?? 0) }
  })
  return { ...answer, buckets: rows, window_stats: windowStats(stats) }
}

/** Default aggregations by type. */
const defaultAggregations: Record<ValueType, Aggregation[]> = {
  numeric: ["avg", "min", "max"],
  boolean: ["count_true", "count_false"],
  categorical: ["count"],
}

type MetricBody = NonNullable<FeedbackStatsBody["metrics"]>[number]

function toMetric({ json_path, value_type, aggregations, percentiles }: MetricBody): PayloadMetric {
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
  const stats = new Map<string, Record<string, number | null>>()
  for (const { metric, aggregation } of columns) {
    stats.set(metric, { ...stats.get(metric), [aggregation]: values[`${aggregation}_${metric}`] ?? null })
  }
  return Object.fromEntries(stats)
}

const defaultSample = 2000

export async function payloadSchema(
  { database, traces }: StoreDependencies,
  principal: Principal,
  body: PayloadSchemaBody,
): Promise<PayloadSchemaAnswer> {
  const project = await existingProject(database, principal, body.project_id)
  const window = range(body)
  checkLength(window)
  const limit = body.sample_limit ?? defaultSample
  const samples = await samplePayloads(traces, rangeOf(project, window, body), limit)
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
