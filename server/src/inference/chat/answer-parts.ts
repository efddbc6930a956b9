/** An answer as its parts, for protocols that answer in blocks or items: reasoning, text and calls, whole or as they grow. */
import type { ChatChoice, ChatDelta, EngineToolCall } from "../../wire/engine/chat.ts"

export type AnswerPart =
  | { kind: "reasoning"; text: string }
  | { kind: "text"; text: string }
  | { kind: "call"; call: EngineToolCall }

type GrowingPart = Exclude<AnswerPart, { kind: "call" }>

/** `parallel` false: only the first call is kept. The engine tells no order of text and calls: text comes first. */
export function partsOf({ content, reasoning, tool_calls }: ChatChoice, parallel: boolean): AnswerPart[] {
  return [
    ...growing("reasoning", reasoning),
    ...growing("text", content),
    ...(parallel ? tool_calls : tool_calls.slice(0, 1)).map((call) => ({ kind: "call" as const, call })),
  ]
}

function growing(kind: GrowingPart["kind"], text: string | null): GrowingPart[] {
  return text === null || text === "" ? [] : [{ kind, text }]
}

/** `open` has a part without its text, `close` the same part with all of it; a call is whole in both. */
export type PartEvent =
  | { event: "open" | "close"; index: number; part: AnswerPart }
  | { event: "grow"; index: number; part: AnswerPart; text: string }

/** Parts one after the other, in the order in which they were sampled. */
export class PartStream {
  readonly parts: AnswerPart[] = []
  readonly #parallel: boolean
  #open: GrowingPart | null = null

  constructor(parallel: boolean) {
    this.#parallel = parallel
  }

  add({ reasoning, content, tool_calls }: ChatDelta): PartEvent[] {
    const calls = this.#parallel ? tool_calls : tool_calls.filter(({ index }) => index === 0)
    return [
      ...this.#grow("reasoning", reasoning),
      ...this.#grow("text", content),
      ...calls.flatMap(({ id, name, arguments: text }) => this.#call({ id, name, arguments: text })),
    ]
  }

  /** Closes the open part: it is complete now. */
  end(): PartEvent[] {
    const part = this.#open
    this.#open = null
    return part === null ? [] : [{ event: "close", index: this.parts.length - 1, part }]
  }

  #grow(kind: GrowingPart["kind"], text: string): PartEvent[] {
    if (text === "") return []
    const opening = this.#open?.kind === kind ? [] : this.begin(kind)
    const part = this.#open as GrowingPart
    part.text += text
    return [...opening, { event: "grow", index: this.parts.length - 1, part, text }]
  }

  begin(kind: GrowingPart["kind"]): PartEvent[] {
    const before = this.end()
    const part: GrowingPart = { kind, text: "" }
    this.#open = part
    this.parts.push(part)
    return [...before, { event: "open", index: this.parts.length - 1, part: { ...part } }]
  }

  #call(call: EngineToolCall): PartEvent[] {
    const before = this.end()
    const part: AnswerPart = { kind: "call", call }
    const index = this.parts.push(part) - 1
    return [
      ...before,
      { event: "open", index, part },
      { event: "grow", index, part, text: call.arguments },
      { event: "close", index, part },
    ]
  }
}
