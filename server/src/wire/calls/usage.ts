/** Token usage of calls, each with its descendants: evaluation-store-calls 4.1. */
import { z } from "zod"
import { callsFilter } from "./call-read.ts"
import { query } from "../queries/query.ts"

const flag = z.boolean().nullish()
/** How many calls are read at most. */
const limit = z.int().min(0).nullish()

/**
 * `once`: each request counts once, although the SDKs add a call's usage to all its ancestors. `sum`: what calls report
 * is added up, as the reference does. Not in the reference.
 */
export const usageRollup = z.enum(["once", "sum"])

export const traceUsageBody = z.looseObject({
  project_id: z.string(),
  filter: callsFilter.nullish(),
  query: query.nullish(),
  include_costs: flag,
  limit,
  /** Absent: `once`. */
  rollup: usageRollup.nullish(),
})

export const callsUsageBody = z.looseObject({
  project_id: z.string(),
  call_ids: z.array(z.string()),
  include_costs: flag,
  limit,
  /** Absent: `once`. */
  rollup: usageRollup.nullish(),
})

const count = z.number()
const cost = z.number().nullable()

const aggregatedUsage = z.object({
  requests: count,
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  /** null unless asked for; a model without a price costs 0. */
  prompt_tokens_total_cost: cost,
  completion_tokens_total_cost: cost,
  cache_read_input_tokens_total_cost: cost,
  cache_creation_input_tokens_total_cost: cost,
})

export const usageAnswer = z.object({
  /** Call id → model → usage. */
  call_usage: z.record(z.string(), z.record(z.string(), aggregatedUsage)),
  unfinished_call_ids: z.array(z.string()),
})

export type UsageRollup = z.infer<typeof usageRollup>
export type AggregatedUsage = z.infer<typeof aggregatedUsage>
export type UsageAnswer = z.infer<typeof usageAnswer>
