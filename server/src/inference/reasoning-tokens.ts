/** How many of the sampled tokens are the model's reasoning. The engine tells where it ends only in the text. */
import type { TokenLogprob } from "../wire/engine/chat.ts"
import { tokenText } from "./logprobs.ts"

const end = "</think>"

/** With the tag that ends it; all of them where it has no end. */
export function countReasoningTokens(tokens: readonly TokenLogprob[]): number {
  let tail = ""
  for (const [index, { bytes }] of tokens.entries()) {
    tail = (tail + tokenText(bytes)).slice(-end.length - bytes.length)
    if (tail.includes(end)) return index + 1
  }
  return tokens.length
}
