/**
 * Tokens as the `logprobs.content` of an answer (inference-api 5.2), written as JSON text by hand:
 * it is most of the bytes of every answer, and rollouts ask for thousands of answers at a time.
 */
import type { EngineChatResult, PromptLogprob, TokenLogprob } from "../../wire/engine/chat.ts"
import type { TokenDetails } from "../completion-request.ts"

/** As vLLM: for what has no finite logprob. */
const floor = -9999

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** `byId`: each token's text is `token_id:<id>`, so that it survives clients that keep only texts. */
export function logprobsJson(tokens: readonly TokenLogprob[], { logprobs, byId }: TokenDetails): string {
  if (!logprobs) return "null"
  let text = '{"content":['
  for (let place = 0; place < tokens.length; place++) {
    const token = tokens[place] as TokenLogprob
    if (place > 0) text += ","
    text += `${itemHead(token, byId)},"top_logprobs":[`
    if (token.top.length > 0) text += token.top.map((other) => `${itemHead(other, byId)}}`).join(",")
    text += "]}"
  }
  return `${text}],"refusal":null}`
}

interface LogprobToken {
  id: number
  logprob: number
  bytes: readonly number[]
}

function itemHead(item: LogprobToken, byId: boolean): string {
  const token = byId ? `"token_id:${item.id}"` : JSON.stringify(tokenText(item.bytes))
  return `{"token":${token},"logprob":${rawLogprob(item)},"bytes":[${item.bytes.join(",")}]`
}

/** The model's own logprob, as a finite number. */
export function rawLogprob({ logprob }: Pick<TokenLogprob, "logprob">): number {
  return Number.isFinite(logprob) ? logprob : floor
}

/** A token may hold part of a character; U+FFFD stands for what is no text by itself. */
export function tokenText(bytes: readonly number[]): string {
  if (bytes.every((byte) => byte < 0x80)) return String.fromCharCode(...bytes)
  return decoder.decode(Uint8Array.from(bytes))
}

/** The member `token_ids` with the comma ahead of it; empty where ids are not shown. */
export function idsMember(tokens: readonly TokenLogprob[], { ids }: TokenDetails): string {
  if (!ids) return ""
  let text = ',"token_ids":['
  for (let place = 0; place < tokens.length; place++) text += place === 0 ? tokens[place]?.id : `,${tokens[place]?.id}`
  return `${text}]`
}

// Log-probabilities of the prompt as vLLM writes them, as JSON text by hand: clients take the first key of an entry for
// the prompt's own token, and JavaScript would put the keys, which are numbers, in the order of their values.

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

// Ids and raw log-probabilities of an answer as flat lists, in the names of the wire (art-0.5.23 7).

export function flatTokens(tokens: readonly TokenLogprob[]): { token_ids: number[]; logprobs: number[] } {
  return { token_ids: tokens.map(({ id }) => id), logprobs: tokens.map(rawLogprob) }
}

// How many of the sampled tokens are the model's reasoning. The engine tells where it ends only in the text.

/** The second is that of gpt-oss. */
const ends = ["</think>", "<|end|>"]
const longestEnd = Math.max(...ends.map(({ length }) => length))

/** With what ends it; all of them where it has no end. */
export function countReasoningTokens(tokens: readonly TokenLogprob[]): number {
  let tail = ""
  for (const [index, { bytes }] of tokens.entries()) {
    tail = (tail + tokenText(bytes)).slice(-longestEnd - bytes.length)
    if (ends.some((end) => tail.includes(end))) return index + 1
  }
  return tokens.length
}
