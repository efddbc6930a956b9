/** The chunks of a streamed answer as one turn, as far as they have come. */
import type { Answer, SampledToken, ToolCall, Turn } from "./conversation.ts"

interface WireToken {
  token: string
  logprob: number
  bytes?: number[] | null
}

interface WireChoice {
  delta?: {
    content?: string | null
    reasoning?: string | null
    reasoning_content?: string | null
    tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[]
  }
  logprobs?: { content?: (WireToken & { top_logprobs?: WireToken[] })[] | null } | null
  finish_reason?: string | null
}

export interface WireLine {
  _meta?: { weave_call_id: string; trace_id: string }
  error?: string
  code?: string
  retry_after_ms?: number
  choices?: WireChoice[]
  usage?: {
    prompt_tokens?: number
    completion_tokens?: number
    prompt_tokens_details?: { cached_tokens?: number } | null
  } | null
}

export class AnswerCollector {
  readonly #model: string
  readonly #startedAt: number
  /** Begins with what the answer is a continuation of. */
  #text: string
  readonly #tokens: SampledToken[]
  readonly #calls: ToolCall[] = []
  // A token may end within a character, which the next one completes.
  readonly #decoder = new TextDecoder()
  #reasoning = ""
  #callId: string | null = null
  #traceId: string | null = null
  #finish: string | null = null
  #usage: Answer["usage"] = null
  #firstTokenMs: number | null = null

  /** `startedAt`: on the clock that `add` and `turn` are given. */
  constructor(model: string, startedAt: number, begun: { text: string; tokens: SampledToken[] } | null = null) {
    this.#model = model
    this.#startedAt = startedAt
    this.#text = begun?.text ?? ""
    this.#tokens = [...(begun?.tokens ?? [])]
  }

  add(line: WireLine, now: number): void {
    if (line._meta !== undefined) {
      this.#callId = line._meta.weave_call_id
      this.#traceId = line._meta.trace_id
    }
    if (line.usage != null) {
      const { prompt_tokens: input = 0, completion_tokens: output = 0, prompt_tokens_details: details } = line.usage
      this.#usage = { input, output, cached: details?.cached_tokens ?? 0 }
    }
    for (const choice of line.choices ?? []) this.#addChoice(choice, now)
  }

  turn(state: Answer["state"], now: number, failure: Answer["failure"] = null): Turn {
    return {
      role: "assistant",
      text: this.#text,
      ...(this.#calls.length === 0 ? {} : { toolCalls: this.#calls.map((call) => ({ ...call })) }),
      answer: {
        state,
        model: this.#model,
        callId: this.#callId,
        traceId: this.#traceId,
        reasoning: this.#reasoning,
        tokens: [...this.#tokens],
        finish: this.#finish,
        usage: this.#usage,
        firstTokenMs: this.#firstTokenMs,
        totalMs: now - this.#startedAt,
        failure,
      },
    }
  }

  #addChoice({ delta = {}, logprobs, finish_reason }: WireChoice, now: number): void {
    const { content, reasoning, reasoning_content, tool_calls = [] } = delta
    const tokens = logprobs?.content ?? []
    const hasBegun = Boolean(content) || Boolean(reasoning ?? reasoning_content) || tool_calls.length > 0
    if (hasBegun || tokens.length > 0) this.#firstTokenMs ??= now - this.#startedAt
    this.#text += content ?? ""
    this.#reasoning += reasoning ?? reasoning_content ?? ""
    for (const { index = this.#calls.length, id, function: called } of tool_calls) {
      const call = (this.#calls[index] ??= { id: id ?? `call_${index + 1}`, name: "", arguments: "" })
      call.name += called?.name ?? ""
      call.arguments += called?.arguments ?? ""
    }
    for (const token of tokens) {
      this.#tokens.push({
        text: token.bytes ? this.#decoder.decode(Uint8Array.from(token.bytes), { stream: true }) : token.token,
        logprob: token.logprob,
        top: (token.top_logprobs ?? []).map(({ token: text, logprob }) => ({ text, logprob })),
      })
    }
    if (finish_reason) this.#finish = finish_reason
  }
}

/** What comes sooner after the first token came with it: of that the clock says nothing. */
const shortestMs = 10

/** Tokens a second after the first one; null: too few, or too fast, to say. */
export function tokensPerSecond({ usage, firstTokenMs, totalMs, tokens }: Answer): number | null {
  const count = usage?.output ?? tokens.length
  if (firstTokenMs === null || totalMs === null || count < 2 || totalMs - firstTokenMs < shortestMs) return null
  return ((count - 1) / (totalMs - firstTokenMs)) * 1000
}

/** The beginning of an answer up to a token, with another one in its place, to be gone on with. */
export function forkAt(tokens: readonly SampledToken[], place: number, other: string): SampledToken[] {
  const instead = tokens[place]?.top.find(({ text }) => text === other)
  return [...tokens.slice(0, place), { text: other, logprob: instead?.logprob ?? 0, top: tokens[place]?.top ?? [] }]
}
