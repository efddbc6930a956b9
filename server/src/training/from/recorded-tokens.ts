/** The exact tokens of a recorded answer: those that it holds, or where the ledger has them. */
import { isJsonObject } from "../../json/parsed-json.ts"
import { chatTokens } from "../trajectories/captured/choice-tokens.ts"
import { ExchangeFault } from "../trajectories/captured/exchange-fault.ts"
import { messageTokens, responsesTokens } from "../trajectories/captured/response-tokens.ts"
import type { Tokens } from "../trajectories/captured/token-evidence.ts"
import type { Recorded } from "./shapes/chat.ts"
import type { Loose } from "./shapes/loose.ts"

interface OwnTokens {
  prompt: number
  completion: number
  /** The members of a choice of the engine. */
  json: string
  /** Tokens of the longest sequence, where there are several. */
  longest?: number
}

export interface RecordedTokens {
  finishReason: string
  /** Which model answered, by the name that its client used; null: it is not said. */
  model: string | null
  /** null: the answer has no id that the ledger could know. */
  ledgerKey: string | null
  /** null: the answer does not hold them all. */
  own: OwnTokens | null
}

export function recordedTokens({ inputs, output, attributes }: Recorded, choice: Loose | null): RecordedTokens {
  const answer = isJsonObject(output) ? output : {}
  const name =
    answer["model"] ??
    (isJsonObject(inputs) ? inputs["model"] : null) ??
    (isJsonObject(attributes) ? attributes["model"] : null)
  return {
    finishReason: typeof choice?.["finish_reason"] === "string" ? choice["finish_reason"] : "stop",
    model: typeof name === "string" ? name : null,
    ledgerKey: ledgerKeyOf(answer, choice, attributes),
    own: ownTokens(answer),
  }
}

function ledgerKeyOf(answer: Loose, choice: Loose | null, attributes: unknown): string | null {
  const given = choice?.["heddle_ledger_key"] ?? answer["heddle_ledger_key"]
  if (typeof given === "string") return given
  const id = answer["id"] ?? (isJsonObject(attributes) ? attributes["response_id"] : null)
  const index = choice?.["index"] ?? 0
  return typeof id === "string" && id !== "" && typeof index === "number" ? `${id}:${index}` : null
}

function ownTokens(answer: Loose): RecordedTokens["own"] {
  const found = tokensIn(answer)
  if (found === null) return null
  const { prompt_token_ids: prompt, token_ids: ids, logprobs } = found
  if (prompt === null || ids === null || logprobs === null || logprobs.includes(null)) return null
  const entries = ids.map((id, place) => ({ token: `token_id:${id}`, logprob: logprobs[place] }))
  const json = `"token_ids":${JSON.stringify(ids)},"prompt_token_ids":${JSON.stringify(prompt)},"logprobs":${JSON.stringify(entries)}`
  return { prompt: prompt.length, completion: ids.length, json }
}

/** Tokens of an answer that was sampled in one run, or null if they are missing or contradict each other. */
function tokensIn(answer: Loose): Tokens | null {
  try {
    const all = Array.isArray(answer["choices"])
      ? chatTokens({}, answer)
      : answer["token_generations"] != null
        ? responsesTokens(answer)
        : [messageTokens(answer)]
    return all.length === 1 ? (all[0] as Tokens) : null
  } catch (error) {
    if (error instanceof ExchangeFault) return null
    throw error
  }
}
