/** Text completions: engine results to the wire's older shape (inference-api 9). */
import type { ChatChoice, TokenLogprob } from "../wire/engine/chat.ts"
import type { TextChoice } from "../wire/inference/text-completion.ts"
import type { ShownTokens } from "./completion-request.ts"
import { tokenText } from "./logprobs.ts"

export interface TextFrame {
  id: string
  created: number
  model: string
  shown: ShownTokens
  ledgerKey: ((index: number) => string) | null
}

/** `index`: its place among all prompts' choices. */
export function textChoice(frame: TextFrame, choice: ChatChoice, index: number, promptTokenIds: number[]): TextChoice {
  return {
    index,
    text: choice.content ?? "",
    logprobs: textLogprobs(choice.tokens, frame.shown, 0),
    finish_reason: choice.finish_reason === "length" ? "length" : "stop",
    stop_reason: choice.stop_reason,
    ...(frame.shown.ids ? { token_ids: choice.tokens.map(({ id }) => id), prompt_token_ids: promptTokenIds } : {}),
    ...(frame.ledgerKey === null ? {} : { heddle_ledger_key: frame.ledgerKey(index) }),
  }
}

/** `offset`: characters of the text before these tokens. */
export function textLogprobs(
  tokens: readonly TokenLogprob[],
  { logprobs, byId }: ShownTokens,
  offset: number,
): TextChoice["logprobs"] {
  if (!logprobs) return null
  let place = offset
  const nameOf = (token: { id: number; bytes: number[] }) => (byId ? `token_id:${token.id}` : tokenText(token.bytes))
  return {
    tokens: tokens.map(nameOf),
    token_logprobs: tokens.map((token) => token.logprob),
    top_logprobs: tokens.map((token) => Object.fromEntries(token.top.map((other) => [nameOf(other), other.logprob]))),
    text_offset: tokens.map((token) => {
      const start = place
      place += tokenText(token.bytes).length
      return start
    }),
  }
}
