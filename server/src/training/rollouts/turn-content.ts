/** Content of a turn: its messages, the answer, and the tokens of both, as they were written. */
import { promisify } from "node:util"
import { inflate } from "node:zlib"
import { artifactName } from "../../gateway/model-name.ts"
import { parseExact } from "../../json/exact-json.ts"
import type { TurnRecord } from "../../storage/catalog/training/rollouts.ts"
import type { Exchange } from "../../wire/training/exchange.ts"

const decompress = promisify(inflate)

export interface StoredChoice {
  index: number
  /** null: the turn is not finished. */
  finish_reason: string | null
  message?: Record<string, unknown>
  text?: string
  prompt_token_ids?: number[]
  token_ids: number[]
  compact_logprobs: (number | null)[]
}

/** A captured call (art-0.5.23 3) whose answer has the form of a chat or a completion. */
export interface StoredExchange extends Exchange {
  request: {
    messages?: Record<string, unknown>[] | null
    tools?: Record<string, unknown>[] | null
    prompt?: unknown
    sampling: Record<string, unknown>
  }
  response: { id: string; model: string; prompt_token_ids: number[]; choices: StoredChoice[] }
}

/** null: its time is over. Numbers of messages and tools keep their spelling (law 3). */
export async function exchangeOf(turn: TurnRecord): Promise<StoredExchange | null> {
  if (turn.content === null) return null
  const text = (await decompress(turn.content)).toString("utf8")
  const exchange = parseExact(text) as StoredExchange
  return { ...exchange, response: { ...exchange.response, ...tokensOf(JSON.parse(text) as StoredExchange, exchange) } }
}

/** Ids and log-probabilities as numbers: what they are, and not how they were written, is trained. */
function tokensOf({ response: plain }: StoredExchange, { response: exact }: StoredExchange) {
  return {
    prompt_token_ids: plain.prompt_token_ids,
    choices: exact.choices.map((choice, place) => {
      const { token_ids, compact_logprobs, prompt_token_ids } = plain.choices[place] as StoredChoice
      return { ...choice, token_ids, compact_logprobs, ...(prompt_token_ids !== undefined && { prompt_token_ids }) }
    }),
  }
}

/** The name that means exactly what answered, whatever the client called it. null: its model was deleted with its project. */
export function servedName({ model_id, modelPath, step, base_model }: TurnRecord): string | null {
  if (model_id === null) return base_model
  if (modelPath === null) return null
  const [entity = "", project = "", name = ""] = modelPath.split("/")
  return `${artifactName(entity, project, name)}:step${step}`
}
