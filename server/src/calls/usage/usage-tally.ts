/** Aggregations of token counts per time bucket and model, op or user: evaluation-store-calls 4.2. */
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

/** Usage of one model, op or user in one bucket. It keeps what is asked for of the calls, which may be millions, and not the calls. */
export class UsageTally {
  readonly #tokens: readonly TokenTally[]
  readonly #costs: Costs = { input_cost: 0, output_cost: 0, total_cost: 0, unpriced_calls: 0 }
  #calls = 0

  constructor(metrics: readonly MetricRequest<TokenMetric>[]) {
    this.#tokens = metrics.map((metric) => new TokenTally(metric))
  }

  add(usage: TokenUsage, price: TokenPrice | null): void {
    this.#calls += 1
    for (const tally of this.#tokens) tally.add(usage)
    if (price === null) {
      this.#costs.unpriced_calls += 1
      return
    }
    const cost = totalCosts(usage, price)
    const cached = cost.cache_read_input_tokens_total_cost + cost.cache_creation_input_tokens_total_cost
    this.#costs.input_cost += cost.prompt_tokens_total_cost
    this.#costs.output_cost += cost.completion_tokens_total_cost
    this.#costs.total_cost += cost.prompt_tokens_total_cost + cost.completion_tokens_total_cost + cached
  }

  get calls(): number {
    return this.#calls
  }

  get costs(): Readonly<Costs> {
    return this.#costs
  }

  /** `<aggregation>_<metric>` and `p<percentile>_<metric>` → value. */
  values(): Record<string, number | null> {
    return Object.fromEntries(this.#tokens.flatMap((tally) => tally.values()))
  }
}

/** One count of the calls. */
class TokenTally {
  readonly #request: MetricRequest<TokenMetric>
  /** Only percentiles need every number. */
  readonly #numbers: number[] = []
  #count = 0
  #sum = 0
  #least: number | null = null
  #most: number | null = null
  #ones = 0
  #zeros = 0

  constructor(request: MetricRequest<TokenMetric>) {
    this.#request = request
  }

  add(usage: TokenUsage): void {
    const number = tokenCounts[this.#request.metric](usage)
    this.#count += 1
    this.#sum += number
    this.#least = Math.min(this.#least ?? number, number)
    this.#most = Math.max(this.#most ?? number, number)
    if (number === 1) this.#ones += 1
    if (number === 0) this.#zeros += 1
    if (this.#request.percentiles.length > 0) this.#numbers.push(number)
  }

  values(): [name: string, value: number | null][] {
    const { metric, aggregations, percentiles } = this.#request
    // Of no values minimum and maximum are null, everything else is 0.
    const aggregates: Record<Aggregation, number | null> = {
      sum: this.#sum,
      avg: this.#count === 0 ? 0 : this.#sum / this.#count,
      min: this.#least,
      max: this.#most,
      count: this.#count,
      count_true: this.#ones,
      count_false: this.#zeros,
    }
    const sorted = this.#numbers.toSorted((a, b) => a - b)
    return [
      ...aggregations.map((name): [string, number | null] => [`${name}_${metric}`, aggregates[name]]),
      ...percentiles.map((percent): [string, number | null] => [`p${percent}_${metric}`, percentile(sorted, percent)]),
    ]
  }
}

/** Between two numbers in proportion, as ClickHouse's `quantileExactInclusive` does for the other statistics. */
function percentile(sorted: readonly number[], percent: number): number | null {
  if (sorted.length === 0) return null
  const place = (percent / 100) * (sorted.length - 1)
  const before = Math.floor(place)
  const low = sorted[before] as number
  return low + (place - before) * ((sorted[before + 1] ?? low) - low)
}
