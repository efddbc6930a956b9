/** `/calls/stats`: evaluation-store-calls 4.2. */
import type { Principal } from "../../http/principal.ts"
import { readCallStats } from "../../storage/traces/calls/usage/call-stats.ts"
import { operationsIn } from "../../storage/traces/agents/span-operations.ts"
import { type CallsSelection, selectCalls } from "../../storage/traces/calls/calls-selection.ts"
import { type DatedReport, readUsageReports } from "../../storage/traces/calls/usage/usage-reports.ts"
import { checkPercentiles, type MetricRequest, metricValues, valueCount } from "../../storage/traces/metric-columns.ts"
import { bucketCount, bucketStarts, type TimeBuckets } from "../../storage/traces/time-buckets.ts"
import type { Aggregation, MetricBucket } from "../../wire/queries/metrics.ts"
import type { UsageRollup } from "../../wire/calls/usage.ts"
import {
  type CallStatsAnswer,
  type CallStatsBody,
  type CostMetric,
  type TokenMetric,
  tokenMetric,
  type UsageGroup,
} from "../../wire/calls/usage-stats.ts"
import type { CallDependencies } from "../dependencies.ts"
import { openPriceBook, type PriceBook } from "../costs/prices.ts"
import { type ProjectAccess, existingProject } from "../../access/project-access.ts"
import { bucketTime, checkAnswerSize, rangeAnswer, timeBuckets } from "../../objects/requests/stats-range.ts"
import { childrenFirst, type ModelUsage, ownUsage, reportedUsage } from "./own-usage.ts"
import { UsageTally } from "./usage-tally.ts"

interface UsageRequest {
  tokens: readonly MetricRequest<TokenMetric>[]
  /** Costs have a sum only. */
  costs: readonly CostMetric[]
  group: UsageGroup
  rollup: UsageRollup
}

export async function callStats(
  dependencies: CallDependencies,
  principal: Principal,
  body: CallStatsBody,
): Promise<CallStatsAnswer> {
  const project = await existingProject(dependencies.database, principal, body.project_id)
  const buckets = timeBuckets(body)
  const filter = body.filter ?? {}
  const calls = { projectId: project.id, projectName: project.name, filter, query: null }
  const selection = selectCalls({ ...calls, retentionDays: null, sortBy: [] })
  const requested = body.usage_metrics ?? []
  const tokens = requests(requested.flatMap((one) => (isToken(one.metric) ? [{ ...one, metric: one.metric }] : [])))
  for (const { percentiles } of tokens) checkPercentiles(percentiles)
  const costs = [...new Set(requested.flatMap(({ metric }) => (isToken(metric) ? [] : [metric])))]
  const usage = { tokens, costs, group: body.usage_group_by ?? "model", rollup: body.rollup ?? "once" }
  return {
    ...rangeAnswer(buckets, body.timezone),
    usage_buckets: requested.length === 0 ? [] : await usageBuckets(dependencies, project, selection, buckets, usage),
    call_buckets: body.call_metrics?.length
      ? await callBuckets(dependencies, selection, buckets, requests(body.call_metrics))
      : [],
  }
}

function isToken(metric: TokenMetric | CostMetric): metric is TokenMetric {
  return tokenMetric.safeParse(metric).success
}

interface MetricBody<Metric> {
  metric: Metric
  aggregations?: Aggregation[] | null | undefined
  percentiles?: number[] | null | undefined
}

/** A metric alone asks for its sum; an empty list with percentiles for those only. */
function requests<Metric extends string>(requested: readonly MetricBody<Metric>[]): MetricRequest<Metric>[] {
  return requested.map(({ metric, aggregations, percentiles }) => ({
    metric,
    aggregations: aggregations == null || (aggregations.length === 0 && !percentiles?.length) ? ["sum"] : aggregations,
    percentiles: percentiles ?? [],
  }))
}

async function callBuckets(
  { traces }: CallDependencies,
  selection: CallsSelection,
  buckets: TimeBuckets,
  metrics: Parameters<typeof readCallStats>[3],
): Promise<MetricBucket[]> {
  checkAnswerSize(bucketCount(buckets), valueCount(metrics))
  const { rows, columns } = await readCallStats(traces, selection, buckets, metrics)
  const byBucket = new Map(rows.map((row) => [row.bucket, row]))
  return bucketStarts(buckets).map((start) => {
    const row = byBucket.get(start)
    const values = row?.values ?? metricValues(columns, undefined)
    return { timestamp: bucketTime(start), ...values, count: row?.count ?? 0 }
  })
}

/** Every bucket for every model, op or user that has usage in the range; each call at the price that held when it began. */
async function usageBuckets(
  dependencies: CallDependencies,
  project: ProjectAccess,
  selection: CallsSelection,
  buckets: TimeBuckets,
  requested: UsageRequest,
): Promise<MetricBucket[]> {
  const columns = requested.costs.length + valueCount(requested.tokens)
  checkAnswerSize(bucketCount(buckets), columns)
  const tallies = await tallyUsage(dependencies, project, selection, buckets, requested)
  checkAnswerSize(bucketCount(buckets), columns, tallies.size)
  const names = [...tallies.keys()].toSorted()
  const empty = new UsageTally(requested.tokens)
  return bucketStarts(buckets).flatMap((bucket) =>
    names.map((name) => {
      const tally = tallies.get(name)?.get(bucket) ?? empty
      const costs = requested.costs.map((metric) => [`sum_${metric}`, tally.costs[metric]] as const)
      return {
        timestamp: bucketTime(bucket),
        [requested.group]: name,
        ...tally.values(),
        ...(Object.fromEntries(costs) as Record<string, number>),
        count: tally.calls,
      }
    }),
  )
}

/** By model, op or user, and bucket. */
async function tallyUsage(
  dependencies: CallDependencies,
  project: ProjectAccess,
  selection: CallsSelection,
  buckets: TimeBuckets,
  { tokens, costs, group, rollup }: UsageRequest,
): Promise<Map<string, Map<number, UsageTally>>> {
  const tallies = new Map<string, Map<number, UsageTally>>()
  const pricesOf = priceReader(dependencies, project)
  for await (const reports of readUsageReports(
    dependencies.traces,
    selection,
    buckets,
    group === "model" ? null : group,
  )) {
    const reported = reportedUsage(reports)
    const counted =
      rollup === "sum"
        ? reported
        : ownUsage(reports, reported, await operationsIn(dependencies.traces, project.id, reports))
    const prices = costs.length === 0 ? null : await pricesOf(counted.values())
    const outermost = group === "trace_op" ? outermostOf(reports) : null
    for (const report of reports) {
      const { id, bucket, started_at } = report
      for (const [model, usage] of counted.get(id) ?? []) {
        const name = group === "model" ? model : (outermost?.get(id) ?? report).fact
        const ofName = tallies.get(name) ?? new Map<number, UsageTally>()
        tallies.set(name, ofName)
        const tally = ofName.get(bucket) ?? new UsageTally(tokens)
        ofName.set(bucket, tally)
        tally.add(usage, prices?.find(model, started_at) ?? null)
      }
    }
  }
  return tallies
}

/** Reads the prices of all models so far, anew only for one that was not among them. */
function priceReader(dependencies: CallDependencies, project: ProjectAccess) {
  const models = new Set<string>()
  let book: Promise<PriceBook> | null = null
  return (usages: Iterable<ModelUsage>): Promise<PriceBook> => {
    const before = models.size
    for (const usage of usages) for (const model of usage.keys()) models.add(model)
    if (book === null || models.size > before) book = openPriceBook(dependencies, project, models)
    return book
  }
}

/** By call, the outermost one around it among these. */
function outermostOf(reports: readonly DatedReport[]): Map<string, DatedReport> {
  const outermost = new Map<string, DatedReport>()
  for (const { call, parent } of [...childrenFirst(reports)].toReversed()) {
    outermost.set(call.id, (parent === null ? undefined : outermost.get(parent)) ?? call)
  }
  return outermost
}
