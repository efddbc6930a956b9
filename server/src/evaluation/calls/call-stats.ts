/** `/calls/stats`: evaluation-store-calls 4.2. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import {
  type MetricRequest,
  readCallStats,
  readTokenSums,
  readUsageStats,
  type TokenMetric,
  type TokenSums,
} from "../../storage/traces/calls/call-stats.ts"
import { type CallsSelection, selectCalls } from "../../storage/traces/calls/calls-selection.ts"
import { metricValues } from "../../storage/traces/metric-columns.ts"
import { throwQueryFailure } from "../../storage/traces/query-failure.ts"
import { bucketStarts, type TimeBuckets } from "../../storage/traces/time-buckets.ts"
import type { Aggregation, MetricBucket } from "../../wire/evaluation/metrics.ts"
import {
  type CallStatsAnswer,
  type CallStatsBody,
  type costMetric,
  tokenMetric,
} from "../../wire/evaluation/usage-stats.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { openPriceBook, totalCosts } from "../costs/prices.ts"
import { type ProjectAccess, projectForRead } from "../project-access.ts"
import { shownBucket, shownRange, timeBuckets } from "../requests/stats-range.ts"

type CostMetric = z.infer<typeof costMetric>

export async function callStats(
  dependencies: EvaluationDependencies,
  principal: Principal,
  body: CallStatsBody,
): Promise<CallStatsAnswer> {
  const project = await projectForRead(dependencies.database, principal, body.project_id)
  const buckets = timeBuckets(body)
  const filter = body.filter ?? {}
  const selection = selectCalls({ projectId: project.id, projectName: project.name, filter, query: null, sortBy: [] })
  const asked = body.usage_metrics ?? []
  const tokens = requests(asked.flatMap((one) => (isToken(one.metric) ? [{ ...one, metric: one.metric }] : [])))
  const costs = [...new Set(asked.flatMap(({ metric }) => (isToken(metric) ? [] : [metric])))]
  return {
    ...shownRange(buckets, body.timezone),
    usage_buckets:
      asked.length === 0 ? [] : await usageBuckets(dependencies, project, selection, buckets, tokens, costs),
    call_buckets: body.call_metrics?.length
      ? await callBuckets(dependencies, selection, buckets, requests(body.call_metrics))
      : [],
  }
}

function isToken(metric: TokenMetric | CostMetric): metric is TokenMetric {
  return tokenMetric.safeParse(metric).success
}

interface Asked<Metric> {
  metric: Metric
  aggregations?: Aggregation[] | null | undefined
  percentiles?: number[] | null | undefined
}

/** A metric alone asks for its sum; an empty list with percentiles for those only. */
function requests<Metric extends string>(asked: readonly Asked<Metric>[]): MetricRequest<Metric>[] {
  return asked.map(({ metric, aggregations, percentiles }) => ({
    metric,
    aggregations: aggregations == null || (aggregations.length === 0 && !percentiles?.length) ? ["sum"] : aggregations,
    percentiles: percentiles ?? [],
  }))
}

async function callBuckets(
  { traces }: EvaluationDependencies,
  selection: CallsSelection,
  buckets: TimeBuckets,
  metrics: Parameters<typeof readCallStats>[3],
): Promise<MetricBucket[]> {
  const { rows, columns } = await readCallStats(traces, selection, buckets, metrics).catch(throwQueryFailure)
  const byBucket = new Map(rows.map((row) => [row.bucket, row]))
  return bucketStarts(buckets).map((start) => {
    const row = byBucket.get(start)
    const values = row?.values ?? metricValues(columns, undefined)
    return { timestamp: shownBucket(start), ...values, count: row?.count ?? 0 }
  })
}

/** Every bucket for every model that has usage in the range. */
async function usageBuckets(
  dependencies: EvaluationDependencies,
  project: ProjectAccess,
  selection: CallsSelection,
  buckets: TimeBuckets,
  metrics: readonly MetricRequest<TokenMetric>[],
  costs: readonly CostMetric[],
): Promise<MetricBucket[]> {
  const { rows, columns } = await readUsageStats(dependencies.traces, selection, buckets, metrics).catch(
    throwQueryFailure,
  )
  const models = [...new Set(rows.map((row) => row.model))].toSorted()
  const spent = costs.length === 0 ? null : await costSums(dependencies, project, selection, buckets, models)
  const byBucket = new Map(rows.map((row) => [keyOf(row), row]))
  return bucketStarts(buckets).flatMap((bucket) =>
    models.map((model) => {
      const row = byBucket.get(keyOf({ bucket, model }))
      const values = row?.values ?? metricValues(columns, undefined)
      const sums = costs.map((metric) => [`sum_${metric}`, spent?.get(keyOf({ bucket, model }))?.[metric] ?? 0])
      return {
        timestamp: shownBucket(bucket),
        model,
        ...values,
        ...(Object.fromEntries(sums) as Record<string, number>),
        count: row?.count ?? 0,
      }
    }),
  )
}

function keyOf({ bucket, model }: { bucket: number; model: string }): string {
  return `${bucket} ${model}`
}

/** Each call at the price that held when it began. */
async function costSums(
  dependencies: EvaluationDependencies,
  project: ProjectAccess,
  selection: CallsSelection,
  buckets: TimeBuckets,
  models: readonly string[],
): Promise<Map<string, Record<CostMetric, number>>> {
  const prices = await openPriceBook(dependencies, project, models).catch(throwQueryFailure)
  const sums = await readTokenSums(dependencies.traces, selection, buckets, prices.changes).catch(throwQueryFailure)
  const costs = new Map<string, Record<CostMetric, number>>()
  for (const sum of sums) {
    const price = prices.find(sum.model, sum.started_at)
    if (price === null) continue
    const cost = totalCosts(usageOf(sum), price)
    const before = costs.get(keyOf(sum)) ?? { input_cost: 0, output_cost: 0, total_cost: 0 }
    const [input, output] = [cost.prompt_tokens_total_cost, cost.completion_tokens_total_cost]
    const cached = cost.cache_read_input_tokens_total_cost + cost.cache_creation_input_tokens_total_cost
    costs.set(keyOf(sum), {
      input_cost: before.input_cost + input,
      output_cost: before.output_cost + output,
      total_cost: before.total_cost + input + output + cached,
    })
  }
  return costs
}

function usageOf(sums: TokenSums) {
  return {
    requests: 0,
    prompt_tokens: sums.input_tokens,
    completion_tokens: sums.output_tokens,
    total_tokens: sums.input_tokens + sums.output_tokens,
    cache_read_input_tokens: sums.cache_read_input_tokens,
    cache_creation_input_tokens: sums.cache_creation_input_tokens,
  }
}
