/** Feedback over time: evaluation-store-objects 5. */
import { z } from "zod"
import { fieldList, textList } from "../bounded-list.ts"
import { aggregation, metricBucket, resolvedRange, timeRange } from "../queries/metrics.ts"

const valueType = z.enum(["numeric", "boolean", "categorical"])

const filters = {
  /** Exact. */
  feedback_type: z.string().nullish(),
  /** Exact, or every version with `:*` at its end. */
  trigger_ref: z.string().nullish(),
}

export const feedbackStatsBody = z.looseObject({
  project_id: z.string(),
  ...timeRange,
  ...filters,
  metrics: fieldList(
    z.looseObject({
      /** Dotted path into the payload. */
      json_path: z.string(),
      value_type: valueType.nullish(),
      aggregations: fieldList(aggregation).nullish(),
      percentiles: fieldList(z.number()).nullish(),
    }),
  ).nullish(),
})

export const feedbackStatsAnswer = z.object({
  ...resolvedRange,
  buckets: z.array(metricBucket),
  /** Over the whole range: metric → aggregation → value; null without metrics. */
  window_stats: z.record(z.string(), z.record(z.string(), z.number().nullable())).nullable(),
})

export const payloadSchemaBody = z.looseObject({
  project_id: z.string(),
  start: timeRange.start,
  end: timeRange.end,
  ...filters,
  /** How many payloads are looked at. */
  sample_limit: z.int().min(1).max(5000).nullish(),
})

export const payloadSchemaAnswer = z.object({
  /** `value_type` is null where only null was seen. */
  paths: z.array(z.object({ json_path: z.string(), value_type: valueType.nullable() })),
})

const milliseconds = z.int().min(0)
const share = z.number().min(0).max(1).nullish()
const names = textList.nullish()

export const groupDimension = z.enum(["scorer_id", "span_agent_name", "span_agent_version", "span_status_code"])

export const feedbackAggregateBody = z.looseObject({
  project_id: z.string(),
  /** Inclusive and exclusive, milliseconds since 1970. */
  after_ms: milliseconds,
  before_ms: milliseconds,
  time_bucket_seconds: z.int().min(1).nullish(),
  /** Prefixes. */
  feedback_types: names,
  /** Any of them. */
  tags: names,
  rating_min: share,
  rating_max: share,
  /** Exact, or a prefix with `*` at its end. */
  monitor_ids: names,
  scorer_ids: names,
  span_agent_names: names,
  span_types: fieldList(z.enum(["agent_turn", "agent_conversation"])).nullish(),
  group_by: fieldList(groupDimension).nullish(),
})

const counts = z.record(z.string(), z.int())

export const feedbackAggregateAnswer = z.object({
  time_bucket_seconds: z.int().nullable(),
  after_ms: z.int(),
  before_ms: z.int(),
  /** Those with nothing in them are left out. */
  buckets: z.array(
    z.object({
      time_bucket_start_ms: z.int().nullable(),
      group: z.record(z.string(), z.string()),
      total_count: z.int(),
      /** Rows with a tag or a rating. */
      scored_count: z.int(),
      tag_counts: counts,
      rating_counts: counts,
      rating_sums: z.record(z.string(), z.number()),
    }),
  ),
})

export type ValueType = z.infer<typeof valueType>
export type GroupDimension = z.infer<typeof groupDimension>
export type FeedbackStatsBody = z.infer<typeof feedbackStatsBody>
export type FeedbackStatsAnswer = z.infer<typeof feedbackStatsAnswer>
export type PayloadSchemaBody = z.infer<typeof payloadSchemaBody>
export type PayloadSchemaAnswer = z.infer<typeof payloadSchemaAnswer>
export type FeedbackAggregateBody = z.infer<typeof feedbackAggregateBody>
export type FeedbackAggregateAnswer = z.infer<typeof feedbackAggregateAnswer>
