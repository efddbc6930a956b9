/** Parts shared by the statistics of calls and of feedback: evaluation-store-calls 4.2, evaluation-store-objects 5. */
import { z } from "zod"

export const aggregation = z.enum(["sum", "avg", "min", "max", "count", "count_true", "count_false"])

const second = z.string()

/** A century: a wider bucket may begin before the first day of the calendar. */
const widestBucketSeconds = 100 * 366 * 24 * 60 * 60

/** The range of time and its buckets. Times are ISO 8601, UTC where they say no zone. */
export const timeRange = {
  /** Inclusive. */
  start: second,
  /** Exclusive; absent: now. */
  end: second.nullish(),
  /** Seconds; absent: by the length of the range. */
  granularity: z.int().min(1).max(widestBucketSeconds).nullish(),
  /** IANA name of the time zone that buckets begin by. */
  timezone: z.string().nullish(),
}

/** `timestamp`, `count`, and `<aggregation>_<metric>` or `p<percentile>_<metric>` for each that was asked for. */
export const metricBucket = z
  .object({ timestamp: z.iso.datetime({ offset: true }), count: z.int() })
  .catchall(z.union([z.number(), z.string(), z.null()]))

export const resolvedRange = {
  start: z.iso.datetime(),
  end: z.iso.datetime(),
  granularity: z.int(),
  timezone: z.string(),
}

export type Aggregation = z.infer<typeof aggregation>
export type MetricBucket = z.infer<typeof metricBucket>
