/** The usage ledger, summed over its buckets. */
import type { UsagePage } from "@heddle/server/wire/inference/usage.ts"

export interface UsageFigures {
  requests: number
  input: number
  /** A part of the input. */
  cached: number
  output: number
}

export type UsageField = "model" | "user_id" | "api_key_id" | "project_id"

export interface UsageRow extends UsageFigures {
  /** The value of the field that the ledger was grouped by. */
  name: string
  /** Share of all tokens, from 0 to 1. */
  share: number
}

type Result = UsagePage["data"][number]["results"][number]

const nothing: UsageFigures = { requests: 0, input: 0, cached: 0, output: 0 }

function add(sum: UsageFigures, result: Result): UsageFigures {
  return {
    requests: sum.requests + result.num_model_requests,
    input: sum.input + result.input_tokens,
    cached: sum.cached + result.input_cached_tokens,
    output: sum.output + result.output_tokens,
  }
}

export function usageTotals({ data }: UsagePage): UsageFigures {
  return data.flatMap(({ results }) => results).reduce(add, nothing)
}

/** The most tokens first. */
export function usageRows(page: UsagePage, field: UsageField): UsageRow[] {
  const sums = new Map<string, UsageFigures>()
  for (const result of page.data.flatMap(({ results }) => results)) {
    const name = result[field] ?? ""
    sums.set(name, add(sums.get(name) ?? nothing, result))
  }
  const all = tokensOf(usageTotals(page))
  return [...sums]
    .map(([name, figures]) => ({ name, ...figures, share: all === 0 ? 0 : tokensOf(figures) / all }))
    .toSorted((a, b) => tokensOf(b) - tokensOf(a))
}

/** Tokens of each bucket; x in milliseconds. */
export function tokensOverTime({ data }: UsagePage): { x: number[]; y: number[] } {
  return {
    x: data.map(({ start_time }) => start_time * 1000),
    y: data.map(({ results }) => tokensOf(results.reduce(add, nothing))),
  }
}

function tokensOf({ input, output }: UsageFigures): number {
  return input + output
}
