/**
 * Which price holds for a call, and what its tokens cost: evaluation-store-calls 3.2 and 4.3. Costs are worked out when they
 * are asked for, so that a price may come after the calls that it is for.
 */
import { microsecondsOf } from "../../storage/traces/query/sql-time.ts"
import { findTokenPrices, type TokenPriceRow } from "../../storage/traces/token-prices.ts"
import type { CallDependencies } from "../dependencies.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { withoutVersion } from "../../storage/traces/model-versions.ts"
import type { TokenUsage } from "../usage/token-usage.ts"

export interface TokenPrice extends TokenPriceRow {
  pricing_level: "project" | "default"
  /** `entity/project`, or `default`. */
  pricing_level_id: string
}

export interface PriceBook {
  /**
   * The project's own before the default, of those the latest that was in effect. A version of a model without a price of its
   * own has that of the model. null: no price. `startedAt` is ISO 8601, UTC.
   */
  find: (model: string, startedAt: string) => TokenPrice | null
  /** When a price of any of the models begins to hold: microseconds since 1970. */
  changes: readonly bigint[]
}

/** The prices of these models, and of those that they are versions of, in one read. */
export async function openPriceBook(
  { traces, priceList }: Pick<CallDependencies, "traces" | "priceList">,
  project: Pick<ProjectAccess, "id" | "name">,
  models: Iterable<string>,
): Promise<PriceBook> {
  const names = [...new Set([...models].flatMap((model) => [model, withoutVersion(model)]))]
  const own = names.length === 0 ? [] : await findTokenPrices(traces, project.id, names)
  const listed = names.flatMap((name) => [...(priceList.get(name) ?? [])])
  return priceBook(project.name, own, listed)
}

/** `own`: prices of the project `projectName`. */
export function priceBook(
  projectName: string,
  own: readonly TokenPriceRow[],
  defaults: readonly TokenPriceRow[],
): PriceBook {
  const levels = [
    newestFirst(own, { pricing_level: "project", pricing_level_id: projectName }),
    newestFirst(defaults, { pricing_level: "default", pricing_level_id: "default" }),
  ]
  const ofName = (model: string, moment: string) => {
    for (const byModel of levels) {
      const held = byModel.get(model)?.find(({ from }) => from <= moment)
      if (held !== undefined) return held.price
    }
    return null
  }
  const find = (model: string, startedAt: string) => {
    const moment = toMicroseconds(startedAt)
    return ofName(model, moment) ?? ofName(withoutVersion(model), moment)
  }
  const dates = new Set([...own, ...defaults].map((row) => row.effective_date))
  return { find, changes: [...dates].flatMap((date) => microsecondsOf(date) ?? []) }
}

/** By model, the latest price first; of two that start on the same date, the later created one. `from`: when it starts. */
function newestFirst(rows: readonly TokenPriceRow[], level: Pick<TokenPrice, "pricing_level" | "pricing_level_id">) {
  const prices = rows.map((row) => ({
    from: toMicroseconds(row.effective_date),
    order: `${toMicroseconds(row.effective_date)} ${toMicroseconds(row.created_at)} ${row.id}`,
    price: { ...row, ...level },
  }))
  return Map.groupBy(
    prices.toSorted((one, other) => (one.order < other.order ? 1 : -1)),
    ({ price }) => price.llm_id,
  )
}

/** `2026-01-02T03:04:05.12Z` → a text that sorts by time. */
function toMicroseconds(iso: string): string {
  const [seconds = "", fraction = ""] = iso.replace(" ", "T").replace("Z", "").split(".")
  return `${seconds}.${fraction.padEnd(6, "0")}`
}

/** The four costs of a usage. Tokens from the cache are billed at their own rate and not as prompt tokens too. */
export function totalCosts(usage: TokenUsage, price: TokenPrice) {
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage
  // Some providers count cached tokens into the prompt, some beside it; a cost is never negative.
  const uncached = Math.max(0, usage.prompt_tokens - read - written)
  return {
    prompt_tokens_total_cost: uncached * price.prompt_token_cost,
    completion_tokens_total_cost: usage.completion_tokens * price.completion_token_cost,
    cache_read_input_tokens_total_cost: read * price.cache_read_input_token_cost,
    cache_creation_input_tokens_total_cost: written * price.cache_creation_input_token_cost,
  }
}

/** One entry of `summary.weave.costs`. */
export function costEntry(usage: TokenUsage, price: TokenPrice): Record<string, unknown> {
  const { id: _id, llm_id: _model, ...rest } = price
  return { ...usage, ...rest, ...totalCosts(usage, price) }
}
