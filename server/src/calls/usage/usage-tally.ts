/** Aggregations of token counts per time bucket and model: evaluation-store-calls 4.2. */
import type { MetricRequest } from "../../storage/traces/metric-columns.ts"
import type { Aggregation } from "../../wire/queries/metrics.ts"
import type { CostMetric, TokenMetric } from "../../wire/calls/usage-stats.ts"
import { totalCosts, type TokenPrice } from "../costs/prices.ts"
import type { TokenUsage } from "./token-usage.ts"

export type Costs = Record<CostMetric, number>

const tokenCounts: Record<TokenMetric, (usage: TokenUsage) => number> = {
  input_tokens: (usage) => usage.prompt_tokens,
  output_tokens: (usage) => usage.completion_tokens,
  total_tokens: (usage) => usage.total_tokens,
  cache_read_input_tokens: (usage) => usage.cache_read_input_tokens,
  cache_creation_input_tokens: (usage) => usage.cache_creation_input_tokens,
}

/** Usage of one model in one bucket. */
export class UsageTally {
  readonly #counts: TokenUsage[] = []
  readonly #costs: Costs = { input_cost: 0, output_cost: 0, total_cost: 0 }

  add(usage: TokenUsage, price: TokenPrice | null): void {
    this.#counts.push(usage)
    if (price === null) return
    const cost = totalCosts(usage, price)
    const cached = cost.cache_read_input_tokens_total_cost + cost.cache_creation_input_tokens_total_cost
    this.#costs.input_cost += cost.prompt_tokens_total_cost
    this.#costs.output_cost += cost.completion_tokens_total_cost
    this.#costs.total_cost += cost.prompt_tokens_total_cost + cost.completion_tokens_total_cost + cached
  }

  get calls(): number {
    return this.#counts.length
  }

  get costs(): Readonly<Costs> {
    return this.#costs
  }

  /** `<aggregation>_<metric>` and `p<percentile>_<metric>` → value. */
  values(metrics: readonly MetricRequest<TokenMetric>[]): Record<string, number | null> {
    return Object.fromEntries(
      metrics.flatMap(({ metric, aggregations, percentiles }) => {
        const numbers = this.#counts.map(tokenCounts[metric])
        const sorted = percentiles.length === 0 ? [] : numbers.toSorted((a, b) => a - b)
        return [
          ...aggregations.map((name) => [`${name}_${metric}`, aggregates[name](numbers)] as const),
          ...percentiles.map((percent) => [`p${percent}_${metric}`, percentile(sorted, percent)] as const),
        ]
      }),
    )
  }
}

/** Aggregates of no values: minimum and maximum are null, everything else is 0. */
const aggregates: Record<Aggregation, (numbers: readonly number[]) => number | null> = {
  sum,
  avg: (numbers) => (numbers.length === 0 ? 0 : sum(numbers) / numbers.length),
  min: (numbers) => numbers.reduce<number | null>((least, one) => (least === null || one < least ? one : least), null),
  max: (numbers) => numbers.reduce<number | null>((most, one) => (most === null || one > most ? one : most), null),
  count: (numbers) => numbers.length,
  count_true: (numbers) => numbers.filter((one) => one === 1).length,
  count_false: (numbers) => numbers.filter((one) => one === 0).length,
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

/** Between two numbers in proportion, as ClickHouse's `quantileExactInclusive` does for the other statistics. */
function percentile(sorted: readonly number[], percent: number): number | null {
  if (sorted.length === 0) return null
  const place = (percent / 100) * (sorted.length - 1)
  const before = Math.floor(place)
  const low = sorted[before] as number
  return low + (place - before) * ((sorted[before + 1] ?? low) - low)
}
