/** The tokens of captured chat completions and completions, a sampling run for each choice (art-0.5.23 4.2). */
import { isJsonObject } from "../../../json/parsed-json.ts"
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

export type ChoiceTokens = Tokens & { finish_reason: unknown }

/** Token fields of a choice beside `token_ids`. */
interface Logprobs {
  /** Spellings of the tokens. */
  tokens: unknown[] | null
  values: (number | null)[] | null
}

export function chatTokens(_request: Loose, response: Loose): ChoiceTokens[] {
  return choicesOf(response, (choice, path) => {
    const { tokens, values } = chatLogprobs(choice, path)
    const ids = agreed(idsAt(choice["token_ids"], [...path, "token_ids"]), spelledIds(tokens), path)
    return { prompt: promptOf(choice, response, path), ids, values }
  })
}

export function completionTokens(request: Loose, response: Loose): ChoiceTokens[] {
  const { suffix } = request
  if (typeof suffix === "string" && suffix !== "") {
    throw new ExchangeFault(["request", "suffix"], "completions with a suffix cannot be trained; leave it out")
  }
  const prompts = promptLists(response)
  return choicesOf(response, (choice, path, index, count) => {
    const prompt =
      prompts === null ? promptOf(choice, response, path) : promptAmong(prompts, choice, path, index, count)
    const { tokens, values } = completionLogprobs(choice, path)
    const given = idsAt(choice["token_ids"], [...path, "token_ids"])
    const spelled = spelledIds(tokens)
    if (request["echo"] !== true || prompt === null) return { prompt, ids: agreed(given, spelled, path), values }
    const ids = agreed(without(prompt, given), without(prompt, spelled), path)
    const echoed = values !== null && ids !== null && values.length === prompt.length + ids.length
    return { prompt, ids, values: echoed ? values.slice(prompt.length) : values }
  })
}

interface Read {
  prompt: number[] | null
  ids: number[] | null
  values: (number | null)[] | null
}

type ReadChoice = (choice: Loose, path: FaultPath, index: number, count: number) => Read

function choicesOf(response: Loose, read: ReadChoice): ChoiceTokens[] {
  const choices = objectsAt(response["choices"], ["response", "choices"])
  if (choices === null) throw new ExchangeFault(["response", "choices"], "Field required")
  requireKnownMode(response, ["response"])
  return choices.map((choice, index) => {
    const path = ["response", "choices", index]
    requireKnownMode(choice, path)
    const { prompt, ids, values } = read(choice, path, index, choices.length)
    requireOneEach(ids, values, path)
    return { prompt_token_ids: prompt, token_ids: ids, logprobs: values, finish_reason: choice["finish_reason"] }
  })
}

function promptOf(choice: Loose, response: Loose, path: FaultPath): number[] | null {
  return (
    idsAt(choice["prompt_token_ids"], [...path, "prompt_token_ids"]) ??
    idsAt(response["prompt_token_ids"], ["response", "prompt_token_ids"])
  )
}

/** One list for each of several prompts; null: the answer is to one prompt. */
function promptLists(response: Loose): unknown[][] | null {
  const given = response["prompt_token_ids"]
  if (!Array.isArray(given) || given.length === 0) return null
  return given.every((entry): entry is unknown[] => Array.isArray(entry)) ? given : null
}

function promptAmong(
  prompts: unknown[][],
  choice: Loose,
  path: FaultPath,
  index: number,
  count: number,
): number[] | null {
  const own = idsAt(choice["prompt_token_ids"], [...path, "prompt_token_ids"])
  if (own !== null) return own
  const place = choice["prompt_index"] ?? Math.floor(index / (count / prompts.length))
  if (typeof place === "number" && prompts[place] !== undefined)
    return idsAt(prompts[place], ["response", "prompt_token_ids", place])
  throw new ExchangeFault(
    [...path, "prompt_index"],
    `there are ${prompts.length} prompts; expected one of their indices`,
  )
}

function chatLogprobs(choice: Loose, path: FaultPath): Logprobs {
  const given = isJsonObject(choice["logprobs"]) ? choice["logprobs"] : {}
  const lists = ["content", "refusal"].map((part) => objectsAt(given[part], [...path, "logprobs", part]))
  const entries = lists.every((list) => list === null) ? null : lists.flatMap((list) => list ?? [])
  return {
    tokens: entries?.map((entry) => entry["token"]) ?? null,
    values:
      compact(choice, path) ??
      logprobsAt(
        entries?.map((entry) => entry["logprob"] ?? null),
        [...path, "logprobs", "content"],
      ),
  }
}

function completionLogprobs(choice: Loose, path: FaultPath): Logprobs {
  const given = isJsonObject(choice["logprobs"]) ? choice["logprobs"] : {}
  const values = logprobsAt(given["token_logprobs"], [...path, "logprobs", "token_logprobs"])
  return {
    tokens: Array.isArray(given["tokens"]) ? (given["tokens"] as unknown[]) : null,
    values: compact(choice, path) ?? values,
  }
}

function compact(choice: Loose, path: FaultPath): (number | null)[] | null {
  return logprobsAt(choice["compact_logprobs"], [...path, "compact_logprobs"])
}

/** An answer with `echo` repeats its prompt. */
function without(prompt: number[], ids: number[] | null): number[] | null {
  if (ids === null || ids.length <= prompt.length) return ids
  return prompt.every((id, place) => ids[place] === id) ? ids.slice(prompt.length) : ids
}
