/** Text completions: engine results to the wire's older shape (inference-api 9). */
import type { SamplingCall } from "../gateway/gateway.ts"
import type { ChatChoice, EngineChatResult, PromptLogprob, TokenLogprob } from "../wire/engine/chat.ts"
import type { Usage } from "../wire/inference/sampling.ts"
import type { TextChoice } from "../wire/inference/text-completion.ts"
import type { TokenDetails } from "./completion-request.ts"
import { promptLogprobsMember, tokenText } from "./chat/logprobs.ts"

export interface TextFrame {
  id: string
  created: number
  model: string
  details: TokenDetails
  /** The prompt is answered, too. */
  echo: boolean
  /** Alternatives to each token of the text. */
  numTop: number
  /** The same for each token of the prompt, in `prompt_logprobs`; null: that member is left out. */
  promptLogprobs: number | null
  ledgerKey: ((index: number) => string) | null
}

/** The answer as JSON text. `results`: of each prompt, in the order of `calls`. */
export function textAnswerJson(
  frame: TextFrame,
  calls: readonly SamplingCall[],
  results: readonly EngineChatResult[],
  usage: Usage,
): string {
  const { id, created, model } = frame
  const choices = results.flatMap((result, place) => {
    const prompt = calls[place]?.prompt ?? null
    const promptLogprobs = promptLogprobsMember(result.prompt_logprobs, frame.promptLogprobs)
    return result.choices.map((choice) => {
      const json = JSON.stringify(
        textChoice(frame, choice, place * result.choices.length + choice.index, result, prompt),
      )
      return `${json.slice(0, -1)}${promptLogprobs}}`
    })
  })
  const head = JSON.stringify({ id, object: "text_completion", created, model }).slice(0, -1)
  return `${head},"choices":[${choices.join(",")}],"usage":${JSON.stringify(usage)}}`
}

/** `index`: its place among all prompts' choices. `prompt`: its text, null where it was given as token ids. */
function textChoice(
  frame: TextFrame,
  choice: ChatChoice,
  index: number,
  result: EngineChatResult,
  prompt: string | null,
): TextChoice {
  const { details } = frame
  const echoed = frame.echo ? (result.prompt_logprobs ?? []) : []
  const spelled = textOf(echoed)
  const before = frame.echo ? (prompt ?? spelled) : ""
  const ids = { token_ids: choice.tokens.map(({ id }) => id), prompt_token_ids: result.prompt_token_ids }
  const tokens = [...echoed.map((token) => toEchoed(token, frame.numTop)), ...choice.tokens]
  return {
    index,
    text: `${before}${choice.content ?? ""}`,
    logprobs: textLogprobs(tokens, details, new TextOffsets(unechoed(spelled, before))),
    finish_reason: choice.finish_reason === "length" ? "length" : "stop",
    stop_reason: choice.stop_reason,
    ...(details.ids ? ids : {}),
    ...(frame.ledgerKey === null ? {} : { heddle_ledger_key: frame.ledgerKey(index) }),
  }
}

/** How much more the prompt's tokens spell in front of its text than that has: a BOS, or SentencePiece's first space. */
function unechoed(spelled: string, text: string): number {
  return spelled.endsWith(text) ? spelled.length - text.length : 0
}

/** A character may take several tokens. */
function textOf(tokens: readonly PromptLogprob[]): string {
  return Buffer.from(tokens.flatMap(({ bytes }) => bytes)).toString()
}

type TextToken = Omit<TokenLogprob, "logprob"> & { logprob: number | null }

/** As vLLM: a token of the prompt is among its own alternatives. */
function toEchoed({ id, logprob, bytes, top }: PromptLogprob, numTop: number): TextToken {
  const others = top.slice(0, numTop).filter((other) => other.id !== id)
  return { id, logprob, bytes, top: logprob === null ? [] : [{ id, logprob, bytes }, ...others] }
}

/** Where tokens begin in their text. A token with a later part of a character begins where that does. */
export class TextOffsets {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  #place: number

  /** `unseen`: UTF-16 code units that the first tokens stand for and that are not in the text. */
  constructor(unseen = 0) {
    this.#place = -unseen
  }

  /** UTF-16 code units of the text before the next token, whose bytes these are. */
  next(bytes: readonly number[]): number {
    const start = Math.max(0, this.#place)
    this.#place += this.#decoder.decode(Uint8Array.from(bytes), { stream: true }).length
    return start
  }
}

/** `offsets` has seen the tokens before these. */
export function textLogprobs(
  tokens: readonly TextToken[],
  { logprobs, byId }: TokenDetails,
  offsets: TextOffsets,
): TextChoice["logprobs"] {
  if (!logprobs) return null
  const nameOf = (token: { id: number; bytes: number[] }) => (byId ? `token_id:${token.id}` : tokenText(token.bytes))
  return {
    tokens: tokens.map(nameOf),
    token_logprobs: tokens.map((token) => token.logprob),
    top_logprobs: tokens.map(({ logprob, top }) => (logprob === null ? null : likeliestByName(top, nameOf))),
    text_offset: tokens.map(({ bytes }) => offsets.next(bytes)),
  }
}

/** Keeps the likeliest of tokens with equal text, such as U+FFFD for parts of characters: clients read the maximum. */
function likeliestByName(
  top: TokenLogprob["top"],
  nameOf: (token: TokenLogprob["top"][number]) => string,
): Record<string, number> {
  const byName = new Map<string, number>()
  for (const token of top) {
    const name = nameOf(token)
    byName.set(name, Math.max(token.logprob, byName.get(name) ?? -Infinity))
  }
  return Object.fromEntries(byName)
}
