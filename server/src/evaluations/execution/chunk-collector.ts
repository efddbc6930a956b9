/** The answer that the chunks of a stream add up to, for the recorded call. */
import { isJsonObject } from "../../json/parsed-json.ts"

interface ToolCall {
  id: string
  type: string
  function: { name: string; arguments: string }
}

interface Choice {
  content: string
  reasoning: string
  toolCalls: ToolCall[]
  finishReason: unknown
  rest: Record<string, unknown>
}

export class ChunkCollector {
  #head: Record<string, unknown> = {}
  #usage: unknown = null
  readonly #choices = new Map<number, Choice>()

  add(chunk: unknown): void {
    if (!isJsonObject(chunk)) return
    for (const name of ["id", "created", "system_fingerprint"]) this.#head[name] ??= chunk[name]
    if (isJsonObject(chunk["usage"])) this.#usage = chunk["usage"]
    for (const choice of Array.isArray(chunk["choices"]) ? (chunk["choices"] as unknown[]) : []) {
      if (isJsonObject(choice)) this.#addChoice(choice)
    }
  }

  get usage(): string | null {
    return this.#usage === null ? null : JSON.stringify(this.#usage)
  }

  /** JSON text; null: no chunk had a choice. */
  completion(model: string): string | null {
    if (this.#choices.size === 0) return null
    const choices = [...this.#choices].toSorted(([a], [b]) => a - b).map(([index, choice]) => toWire(index, choice))
    return JSON.stringify({ ...this.#head, object: "chat.completion", model, choices, usage: this.#usage })
  }

  #addChoice(part: Record<string, unknown>): void {
    const index = typeof part["index"] === "number" ? part["index"] : 0
    const choice = this.#choices.get(index) ?? {
      content: "",
      reasoning: "",
      toolCalls: [],
      finishReason: null,
      rest: {},
    }
    this.#choices.set(index, choice)
    choice.finishReason = part["finish_reason"] ?? choice.finishReason
    if (part["heddle_ledger_key"] !== undefined) choice.rest["heddle_ledger_key"] = part["heddle_ledger_key"]
    const delta = isJsonObject(part["delta"]) ? part["delta"] : {}
    if (typeof delta["content"] === "string") choice.content += delta["content"]
    const reasoning = delta["reasoning_content"] ?? delta["reasoning"]
    if (typeof reasoning === "string") choice.reasoning += reasoning
    for (const call of Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as unknown[]) : []) {
      if (isJsonObject(call)) addToolCall(choice.toolCalls, call)
    }
  }
}

/** Parts of one call have its index; without one each is a call of its own. */
function addToolCall(calls: ToolCall[], part: Record<string, unknown>): void {
  const index = typeof part["index"] === "number" && part["index"] >= 0 ? part["index"] : calls.length
  const call = (calls[Math.min(index, calls.length)] ??= {
    id: "",
    type: "function",
    function: { name: "", arguments: "" },
  })
  if (typeof part["id"] === "string") call.id = part["id"]
  const named = isJsonObject(part["function"]) ? part["function"] : {}
  if (typeof named["name"] === "string") call.function.name = named["name"]
  if (typeof named["arguments"] === "string") call.function.arguments += named["arguments"]
}

function toWire(index: number, { content, reasoning, toolCalls, finishReason, rest }: Choice) {
  const message = {
    role: "assistant",
    content: content === "" && toolCalls.length > 0 ? null : content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  }
  return { index, message, finish_reason: finishReason, ...rest }
}
