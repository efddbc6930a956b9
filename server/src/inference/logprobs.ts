/**
 * Tokens as the `logprobs.content` of an answer (inference-api 5.2), written as JSON text by hand:
 * it is most of the bytes of every answer, and rollouts ask for thousands of answers at a time.
 */
import type { TokenLogprob } from "../wire/engine/chat.ts"
import type { ShownTokens } from "./completion-request.ts"

/** As vLLM: for what has no finite logprob. */
const floor = -9999

const decoder = new TextDecoder()

/** `byId`: each token's text is `token_id:<id>`, so that it survives clients that keep only texts. */
export function logprobsJson(tokens: readonly TokenLogprob[], { logprobs, byId }: ShownTokens): string {
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

/** Of the model itself, as a finite number. */
export function rawLogprob({ logprob }: Pick<TokenLogprob, "logprob">): number {
  return Number.isFinite(logprob) ? logprob : floor
}

/** A token may hold part of a character; U+FFFD stands for what is no text by itself. */
export function tokenText(bytes: readonly number[]): string {
  if (bytes.every((byte) => byte < 0x80)) return String.fromCharCode(...bytes)
  return decoder.decode(Uint8Array.from(bytes))
}

/** The member `token_ids` with the comma ahead of it; empty where ids are not shown. */
export function idsMember(tokens: readonly TokenLogprob[], { ids }: ShownTokens): string {
  if (!ids) return ""
  let text = ',"token_ids":['
  for (let place = 0; place < tokens.length; place++) text += place === 0 ? tokens[place]?.id : `,${tokens[place]?.id}`
  return `${text}]`
}
