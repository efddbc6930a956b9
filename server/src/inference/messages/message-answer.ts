/** Formats a sampled answer as Anthropic's message, whole or as the events of a stream (art-0.5.23 7). */
import { parseExact } from "../../json/exact-json.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import type { ChatEvent } from "../../gateway/gateway.ts"
import type { ChatChoice, EngineChatResult } from "../../wire/engine/chat.ts"
import type { Message, MessageBlock, MessageEvent } from "../../wire/inference/messages.ts"
import { type AnswerPart, type PartEvent, partsOf, PartStream } from "../chat/answer-parts.ts"
import { flatTokens } from "../chat/logprobs.ts"

export interface MessageFrame {
  id: string
  /** As the client wrote it. */
  model: string
  /** false: only the first call of a tool is kept. */
  parallel: boolean
}

export function toMessage(frame: MessageFrame, result: EngineChatResult): Message {
  const choice = onlyChoice(result)
  return {
    ...head(frame),
    content: partsOf(choice, frame.parallel).map(toBlock),
    ...stopOf(choice),
    usage: usageOf(result),
    prompt_token_ids: result.prompt_token_ids,
    ...flatTokens(choice.tokens),
  }
}

export class MessageEvents {
  readonly #frame: MessageFrame
  readonly #parts: PartStream

  constructor(frame: MessageFrame) {
    this.#frame = frame
    this.#parts = new PartStream(frame.parallel)
  }

  of(each: ChatEvent): MessageEvent[] {
    if (each.event === "start") return [this.#start(each.data.prompt_token_ids)]
    return this.#parts.add(each.data).flatMap(blockEvents)
  }

  end(result: EngineChatResult): MessageEvent[] {
    const choice = onlyChoice(result)
    return [
      ...this.#parts.end().flatMap(blockEvents),
      {
        type: "message_delta",
        delta: stopOf(choice),
        usage: usageOf(result),
        prompt_token_ids: result.prompt_token_ids,
        ...flatTokens(choice.tokens),
      },
      { type: "message_stop" },
    ]
  }

  #start(prompt_token_ids: number[]): MessageEvent {
    const usage = { input_tokens: prompt_token_ids.length, output_tokens: 0 }
    const unfinished = { content: [], stop_reason: null, stop_sequence: null, usage, prompt_token_ids }
    return { type: "message_start", message: { ...head(this.#frame), ...unfinished } }
  }
}

function head({ id, model }: MessageFrame) {
  return { id, type: "message" as const, role: "assistant" as const, model }
}

function onlyChoice({ choices: [choice] }: EngineChatResult): ChatChoice {
  if (choice === undefined) throw new Error("the engine answered without a choice")
  return choice
}

function usageOf({ prompt_token_ids, completion_tokens }: EngineChatResult): Message["usage"] {
  return { input_tokens: prompt_token_ids.length, output_tokens: completion_tokens }
}

function stopOf({ finish_reason, stop_reason }: ChatChoice): Pick<Message, "stop_reason" | "stop_sequence"> {
  if (finish_reason === "length") return { stop_reason: "max_tokens", stop_sequence: null }
  if (finish_reason === "tool_calls") return { stop_reason: "tool_use", stop_sequence: null }
  if (typeof stop_reason === "string") return { stop_reason: "stop_sequence", stop_sequence: stop_reason }
  return { stop_reason: "end_turn", stop_sequence: null }
}

function toBlock(part: AnswerPart): MessageBlock {
  if (part.kind === "reasoning") return { type: "thinking", thinking: part.text, signature: "" }
  if (part.kind === "text") return { type: "text", text: part.text, citations: null }
  const { id, name, arguments: text } = part.call
  return { type: "tool_use", id, name, input: inputOf(text) }
}

/** Numbers keep their spelling. The engine takes NaN for a number, which JSON does not have. */
function inputOf(text: string): Record<string, unknown> {
  return parseExact(withoutNotFinite(text)) as Record<string, unknown>
}

function blockEvents({ index, ...rest }: PartEvent): MessageEvent[] {
  if (rest.event === "open") {
    const block = toBlock(rest.part)
    // Its input comes in the delta.
    const content_block = block.type === "tool_use" ? { ...block, input: {} } : block
    return [{ type: "content_block_start", index, content_block }]
  }
  if (rest.event === "grow") return [{ type: "content_block_delta", index, delta: deltaOf(rest.part, rest.text) }]
  const stop: MessageEvent = { type: "content_block_stop", index }
  if (rest.part.kind !== "reasoning") return [stop]
  // Clients wait for a signature before they take a thinking block as whole.
  return [{ type: "content_block_delta", index, delta: { type: "signature_delta", signature: "" } }, stop]
}

function deltaOf({ kind }: AnswerPart, text: string): Extract<MessageEvent, { type: "content_block_delta" }>["delta"] {
  if (kind === "reasoning") return { type: "thinking_delta", thinking: text }
  if (kind === "text") return { type: "text_delta", text }
  return { type: "input_json_delta", partial_json: text }
}
