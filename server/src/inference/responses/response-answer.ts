/** Formats a sampled answer as OpenAI's response, whole or as the events of a stream (art-0.5.23 6). */
import type { ChatEvent } from "../../gateway/gateway.ts"
import type { HeddleError } from "../../errors.ts"
import type { ChatChoice, EngineChatResult, TokenLogprob } from "../../wire/engine/chat.ts"
import type { ResponseAnswer, ResponseEvent, ResponseItem, ResponsesRequest } from "../../wire/inference/responses.ts"
import { type AnswerPart, type PartEvent, partsOf, PartStream } from "../chat/answer-parts.ts"
import { unixSeconds } from "../completion-request.ts"
import { countReasoningTokens, rawLogprob, tokenText } from "../chat/logprobs.ts"
import { type ItemPrefix, itemIdOf } from "./item-ids.ts"

export interface ResponseFrame {
  id: string
  /** Unix seconds. */
  created: number
  request: ResponsesRequest
  parallel: boolean
}

type Status = ResponseItem["status"]

export function toResponse(frame: ResponseFrame, result: EngineChatResult): ResponseAnswer {
  const parts = partsOf(onlyChoice(result), frame.parallel)
  return finished(frame, result, parts.length === 0 ? [{ kind: "text", text: "" }] : parts, [])
}

/** Nothing of it is there yet, or will be. */
export function unfinished(frame: ResponseFrame, status: "in_progress" | "cancelled"): ResponseAnswer {
  return responseOf(frame, { status })
}

export class ResponseEvents {
  readonly #frame: ResponseFrame
  readonly #parts: PartStream
  /** Ids of the items, by position. */
  readonly #ids: string[] = []
  #sequence = 0

  constructor(frame: ResponseFrame) {
    this.#frame = frame
    this.#parts = new PartStream(frame.parallel)
  }

  of(each: ChatEvent): ResponseEvent[] {
    if (each.event === "delta") return this.#parts.add(each.data).flatMap((one) => this.#partEvents(one))
    const types = ["response.created", "response.in_progress"] as const
    return types.map((type) => this.#ofResponse(type, unfinished(this.#frame, "in_progress")))
  }

  /** Closes open items. A turn that has only an end is an empty message. `events`: numbered when they are sent, if they are. */
  end(result: EngineChatResult): { events: () => ResponseEvent[]; answer: ResponseAnswer } {
    const isCut = onlyChoice(result).finish_reason === "length"
    const opening = this.#parts.parts.length === 0 ? this.#parts.begin("text") : []
    const closing = [...opening, ...this.#parts.end()]
    const answer = finished(this.#frame, result, this.#parts.parts, this.#ids)
    const events = () => [
      ...closing.flatMap((one) => this.#partEvents(one, isCut ? "incomplete" : "completed")),
      this.#ofResponse(isCut ? "response.incomplete" : "response.completed", answer),
    ]
    return { events, answer }
  }

  failed({ code, message, status }: HeddleError, isCancelled: boolean): ResponseEvent {
    // The few codes that OpenAI's clients know.
    const known = status === 429 ? code : "server_error"
    const fields = {
      status: isCancelled ? ("cancelled" as const) : ("failed" as const),
      error: { code: known, message },
    }
    return this.#ofResponse("response.failed", responseOf(this.#frame, fields))
  }

  #ofResponse(
    type:
      | "response.created"
      | "response.in_progress"
      | "response.completed"
      | "response.incomplete"
      | "response.failed",
    response: ResponseAnswer,
  ): ResponseEvent {
    return { type, sequence_number: this.#sequence++, response }
  }

  #partEvents({ index, ...rest }: PartEvent, closed: Status = "completed"): ResponseEvent[] {
    const id = (this.#ids[index] ??= itemId(this.#frame, rest.part, index))
    const place = { output_index: index, item_id: id }
    const bodies =
      rest.event === "grow" ? [growth(rest.part, rest.text, place)] : borders(rest.event, rest.part, closed, place)
    return bodies.map((body) => ({ ...body, sequence_number: this.#sequence++ }))
  }
}

interface Place {
  output_index: number
  item_id: string
}

/** An event without its number. */
type Unnumbered = ResponseEvent extends infer E ? (E extends ResponseEvent ? Omit<E, "sequence_number"> : never) : never

function growth({ kind }: AnswerPart, delta: string, place: Place): Unnumbered {
  if (kind === "call") return { type: "response.function_call_arguments.delta", ...place, delta }
  const within = { ...place, content_index: 0 as const, delta }
  if (kind === "reasoning") return { type: "response.reasoning_text.delta", ...within }
  return { type: "response.output_text.delta", ...within, logprobs: [] }
}

function borders(event: "open" | "close", part: AnswerPart, closed: Status, place: Place): Unnumbered[] {
  const { output_index, item_id } = place
  const within = { ...place, content_index: 0 as const }
  if (event === "open") {
    const item = withoutContent(toItem(part, item_id, "in_progress"))
    const added: Unnumbered = { type: "response.output_item.added", output_index, item }
    if (part.kind !== "text") return [added]
    return [added, { type: "response.content_part.added", ...within, part: outputText("") }]
  }
  const done: Unnumbered = { type: "response.output_item.done", output_index, item: toItem(part, item_id, closed) }
  if (part.kind === "call") {
    const { name, arguments: text } = part.call
    return [{ type: "response.function_call_arguments.done", ...place, name, arguments: text }, done]
  }
  const { text } = part
  if (part.kind === "reasoning") return [{ type: "response.reasoning_text.done", ...within, text }, done]
  return [
    { type: "response.output_text.done", ...within, text, logprobs: [] },
    { type: "response.content_part.done", ...within, part: outputText(text) },
    done,
  ]
}

/** The content is left out, because it arrives in deltas. */
function withoutContent(item: ResponseItem): ResponseItem {
  return item.type === "function_call" ? { ...item, arguments: "" } : { ...item, content: [] }
}

const prefixes: Readonly<Record<AnswerPart["kind"], ItemPrefix>> = { reasoning: "rs", text: "msg", call: "fc" }

function itemId({ id }: ResponseFrame, { kind }: AnswerPart, index: number): string {
  return itemIdOf(id, prefixes[kind], index)
}

function toItem(part: AnswerPart, id: string, status: Status): ResponseItem {
  if (part.kind === "call") {
    const { id: call_id, name, arguments: text } = part.call
    return { type: "function_call", id, call_id, name, arguments: text, status }
  }
  if (part.kind === "reasoning") {
    return { type: "reasoning", id, summary: [], content: [{ type: "reasoning_text", text: part.text }], status }
  }
  return { type: "message", id, role: "assistant", status, content: [outputText(part.text)] }
}

type OutputText = Extract<ResponseItem, { type: "message" }>["content"][number]

function outputText(text: string, logprobs: OutputText["logprobs"] = []): OutputText {
  return { type: "output_text", text, annotations: [], logprobs }
}

function finished(
  frame: ResponseFrame,
  result: EngineChatResult,
  parts: readonly AnswerPart[],
  ids: readonly string[],
): ResponseAnswer {
  const { finish_reason, tokens, reasoning } = onlyChoice(result)
  const isCut = finish_reason === "length"
  const items = parts.map((part, index) => {
    const isLast = index === parts.length - 1
    return toItem(part, ids[index] ?? itemId(frame, part, index), isCut && isLast ? "incomplete" : "completed")
  })
  return {
    ...responseOf(frame, { status: isCut ? "incomplete" : "completed" }),
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    completed_at: isCut ? null : unixSeconds(),
    output: wantsLogprobs(frame.request) ? withLogprobs(items, tokens) : items,
    usage: usageOf(result, reasoning === null || reasoning === "" ? 0 : countReasoningTokens(tokens)),
    token_generations: [
      {
        prompt_token_ids: result.prompt_token_ids,
        output_tokens: tokens.map((token) => ({ token_id: token.id, logprob: rawLogprob(token) })),
        output_indices: items.map((_, index) => index),
        logprobs_mode: "raw_logprobs",
      },
    ],
  }
}

function wantsLogprobs({ include, top_logprobs }: ResponsesRequest): boolean {
  return include?.includes("message.output_text.logprobs") === true || (top_logprobs ?? 0) > 0
}

/** Attaches the logprobs of every sampled token to the first text, as a chat does. */
function withLogprobs(items: ResponseItem[], tokens: readonly TokenLogprob[]): ResponseItem[] {
  const first = items.find((item) => item.type === "message")
  const logprobs = tokens.map((token) => ({ ...logprobOf(token), top_logprobs: token.top.map(logprobOf) }))
  return items.map((item) => {
    if (item !== first || item.type !== "message") return item
    return { ...item, content: item.content.map(({ text }) => outputText(text, logprobs)) }
  })
}

function logprobOf(token: Pick<TokenLogprob, "logprob" | "bytes">) {
  return { token: tokenText(token.bytes), logprob: rawLogprob(token), bytes: token.bytes }
}

function usageOf(result: EngineChatResult, reasoning_tokens: number): NonNullable<ResponseAnswer["usage"]> {
  const { prompt_token_ids, cached_tokens, completion_tokens } = result
  return {
    input_tokens: prompt_token_ids.length,
    // openpipe-art 0.5.23 drops an answer that lacks any of these.
    input_tokens_details: { cached_tokens, cache_write_tokens: 0 },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens },
    total_tokens: prompt_token_ids.length + completion_tokens,
  }
}

function onlyChoice({ choices: [choice] }: EngineChatResult): ChatChoice {
  if (choice === undefined) throw new Error("the engine answered without a choice")
  return choice
}

function responseOf(
  { id, created, request }: ResponseFrame,
  { status, error = null }: { status: ResponseAnswer["status"]; error?: ResponseAnswer["error"] },
): ResponseAnswer {
  return {
    id,
    object: "response",
    created_at: created,
    completed_at: null,
    model: request.model,
    status,
    error,
    incomplete_details: null,
    output: [],
    background: false,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request.metadata ?? {},
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
    store: isStored(request),
    temperature: request.temperature ?? 1,
    text: { ...request.text, format: request.text?.format ?? { type: "text" } },
    tool_choice: request.tool_choice ?? "auto",
    // openpipe-art 0.5.23 drops an answer whose tools lack either.
    tools: (request.tools ?? []).map((tool) => ({
      ...tool,
      parameters: tool.parameters ?? null,
      strict: tool.strict ?? null,
    })),
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: "disabled",
    usage: null,
  }
}

/** Unless it is declined. */
export function isStored({ store }: ResponsesRequest): boolean {
  return store !== false
}
