/** How requests about spans name values, groups and measures: evaluation-store-calls 10. */
import { z } from "zod"
import { textList } from "../bounded-list.ts"
import { query } from "../queries/query.ts"
import { orDefault } from "../or-default.ts"

export const attributeSource = z.enum([
  "custom_attrs_string",
  "custom_attrs_int",
  "custom_attrs_float",
  "custom_attrs_bool",
])

export const valueRef = z.looseObject({
  source: orDefault(z.enum(["field", "derived", ...attributeSource.options]), "field"),
  key: z.string(),
})

export const groupRef = z.looseObject({
  /** `column` is what `field` was called before. */
  source: orDefault(z.enum(["field", "column", ...attributeSource.options]), "field"),
  key: z.string(),
  /** Under which the value stands in the answer. */
  alias: z.string().nullish(),
})

export const valueType = z.enum(["datetime", "number", "boolean", "string"])

export const aggregation = z.enum(["sum", "avg", "min", "max", "count", "count_distinct", "count_true", "count_false"])

/** What a measure of a group may be besides: `p95` is the value that 95 % of the values do not exceed. */
export const percentile = z.enum(["p50", "p90", "p95", "p99"])

/** A name that a measure has in the answer. */
export const alias = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, "letters, digits and _, not a digit first")

export const measure = z.looseObject({
  alias,
  aggregation: z.enum([...aggregation.options, ...percentile.options]),
  /** Only `count` may leave it out. */
  value: valueRef.nullish(),
  value_type: valueType.nullish(),
  /** Spans that do not match are left out of this measure. */
  filter: query.nullish(),
})

/** A number, or a time in ISO 8601. */
const bound = z.union([z.number(), z.string()]).nullish()

export const groupFilter = z.looseObject({
  /** Empty: as the request groups, in statistics by conversation. */
  group_by: z.array(groupRef).max(20).nullish(),
  measure,
  /** Both inclusive. */
  min: bound,
  max: bound,
})

/** Conversations that feedback of agents says something about. */
export const signalFilters = z.looseObject({
  /** Any of them. */
  tags: z.array(z.string()).max(1000).nullish(),
  /** Each of them. */
  ratings: z
    .array(z.looseObject({ scorer_key: z.string(), op: z.enum(["gte", "gt", "lte", "lt", "eq"]), value: z.number() }))
    .max(100)
    .nullish(),
})

/** Conversations by what insights were extracted from them. */
export const insightFilter = z.looseObject({
  field: z.enum([
    "intent_category",
    "intent_sentiment",
    "failure_category",
    "failure_severity",
    "intent_topic_id",
    "failure_topic_id",
  ]),
  values: textList,
  exclude: z.boolean().nullish(),
})

/** ISO 8601; without a zone: UTC. */
export const timeWindow = {
  /** Inclusive. */
  started_after: z.string().nullish(),
  /** Exclusive. */
  started_before: z.string().nullish(),
}

export const filters = {
  query: query.nullish(),
  signal_filters: signalFilters.nullish(),
  insight_filters: z.array(insightFilter).max(100).nullish(),
}

export const sortBy = z
  .array(z.looseObject({ field: z.string(), direction: orDefault(z.enum(["asc", "desc"]), "desc") }))
  .max(100)
  .nullish()

/** How many rows a page has, and how many are before it. */
export function page(most: number, usual: number, least = 0) {
  return { limit: orDefault(z.int().min(least).max(most), usual), offset: orDefault(z.int().min(0), 0) }
}

/** A value in an answer. */
export const cell = z.union([z.string(), z.number(), z.boolean(), z.null()])

/** A whole number, at times past 2^53: it is written with all its digits. */
export const count = z.number()
export const cost = z.number().nullable()
export const time = z.iso.datetime().nullable()

export type ValueRef = z.output<typeof valueRef>
export type GroupRef = z.output<typeof groupRef>
export type Measure = z.output<typeof measure>
export type GroupFilter = z.output<typeof groupFilter>
export type SignalFilters = z.output<typeof signalFilters>
export type InsightFilter = z.output<typeof insightFilter>
export type ValueType = z.output<typeof valueType>
export type Aggregation = z.output<typeof aggregation>
export type MeasureAggregation = Measure["aggregation"]
export type AgentSort = NonNullable<z.output<typeof sortBy>>
export type Cell = z.output<typeof cell>
