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
const costMetric = z.enum(["input_cost", "output_cost", "total_cost"])
export const callMetric = z.enum(["latency_ms", "call_count", "error_count"])

const statistics = {
  aggregations: fieldList(aggregation).nullish(),
  percentiles: fieldList(z.number()).nullish(),
}

export const callStatsBody = z.looseObject({
  project_id: z.string(),
  ...timeRange,
  /** By model. Of costs there is the sum only. */
  usage_metrics: fieldList(z.looseObject({ metric: z.union([tokenMetric, costMetric]), ...statistics })).nullish(),
  call_metrics: fieldList(z.looseObject({ metric: callMetric, ...statistics })).nullish(),
  filter: callsFilter.nullish(),
  /** Rollup of `usage_metrics`. Absent: `once`. */
  rollup: usageRollup.nullish(),
})

export const callStatsAnswer = z.object({
  ...resolvedRange,
  /** Each with its `model`. */
  usage_buckets: z.array(metricBucket),
  call_buckets: z.array(metricBucket),
})

export type TokenMetric = z.infer<typeof tokenMetric>
export type CostMetric = z.infer<typeof costMetric>
export type CallStatsBody = z.infer<typeof callStatsBody>
export type CallStatsAnswer = z.infer<typeof callStatsAnswer>
