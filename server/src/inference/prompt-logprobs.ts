/**
 * Log-probabilities of the prompt as vLLM writes them, as JSON text by hand: clients take the first key of an entry for
 * the prompt's own token, and JavaScript would put the keys, which are numbers, in the order of their values.
 */
import type { EngineChatResult, PromptLogprob } from "../wire/engine/chat.ts"
import { tokenText } from "./logprobs.ts"

/** The member `prompt_logprobs` with the comma ahead of it; empty where nothing was asked. */
export function promptLogprobsMember(tokens: EngineChatResult["prompt_logprobs"], count: number | null): string {
  if (tokens === null || count === null) return ""
  return `,"prompt_logprobs":[${tokens.map((token) => entryJson(token, count)).join(",")}]`
}

function entryJson({ id, logprob, rank, bytes, top }: PromptLogprob, count: number): string {
  if (logprob === null) return "null"
  const members = [memberJson(id, logprob, rank, bytes)]
  for (const [place, other] of top.slice(0, count).entries()) {
    if (other.id !== id) members.push(memberJson(other.id, other.logprob, place + 1, other.bytes))
  }
  return `{${members.join(",")}}`
}

function memberJson(id: number, logprob: number, rank: number | null, bytes: readonly number[]): string {
  return `"${id}":{"logprob":${logprob},"rank":${rank},"decoded_token":${JSON.stringify(tokenText(bytes))}}`
}
