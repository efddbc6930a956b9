/** The tokens of captured Responses and Messages (art-0.5.23 4.2, 6, 7). */
import { ExchangeFault, type FaultPath } from "./exchange-fault.ts"
import {
  agreed,
  idsAt,
  logprobsAt,
  type Loose,
  objectsAt,
  requireKnownMode,
  requireOneEach,
  spelledIds,
  type Tokens,
} from "./token-evidence.ts"

const nothing: Tokens = { prompt_token_ids: null, token_ids: null, logprobs: null }

/** A sampling run for each entry of `token_generations`. */
export function responsesTokens(response: Loose): Tokens[] {
  const path = ["response", "token_generations"]
  const generations = objectsAt(response["token_generations"], path)
  if (generations === null) return [nothing]
  if (generations.length === 0) throw new ExchangeFault(path, "an empty list; leave it out where ids are not known")
  requireKnownMode(response, ["response"])
  const tokens = generations.map((generation, index) => generationTokens(generation, [...path, index]))
  requireAllItems(generations, objectsAt(response["output"], ["response", "output"]) ?? [], path)
  return tokens
}

function generationTokens(generation: Loose, path: FaultPath): Tokens {
  requireKnownMode(generation, path)
  const prompt = idsAt(generation["prompt_token_ids"], [...path, "prompt_token_ids"])
  if (prompt === null) {
    throw new ExchangeFault([...path, "prompt_token_ids"], "expected the ids of the whole prompt, at least one")
  }
  const outputs = objectsAt(generation["output_tokens"], [...path, "output_tokens"])
  const outputIds = outputs?.map((output, index) => idOf(output, [...path, "output_tokens", index])) ?? null
  const ids = agreed(idsAt(generation["token_ids"], [...path, "token_ids"]), emptyIsNone(outputIds), path)
  const logprobs =
    logprobsAt(generation["compact_logprobs"], [...path, "compact_logprobs"]) ??
    logprobsAt(
      outputs?.map((output) => output["logprob"] ?? null),
      [...path, "output_tokens"],
    )
  requireOneEach(ids, logprobs, path)
  return { prompt_token_ids: prompt, token_ids: ids, logprobs }
}

function idOf(output: Loose, path: FaultPath): number {
  const given = output["token_id"] ?? spelledIds([output["token"]])?.[0]
  const [id] = idsAt([given], path) ?? []
  if (id === undefined) throw new ExchangeFault(path, "expected a token_id")
  return id
}

function emptyIsNone(ids: number[] | null): number[] | null {
  return ids === null || ids.length === 0 ? null : ids
}

/** The runs name the items they made: in order, none twice, and all that were sampled. Tools' own outputs were not. */
function requireAllItems(generations: Loose[], items: Loose[], path: FaultPath): void {
  let last = -1
  const made = new Set<number>()
  for (const [index, generation] of generations.entries()) {
    const at = [...path, index, "output_indices"]
    const indices = generation["output_indices"]
    if (!Array.isArray(indices)) throw new ExchangeFault(at, "expected the indices of the output items it made")
    for (const item of indices as unknown[]) {
      if (typeof item !== "number" || !Number.isInteger(item) || item <= last || item >= items.length) {
        throw new ExchangeFault(at, `expected ascending indices of the ${items.length} output items, each once`)
      }
      last = item
      made.add(item)
    }
  }
  const missed = items.findIndex((item, index) => !made.has(index) && !String(item["type"]).endsWith("_output"))
  if (missed === -1) return
  throw new ExchangeFault(path, `no generation made the output item ${missed}; expected one for each that was sampled`)
}

/** One sampling run; the lists stand at the root. */
export function messageTokens(response: Loose): Tokens {
  requireKnownMode(response, ["response"])
  const at = (key: string) => ["response", key]
  const ids = idsAt(response["token_ids"], at("token_ids"))
  const logprobs =
    logprobsAt(response["compact_logprobs"], at("compact_logprobs")) ?? logprobsAt(response["logprobs"], at("logprobs"))
  requireOneEach(ids, logprobs, ["response"])
  return { prompt_token_ids: idsAt(response["prompt_token_ids"], at("prompt_token_ids")), token_ids: ids, logprobs }
}
