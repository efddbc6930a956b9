/** From the engine's choices to what the token ledger keeps; in a stream the deltas carry the tokens. */
import type { SampledChoice } from "../gateway/completion-record.ts"
import type { ChatEvent } from "../gateway/gateway.ts"
import type { ChatChoice, TokenLogprob } from "../wire/engine/chat.ts"

export function toSampled(
  choice: ChatChoice,
  tokens: readonly TokenLogprob[],
  promptTokenIds: readonly number[],
): SampledChoice {
  return { index: choice.index, promptTokenIds, tokens, finishReason: choice.finish_reason }
}

/** Adds the tokens of a `delta` event to those of its choice. */
export function collectTokens(byChoice: Map<number, TokenLogprob[]>, each: ChatEvent): void {
  if (each.event !== "delta") return
  const { index, tokens } = each.data
  const collected = byChoice.get(index)
  if (collected === undefined) byChoice.set(index, [...tokens])
  else collected.push(...tokens)
}
