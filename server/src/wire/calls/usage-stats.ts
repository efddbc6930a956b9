/** Statistics of calls over time: evaluation-store-calls 4.2. */
import { z } from "zod"
import { fieldList } from "../bounded-list.ts"
import { callsFilter } from "./call-read.ts"
import { aggregation, metricBucket, resolvedRange, timeRange } from "../queries/metrics.ts"
import { usageRollup } from "./usage.ts"

export const tokenMetric = z.enum([
  "input_tokens",
  "output_tokens",
  "total_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
])
/** `unpriced_calls`: calls whose model had no price when they began, which cost 0. Not in the reference. */
const costMetric = z.enum(["input_cost", "output_cost", "total_cost", "unpriced_calls"])
/**
 * What each bucket of `usage_metrics` is of: a model; the op that the trace began with, by its name without a version; or
 * the user whose key sent the call. Not in the reference.
 */
const usageGroup = z.enum(["model", "trace_op", "wb_user_id"])
export const callMetric = z.enum(["latency_ms", "call_count", "error_count"])

const statistics = {
  aggregations: fieldList(aggregation).nullish(),
  percentiles: fieldList(z.number()).nullish(),
}

export const callStatsBody = z.looseObject({
  project_id: z.string(),
  ...timeRange,
  /** Of costs there is the sum only. */
  usage_metrics: fieldList(z.looseObject({ metric: z.union([tokenMetric, costMetric]), ...statistics })).nullish(),
  call_metrics: fieldList(z.looseObject({ metric: callMetric, ...statistics })).nullish(),
  /** Absent: `model`. */
  usage_group_by: usageGroup.nullish(),
  filter: callsFilter.nullish(),
  /** Rollup of `usage_metrics`. Absent: `once`. */
  rollup: usageRollup.nullish(),
})

export const callStatsAnswer = z.object({
  ...resolvedRange,
  /** Each with its `model`, `trace_op` or `wb_user_id`. */
  usage_buckets: z.array(metricBucket),
  call_buckets: z.array(metricBucket),
})

export type TokenMetric = z.infer<typeof tokenMetric>
export type UsageGroup = z.infer<typeof usageGroup>
export type CostMetric = z.infer<typeof costMetric>
export type CallStatsBody = z.infer<typeof callStatsBody>
export type CallStatsAnswer = z.infer<typeof callStatsAnswer>
