/** Calls of tools that a model asked for, where no span tells that they were carried out: evaluation-store-calls 10. */
import type { ChatMessage } from "../../wire/agents/agent-chat.ts"
import type { ChatSpan } from "./chat-span.ts"
import { type MessagePart, partsOf } from "./message-texts.ts"

type ToolCall = NonNullable<ChatMessage["tool_call"]>

export class ModelToolCalls {
  /** Ids of calls that are shown already, or are a span of their own. */
  readonly #known: Set<string>
  /** How many spans of a tool, by its name, do not tell which call they carry out. */
  readonly #unnumbered: Map<string, number>
  /** By the id of the call. */
  readonly #results: ReadonlyMap<string, string>

  constructor(spans: readonly ChatSpan[]) {
    this.#known = new Set(spans.flatMap(({ tool_call_id }) => tool_call_id ?? []))
    this.#unnumbered = new Map(
      [...Map.groupBy(spans.filter(isUnnumbered), ({ tool_name }) => tool_name ?? "")].map(([name, of]) => [
        name,
        of.length,
      ]),
    )
    this.#results = new Map(spans.flatMap(resultsIn))
  }

  /** Each once. */
  requested(span: ChatSpan): ToolCall[] {
    const parts = span.output_messages.flatMap(({ content }) => partsOf(content))
    return parts.filter((part) => part["type"] === "tool_call").flatMap((part) => this.#call(part) ?? [])
  }

  #call({ id, name, arguments: given }: MessagePart): ToolCall | null {
    if (typeof name !== "string" || name === "") return null
    const known = typeof id === "string" && id !== ""
    if (known && this.#known.has(id)) return null
    if (known) this.#known.add(id)
    const carriedOut = this.#unnumbered.get(name) ?? 0
    this.#unnumbered.set(name, carriedOut - 1)
    if (carriedOut > 0) return null
    return {
      tool_name: name,
      tool_arguments: given === undefined || given === null ? null : asText(given),
      tool_result: known ? (this.#results.get(id) ?? null) : null,
      duration_ms: null,
      status: null,
      content_refs: [],
    }
  }
}

function isUnnumbered({ operation_name, tool_call_id }: ChatSpan): boolean {
  return operation_name === "execute_tool" && tool_call_id === null
}

/** Later calls of a model are sent the results of earlier ones. */
function resultsIn({ input_messages }: ChatSpan): [string, string][] {
  return input_messages.flatMap(({ content }) =>
    partsOf(content).flatMap(({ type, id, response, result }): [string, string][] => {
      const given = response ?? result
      if (type !== "tool_call_response" || typeof id !== "string" || given === undefined) return []
      return [[id, asText(given)]]
    }),
  )
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}
