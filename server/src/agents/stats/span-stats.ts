/** `/agents/spans/stats`: evaluation-store-calls 10. */
import { HeddleError, invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { formatValue } from "../../storage/traces/agents/span-measures.ts"
import { readHistogram } from "../../storage/traces/agents/span-histogram.ts"
import type { SpanQuery } from "../../storage/traces/agents/span-selection.ts"
import { rowCount, type StatColumn, statColumns } from "../../storage/traces/agents/span-stat-columns.ts"
import { readTimeStats, type TimeStatsRow } from "../../storage/traces/agents/span-time-stats.ts"
import { needsCosts, type SpanGroup, spanGroups, spanValue } from "../../storage/traces/agents/span-values.ts"
import { SqlParameters } from "../../storage/traces/query/sql-parameters.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import { bucketSeconds, bucketStarts, type TimeBuckets } from "../../storage/traces/time-buckets.ts"
import type { NumberBuckets, SpanStatsAnswer, SpanStatsBody } from "../../wire/agents/span-stats.ts"
import type { Cell, GroupFilter } from "../../wire/agents/span-values.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { range, bucketTime, checkAnswerSize, rangeAnswer, timeBuckets } from "../../objects/requests/stats-range.ts"
import { spanQuery, checkGroupFilters, reading, sameGroups, spanPrices } from "../agent-scope.ts"
import { checkAliases } from "../spans/span-rules.ts"

const longestRangeDays = 31
const dayMicroseconds = 86_400_000_000n
/** Limit on the rows of one answer: buckets times groups. */
const mostRows = 10_000

type Column = SpanStatsAnswer["columns"][number]

export async function spanStats(
  dependencies: CallDependencies,
  principal: Principal,
  body: SpanStatsBody,
): Promise<SpanStatsAnswer> {
  const bucketBy = body.bucket_by?.type === "number" ? body.bucket_by : null
  checkStats(body, bucketBy)
  const { start, end } = range(body)
  if (end - start > BigInt(longestRangeDays) * dayMicroseconds) {
    throw invalid(["body", "end"], `the range must not be longer than ${longestRangeDays} days`)
  }
  return reading(dependencies, principal, body.project_id, async (project) => {
    const prices = usesCosts(body, bucketBy) ? await spanPrices(dependencies, project) : null
    const query = spanQuery(project, body, { after: start, before: end }, prices)
    if (bucketBy !== null) return numberStats(dependencies.traces, query, body, bucketBy)
    return timeStats(dependencies.traces, query, body)
  })
}

function checkStats(body: SpanStatsBody, bucketBy: NumberBuckets | null): void {
  const { metrics, group_by, group_filters } = body
  if (!metrics?.length && bucketBy === null) throw invalid(["body", "metrics"], "at least one metric is required")
  checkAliases("metrics", metrics ?? [])
  checkGroupFilters(group_filters ?? [])
  if (group_filters?.length && group_by?.length) {
    throw invalid(["body", "group_filters"], "group_filters do not support group_by")
  }
  if (bucketBy !== null) checkNumberBuckets(body, bucketBy)
}

function checkNumberBuckets({ metrics, group_by, group_filters }: SpanStatsBody, bucketBy: NumberBuckets): void {
  const loc = ["body", "bucket_by"]
  const ofGroups = Boolean(bucketBy.group_by?.length)
  if (ofGroups !== (bucketBy.measure != null)) throw invalid(loc, "group_by and measure need each other")
  if (ofGroups === (bucketBy.value != null)) throw invalid(loc, "exactly one of value and measure must be set")
  if (bucketBy.min != null && bucketBy.max != null && bucketBy.max < bucketBy.min) {
    throw invalid([...loc, "max"], "max must not be less than min")
  }
  if (group_by?.length) throw invalid(["body", "group_by"], "numeric bucket stats do not support group_by")
  if (ofGroups && metrics?.length) {
    throw invalid(["body", "metrics"], "grouped numeric bucket stats do not support explicit metrics")
  }
  if (!ofGroups && group_filters?.length) {
    throw invalid(["body", "group_filters"], "group_filters need time buckets, or numeric buckets of groups")
  }
  const other = group_filters?.find((one) => one.group_by?.length && !sameGroups(one.group_by, bucketBy.group_by ?? []))
  if (other !== undefined) {
    throw new HeddleError("value_error", "numeric bucket group_filters must use the same group_by as the query")
  }
}

function usesCosts({ metrics, group_filters }: SpanStatsBody, bucketBy: NumberBuckets | null): boolean {
  const measures = [...(metrics ?? []), ...(group_filters ?? []).map(({ measure }) => measure)]
  const ofBuckets = [bucketBy?.value, bucketBy?.measure?.value]
  return [...measures.map(({ value }) => value), ...ofBuckets].some(needsCosts)
}

async function timeStats(traces: TraceStore, query: SpanQuery, body: SpanStatsBody): Promise<SpanStatsAnswer> {
  const seconds = bucketSeconds(query.after ?? 0n, query.before ?? 0n, body.granularity ?? null)
  const buckets = timeBuckets({ ...body, granularity: seconds })
  const starts = bucketStarts(buckets)
  const groups = spanGroups(body.group_by ?? [], new SqlParameters())
  const columns = metricColumns(body)
  checkAnswerSize(starts.length, columns.length)
  const allColumns = [timeColumn, ...groups.map(groupColumn), ...columns.map(metricColumn)]
  checkNames(allColumns)
  const rows = await readTimeStats(traces, query, {
    buckets,
    groupBy: body.group_by ?? [],
    groupLimit: Math.min(body.group_limit, Math.max(1, Math.floor(mostRows / starts.length))),
    filters: (body.group_filters ?? []).map(byConversation),
    columns: (parameters) => (body.metrics ?? []).flatMap((metric) => statColumns(metric, parameters)),
  })
  return {
    ...rangeAnswer(rangeOf(query, buckets), body.timezone),
    bucket_type: "time",
    columns: allColumns,
    rows: everyBucket(starts, rows, groups, columns),
  }
}

function rangeOf({ after, before }: SpanQuery, buckets: TimeBuckets): TimeBuckets {
  return { ...buckets, start: after ?? buckets.start, end: before ?? buckets.end }
}

/** Filters that do not say of which groups are about conversations. */
function byConversation(filter: GroupFilter): GroupFilter {
  if (filter.group_by?.length) return filter
  return { ...filter, group_by: [{ source: "field", key: "conversation_id" }] }
}

function metricColumns({ metrics }: SpanStatsBody): StatColumn[] {
  return (metrics ?? []).flatMap((metric) => statColumns(metric, new SqlParameters()))
}

const timeColumn: Column = { name: "timestamp", role: "time", value_type: "datetime", metric: null, aggregation: null }

function groupColumn({ alias, type }: SpanGroup): Column {
  return { name: alias, role: "group", value_type: type, metric: null, aggregation: null }
}

function metricColumn({ name, type, metric, aggregation }: StatColumn): Column {
  return { name, role: "metric", value_type: type, metric, aggregation }
}

function checkNames(columns: readonly Column[]): void {
  const names = columns.map(({ name }) => name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new HeddleError("value_error", `duplicate output column: "${repeated}"`)
}

/** Every bucket of every group that has spans in the range, the first bucket first. */
function everyBucket(
  starts: readonly number[],
  rows: readonly TimeStatsRow[],
  groups: readonly SpanGroup[],
  columns: readonly StatColumn[],
): Record<string, Cell>[] {
  const keysOf = (row: TimeStatsRow) => groups.map(({ type }, index) => formatValue(row[`g${index}`], type))
  const found = new Map(rows.map((row) => [JSON.stringify([Number(row["bucket"]), keysOf(row)]), row]))
  const texts = new Set(rows.map((row) => JSON.stringify(keysOf(row))))
  const keys = groups.length === 0 ? ["[]"] : [...texts].toSorted()
  checkAnswerSize(starts.length, columns.length, keys.length)
  return starts.flatMap((start) =>
    keys.map((text) => {
      const key = JSON.parse(text) as Cell[]
      const row = found.get(JSON.stringify([start, key]))
      return Object.fromEntries<Cell>([
        ["timestamp", bucketTime(start)],
        ...groups.map(({ alias }, index) => [alias, key[index] ?? null] as const),
        ...metricCells(row, columns),
      ])
    }),
  )
}

function metricCells(row: Readonly<Record<string, unknown>> | undefined, columns: readonly StatColumn[]) {
  return columns.map(({ name, type, empty }, index) => {
    const value = row === undefined ? null : formatValue(row[`m${index}`], type)
    return [name, value ?? empty] as const
  })
}

async function numberStats(
  traces: TraceStore,
  query: SpanQuery,
  body: SpanStatsBody,
  bucketBy: NumberBuckets,
): Promise<SpanStatsAnswer> {
  if (bucketBy.value != null) spanValue(bucketBy.value, new SqlParameters(), "number")
  const wanted = (parameters: SqlParameters) =>
    body.metrics?.length ? body.metrics.flatMap((metric) => statColumns(metric, parameters)) : [rowCount]
  const columns = wanted(new SqlParameters())
  checkAnswerSize(bucketBy.bins, columns.length)
  const allColumns = [...rangeColumns, ...columns.map(metricColumn)]
  checkNames(allColumns)
  const { bounds, rows } = await readHistogram(traces, query, bucketBy, body.group_filters ?? [], wanted)
  const buckets = timeBuckets(body)
  return {
    ...rangeAnswer(rangeOf(query, buckets), body.timezone),
    granularity: null,
    bucket_type: "number",
    columns: allColumns,
    rows: bounds === null ? [] : ranges(bounds, bucketBy.bins, rows, columns),
  }
}

const rangeColumns: Column[] = ["bucket_index", "bucket_min", "bucket_max"].map((name) => ({
  name,
  role: "bucket",
  value_type: "number",
  metric: null,
  aggregation: null,
}))

/** Ranges of equal width; the last one contains its end. One range where all values are the same. */
function ranges(
  { low, high }: { low: number; high: number },
  bins: number,
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly StatColumn[],
): Record<string, Cell>[] {
  const found = new Map(rows.map((row) => [Number(row["bucket"]), row]))
  const count = high > low ? bins : 1
  const width = (high - low) / bins
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries<Cell>([
      ["bucket_index", index],
      ["bucket_min", low + index * width],
      ["bucket_max", index === count - 1 ? high : low + (index + 1) * width],
      ...metricCells(found.get(index), columns),
    ]),
  )
}
