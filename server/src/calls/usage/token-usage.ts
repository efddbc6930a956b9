/** The usage that calls report in `summary.usage`: evaluation-store-calls 2.1 and 4.1. */
import { memberText } from "../../json/json-members.ts"

export interface TokenUsage {
  requests: number
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  cache_read_input_tokens: number
  cache_creation_input_tokens: number
}

/**
 * By model. The two spellings of a count are added, what is no whole number counts 0, and a total that
 * was not given is the sum. Models with nothing but zeros are left out.
 */
export function usageByModel(usage: unknown): Map<string, TokenUsage> {
  const models = new Map<string, TokenUsage>()
  if (typeof usage !== "object" || usage === null || Array.isArray(usage)) return models
  for (const [model, counts] of Object.entries(usage as Record<string, unknown>)) {
    if (typeof counts !== "object" || counts === null || Array.isArray(counts)) continue
    const normal = normalUsage(counts as Record<string, unknown>)
    if (Object.values(normal).some((count) => count !== 0)) models.set(model, normal)
  }
  return models
}

/** As {@link usageByModel}; `summary` is the JSON text of a call's. */
export function reportedUsage({ summary }: { summary?: string | null }): Map<string, TokenUsage> {
  return usageByModel(JSON.parse(memberText(summary ?? "{}", "usage") ?? "null"))
}

function normalUsage(counts: Record<string, unknown>): TokenUsage {
  const of = (name: string) => wholeNumber(counts[name])
  const prompt_tokens = of("prompt_tokens") + of("input_tokens")
  const completion_tokens = of("completion_tokens") + of("output_tokens")
  return {
    requests: of("requests"),
    prompt_tokens,
    completion_tokens,
    total_tokens: of("total_tokens") || prompt_tokens + completion_tokens,
    cache_read_input_tokens: of("cache_read_input_tokens"),
    cache_creation_input_tokens: of("cache_creation_input_tokens"),
  }
}

/** As Python's `int()` reads it: fractions are cut, text of digits is a number. */
function wholeNumber(value: unknown): number {
  if (typeof value === "boolean") return Number(value)
  if (typeof value === "string") return /^\s*[-+]?\d+\s*$/.test(value) ? Number(value) : 0
  return typeof value === "number" && Number.isFinite(value) ? Math.trunc(value) : 0
}
