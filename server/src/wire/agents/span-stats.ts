/** `/agents/spans/stats`: evaluation-store-calls 10. */
import { z } from "zod"
import { resolvedRange, timeRange } from "../queries/metrics.ts"
import {
  aggregation,
  alias,
  cell,
  filters,
  groupFilter,
  groupRef,
  measure,
  valueRef,
  valueType,
} from "./span-values.ts"
import { orDefault } from "../or-default.ts"

const metric = z.looseObject({
  alias,
  value: valueRef,
  value_type: valueType,
  /** Neither these nor percentiles: the sum of numbers, the count of anything else. */
  aggregations: z.array(aggregation).max(8).nullish(),
  percentiles: z.array(z.number().min(0).max(100)).max(100).nullish(),
})

const numberBuckets = z.looseObject({
  type: z.literal("number"),
  /** Alias of `value` or of the measure; the answer does not use it. */
  alias: alias.nullish(),
  bins: orDefault(z.int().min(1).max(200), 24),
  /** Absent: the least and the greatest value. */
  min: z.number().nullish(),
  max: z.number().nullish(),
  /** Either the value of each span, or a measure of each group. */
  value: valueRef.nullish(),
  group_by: z.array(groupRef).max(20).nullish(),
  measure: measure.nullish(),
})

export const spanStatsBody = z.looseObject({
  project_id: z.string(),
  ...timeRange,
  ...filters,
  group_by: z.array(groupRef).max(20).nullish(),
  metrics: z.array(metric).max(50).nullish(),
  /** The groups with the most spans. */
  group_limit: orDefault(z.int().min(1).max(1000), 50),
  bucket_by: z.union([numberBuckets, z.looseObject({ type: orDefault(z.literal("time"), "time") })]).nullish(),
  group_filters: z.array(groupFilter).max(20).nullish(),
})

export const spanStatsAnswer = z.object({
  ...resolvedRange,
  granularity: z.int().nullable(),
  bucket_type: z.enum(["time", "number"]),
  columns: z.array(
    z.object({
      name: z.string(),
      role: z.enum(["time", "bucket", "group", "metric"]),
      value_type: valueType,
      metric: z.string().nullable(),
      aggregation: z.string().nullable(),
    }),
  ),
  /** Column → value. */
  rows: z.array(z.record(z.string(), cell)),
})

export type SpanStatsBody = z.output<typeof spanStatsBody>
export type SpanStatsAnswer = z.output<typeof spanStatsAnswer>
export type SpanMetric = z.output<typeof metric>
export type NumberBuckets = z.output<typeof numberBuckets>
