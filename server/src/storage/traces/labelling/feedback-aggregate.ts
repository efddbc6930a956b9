/** Tags and ratings that scorers gave, summed by time and group: evaluation-store-objects 5. */
import type { GroupDimension } from "../../../wire/labelling/feedback-stats.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { bucketSql, rangeSql } from "../time-buckets.ts"
import type { TraceStore } from "../store/trace-store.ts"

export interface AggregateRequest {
  projectId: string
  /** Milliseconds since 1970: inclusive, exclusive. */
  afterMs: number
  beforeMs: number
  /** null: one bucket. */
  bucketSeconds: number | null
  groupBy: readonly GroupDimension[]
  /** Prefixes. */
  feedbackTypes: readonly string[]
  tags: readonly string[]
  ratingMin: number | null
  ratingMax: number | null
  /** Exact, or a prefix with `*` at its end. */
  monitorIds: readonly string[]
  scorerIds: readonly string[]
  agentNames: readonly string[]
  spanTypes: readonly string[]
}

export interface AggregateRow {
  /** Unix seconds. */
  bucket: number | null
  group: Record<string, string>
  total: number
  scored: number
  tagCounts: Record<string, number>
  ratingCounts: Record<string, number>
  ratingSums: Record<string, number>
}

const ones = (list: string) => `arrayMap(one -> toUInt64(1), ${list})`

const aggregates = [
  "count() as total",
  "countIf(notEmpty(scorer_tags) or notEmpty(scorer_ratings)) as scored",
  `sumMap(mapFromArrays(arrayDistinct(scorer_tags), ${ones("arrayDistinct(scorer_tags)")})) as tag_counts`,
  `sumMap(mapFromArrays(mapKeys(scorer_ratings), ${ones("mapKeys(scorer_ratings)")})) as rating_counts`,
  "sumMap(scorer_ratings) as rating_sums",
]

export async function aggregateFeedback(traces: TraceStore, request: AggregateRequest): Promise<AggregateRow[]> {
  const parameters = new SqlParameters()
  const { bucketSeconds, groupBy } = request
  const bucket = bucketSeconds === null ? [] : [bucketSql("created_at", { seconds: bucketSeconds, offsetSeconds: 0 })]
  const keys = [...bucket, ...groupBy.map((dimension) => dimensions[dimension])]
  const columns = [...keys.map((key, index) => `${key} as k${index}`), ...aggregates]
  const names = keys.map((_, index) => `k${index}`).join(", ")
  const rows = await traces.rows<Record<string, unknown>>(
    `select ${columns.join(", ")} from feedback final where ${condition(request, parameters)}
      ${keys.length === 0 ? "" : `group by ${names} order by ${names}`}`,
    parameters.values,
  )
  return rows.map((row) => toAggregate(row, bucketSeconds !== null, groupBy))
}

/** `weave:///e/p/object/<name>:<version>` → `<name>`. */
const refName = (column: string) => `splitByChar(':', splitByChar('/', ifNull(${column}, ''))[-1])[1]`

const dimensions: Record<GroupDimension, string> = {
  scorer_id: refName("runnable_ref"),
  span_agent_name: "span_agent_name",
  span_agent_version: "span_agent_version",
  span_status_code: "toString(span_status_code)",
}

function condition(request: AggregateRequest, parameters: SqlParameters): string {
  const range = { start: BigInt(request.afterMs) * 1000n, end: BigInt(request.beforeMs) * 1000n }
  const conditions = [`project_id = ${parameters.bind(request.projectId, "UUID")}`, rangeSql("created_at", range)]
  const prefixes = request.feedbackTypes.map((type) => `${type.replace(/\*+$/, "")}*`)
  if (prefixes.length > 0) conditions.push(anyOf("toString(feedback_type)", prefixes, parameters))
  if (request.monitorIds.length > 0) conditions.push(anyOf(refName("trigger_ref"), request.monitorIds, parameters))
  if (request.scorerIds.length > 0) conditions.push(anyOf(refName("runnable_ref"), request.scorerIds, parameters))
  const { agentNames, spanTypes, tags } = request
  const list = (texts: readonly string[]) => parameters.bind(texts, "Array(String)")
  if (agentNames.length > 0) conditions.push(`span_agent_name in ${list(agentNames)}`)
  // weave:///e/p/agent_turn/<id>
  if (spanTypes.length > 0) conditions.push(`splitByChar('/', weave_ref)[-2] in ${list(spanTypes)}`)
  if (tags.length > 0) conditions.push(`hasAny(scorer_tags, ${list(tags)})`)
  if (request.ratingMin !== null || request.ratingMax !== null) conditions.push(ratingWithin(request, parameters))
  return conditions.join(" and ")
}

/** Texts with `*` at their end are prefixes. */
function anyOf(sql: string, texts: readonly string[], parameters: SqlParameters): string {
  const tests = texts.map((text) =>
    text.endsWith("*")
      ? `startsWith(${sql}, ${parameters.bind(text.slice(0, -1), "String")})`
      : `${sql} = ${parameters.bind(text, "String")}`,
  )
  return `(${tests.join(" or ")})`
}

function ratingWithin({ ratingMin, ratingMax }: AggregateRequest, parameters: SqlParameters): string {
  const [least, most] = [ratingMin ?? 0, ratingMax ?? 1].map((bound) => parameters.bind(bound, "Float64"))
  const tests = [ratingMin === null ? [] : [`rating >= ${least}`], ratingMax === null ? [] : [`rating <= ${most}`]]
  return `arrayExists(rating -> ${tests.flat().join(" and ")}, mapValues(scorer_ratings))`
}

function toAggregate(
  row: Record<string, unknown>,
  isBucketed: boolean,
  groupBy: readonly GroupDimension[],
): AggregateRow {
  const firstKey = isBucketed ? 1 : 0
  const ratingCounts = numbers(row["rating_counts"])
  return {
    bucket: isBucketed ? Number(row["k0"]) : null,
    group: Object.fromEntries(groupBy.map((dimension, index) => [dimension, String(row[`k${index + firstKey}`])])),
    total: Number(row["total"]),
    scored: Number(row["scored"]),
    tagCounts: numbers(row["tag_counts"]),
    ratingCounts,
    // `sumMap` leaves out sums of 0.
    ratingSums: {
      ...Object.fromEntries(Object.keys(ratingCounts).map((key) => [key, 0])),
      ...numbers(row["rating_sums"]),
    },
  }
}

function numbers(map: unknown): Record<string, number> {
  return Object.fromEntries(Object.entries(map as Record<string, unknown>).map(([key, value]) => [key, Number(value)]))
}
