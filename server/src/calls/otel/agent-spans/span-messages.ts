/**
 * Messages of several generations of conventions in one form: evaluation-store-calls 10. The content of
 * a message is its text, or the JSON of its parts as OpenTelemetry has them.
 */
import { parseExact } from "../../../json/exact-json.ts"
import { isJsonObject } from "../../../json/parsed-json.ts"
import type { SpanMessage } from "../../../storage/traces/agents/span-table.ts"

type Members = Readonly<Record<string, unknown>>

/** `json`: what an attribute held. `role`: of messages that name none. */
export function messagesIn(json: string, role: string): SpanMessage[] {
  return messagesOf(parseExact(json), role)
}

function messagesOf(value: unknown, role: string): SpanMessage[] {
  if (typeof value === "string") return value === "" ? [] : [{ role, content: value, finish_reason: "" }]
  if (Array.isArray(value)) return value.flatMap((item: unknown) => messagesOf(item, role))
  if (!isJsonObject(value)) return []
  const around = value["messages"] ?? value["choices"]
  if (Array.isArray(around)) return messagesOf(around, role)
  const inner = value["message"]
  if (isJsonObject(inner)) return [messageOf({ finish_reason: value["finish_reason"], ...inner }, role)]
  const isMessage = ["role", "content", "parts", "contents", "tool_calls"].some((name) => value[name] !== undefined)
  return isMessage ? [messageOf(value, role)] : [{ role, content: JSON.stringify(value), finish_reason: "" }]
}

function messageOf(message: Members, role: string): SpanMessage {
  const ownRole = textMember(message, "role") || role
  return { role: ownRole, content: contentOf(message, ownRole), finish_reason: textMember(message, "finish_reason") }
}

function contentOf(message: Members, role: string): string {
  const { parts, contents } = message
  // Strands: the answer of a choice is a text or its parts.
  const content = message["content"] ?? message["message"]
  if (Array.isArray(parts)) return JSON.stringify(parts)
  const calls = Array.isArray(message["tool_calls"]) ? message["tool_calls"].flatMap(toolCallPart) : []
  const body = Array.isArray(contents) ? contents.map(openInferencePart) : withToolParts(content)
  if (calls.length > 0) return JSON.stringify([...partsOf(body), ...calls])
  // Events of OpenTelemetry before 1.37 have it in `id`.
  const answered = textMember(message, "tool_call_id") || textMember(message, "id")
  if (role === "tool" && answered !== "") {
    return JSON.stringify([toolResponsePart(answered, body)])
  }
  if (body === undefined || body === null) return ""
  return typeof body === "string" ? body : JSON.stringify(body)
}

function partsOf(content: unknown): unknown[] {
  if (Array.isArray(content)) return content
  return typeof content === "string" && content !== "" ? [{ type: "text", content }] : []
}

/** OpenInference: `{message_content: {type, text}}`. */
function openInferencePart(part: unknown): unknown {
  return isJsonObject(part) && isJsonObject(part["message_content"]) ? part["message_content"] : part
}

/** Vercel's AI SDK, and Bedrock's messages, which Strands has: calls of tools and their results stand among the parts. */
function withToolParts(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return content.flatMap((part: unknown) => {
    if (!isJsonObject(part)) return [part]
    const { toolUse, toolResult } = part
    if (isJsonObject(toolUse)) return toolCallPart(toolUse)
    if (isJsonObject(toolResult)) return [toolResponsePart(toolResult["toolUseId"], toolResult["content"])]
    if (part["type"] === "tool-call") return toolCallPart(part)
    if (part["type"] !== "tool-result") return [part]
    const given = part["output"] ?? part["result"]
    const response = isJsonObject(given) && given["value"] !== undefined ? given["value"] : given
    return [toolResponsePart(part["toolCallId"], response)]
  })
}

function toolResponsePart(id: unknown, response: unknown): Members {
  return { type: "tool_call_response", id: id ?? "", response: response ?? "" }
}

/**
 * OpenAI `{id, function: {name, arguments}}`, OpenInference `{tool_call: …}`, OpenLLMetry `{id, name, arguments}`, Vercel
 * `{toolCallId, toolName, input}`, with `args` before version 5, Bedrock `{toolUseId, name, input}`.
 */
function toolCallPart(call: unknown): Members[] {
  if (!isJsonObject(call)) return []
  if (isJsonObject(call["tool_call"])) return toolCallPart(call["tool_call"])
  const called = isJsonObject(call["function"]) ? call["function"] : call
  const { name, arguments: given } = called
  return [
    {
      type: "tool_call",
      id: call["id"] ?? call["toolCallId"] ?? call["toolUseId"] ?? "",
      name: name ?? call["toolName"] ?? "",
      arguments: given ?? call["input"] ?? call["args"] ?? "",
    },
  ]
}

/** The model's reasoning, from parts that are marked as such. */
export function reasoningIn(messages: readonly SpanMessage[]): string {
  const parts = messages.flatMap(({ content }) => (content.startsWith("[") ? listIn(content) : []))
  const thoughts = parts.flatMap((part) => {
    if (!isJsonObject(part) || (part["type"] !== "reasoning" && part["type"] !== "thinking")) return []
    const thought = part["content"] ?? part["text"] ?? part["thinking"]
    return typeof thought === "string" && thought !== "" ? [thought] : []
  })
  return thoughts.join("\n")
}

/** Instructions as plain texts, of texts or of parts. */
export function instructionsIn(json: string): string[] {
  const value: unknown = parseExact(json)
  const list = Array.isArray(value) ? (value as unknown[]) : [value]
  return list.flatMap((part) => {
    const text = isJsonObject(part) ? (part["content"] ?? part["text"]) : part
    return typeof text === "string" && text !== "" ? [text] : []
  })
}

function listIn(json: string): unknown[] {
  try {
    const value: unknown = JSON.parse(json)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

function textMember(message: Members, name: string): string {
  const value = message[name]
  return typeof value === "string" ? value : ""
}
