/** Ids and raw log-probabilities of an answer as flat lists, in the names of the wire (art-0.5.23 7). */
import type { TokenLogprob } from "../wire/engine/chat.ts"
import { rawLogprob } from "./logprobs.ts"

export function flatTokens(tokens: readonly TokenLogprob[]): { token_ids: number[]; logprobs: number[] } {
  return { token_ids: tokens.map(({ id }) => id), logprobs: tokens.map(rawLogprob) }
}
