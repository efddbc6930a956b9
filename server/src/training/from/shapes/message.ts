/** One message of any of the known chats as a message of chat completions, which is what rows of training data hold. */
import { isJsonObject } from "../../../json/parsed-json.ts"
import { firstOf, isRef, type Loose, objectsOf, unpacked } from "./loose.ts"

export interface Message extends Loose {
  role: "system" | "user" | "assistant" | "tool"
  content: string | null
}

/** The message is not text alone: pictures and sounds cannot be trained on here. */
export class NotText extends Error {}

const roles: Readonly<Record<string, Message["role"]>> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "assistant",
  ai: "assistant",
  model: "assistant",
  tool: "tool",
  function: "tool",
}

/** A message may become several: the results of tools in it are messages of their own. null: it is none. @throws {NotText} */
export function messagesOfOne(given: unknown): Message[] | null {
  const outer = unpacked(given)
  if (typeof outer === "string") return outer === "" || isRef(outer) ? null : [{ role: "user", content: outer }]
  if (!isJsonObject(outer)) return null
  const value = isJsonObject(outer["message"]) && outer["role"] === undefined ? outer["message"] : outer
  const itemType = value["type"]
  if (itemType === "function_call")
    return [called([toolCall(value["call_id"], value["name"], value["arguments"])], null)]
  if (itemType === "function_call_output") return [result(value["call_id"], value["output"])]
  if (itemType === "reasoning") return []
  const role = roles[String(value["role"] ?? itemType)]
  if (role === undefined) return null
  const parts = partsOf(firstOf(value, ["content", "parts", "contents"]))
  const calls = [...objectsOf(value["tool_calls"]).map(openAiCall), ...parts.calls]
  if (role === "assistant" && calls.length > 0) return [called(calls, parts.text)]
  if (role === "tool" && parts.results.length === 0) {
    return [{ role, content: parts.text ?? "", tool_call_id: value["tool_call_id"] ?? null, ...named(value) }]
  }
  if (parts.text === null && parts.results.length === 0) return role === "assistant" ? [{ role, content: "" }] : []
  return [...parts.results, ...(parts.text === null ? [] : [{ role, content: parts.text, ...named(value) }])]
}

const named = (value: Loose): Loose => (typeof value["name"] === "string" ? { name: value["name"] } : {})

const called = (calls: Loose[], content: string | null): Message => ({ role: "assistant", content, tool_calls: calls })

const result = (id: unknown, content: unknown): Message => ({
  role: "tool",
  content: textOf(content),
  tool_call_id: id ?? null,
})

function toolCall(id: unknown, name: unknown, given: unknown): Loose {
  return {
    id: id ?? null,
    type: "function",
    function: { name: typeof name === "string" ? name : "", arguments: textOf(given) },
  }
}

function openAiCall(call: Loose): Loose {
  const inner = isJsonObject(call["tool_call"]) ? call["tool_call"] : call
  const made = isJsonObject(inner["function"]) ? inner["function"] : inner
  return toolCall(inner["id"], made["name"], firstOf(made, ["arguments", "args", "input"]) ?? {})
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : Array.isArray(value) ? (partsOf(value).text ?? "") : JSON.stringify(value ?? {})

interface Parts {
  text: string | null
  calls: Loose[]
  results: Message[]
}

const textTypes = new Set(["text", "input_text", "output_text", "refusal", "summary_text", "string"])
const callTypes = new Set(["tool_use", "tool_call", "function_call", "tool-call"])
const resultTypes = new Set(["tool_result", "tool_call_response", "tool-result"])
const thinkingTypes = new Set(["thinking", "redacted_thinking", "reasoning", "thinking_delta", "signature_delta"])

/** @throws {NotText} */
function partsOf(content: unknown): Parts {
  const parts: Parts = { text: null, calls: [], results: [] }
  if (content == null) return parts
  if (typeof content === "string") return { ...parts, text: content }
  if (!Array.isArray(content)) return { ...parts, text: JSON.stringify(content) }
  const texts: string[] = []
  for (const part of content as unknown[]) {
    if (typeof part === "string") texts.push(part)
    else if (isJsonObject(part)) addPart(part, texts, parts)
  }
  return { ...parts, text: texts.length === 0 ? null : texts.join("\n") }
}

function addPart(part: Loose, texts: string[], parts: Parts): void {
  const given = part["type"] ?? (typeof part["text"] === "string" ? "text" : "")
  const type = typeof given === "string" ? given : ""
  if (thinkingTypes.has(type)) return
  if (type === "text_delta") texts.push((texts.pop() ?? "") + textOf(part["text"]))
  else if (type === "input_json_delta") addArguments(parts.calls, textOf(part["partial_json"]))
  else if (textTypes.has(type)) texts.push(textOf(firstOf(part, ["text", "content", "refusal"]) ?? ""))
  else if (callTypes.has(type)) {
    parts.calls.push(
      toolCall(
        firstOf(part, ["id", "toolCallId"]),
        firstOf(part, ["name", "toolName"]),
        firstOf(part, ["input", "arguments", "args"]),
      ),
    )
  } else if (resultTypes.has(type)) {
    const content = firstOf(part, ["content", "response", "result", "output"])
    parts.results.push(result(firstOf(part, ["tool_use_id", "id", "toolCallId"]), content))
  } else throw new NotText(`a part of the type "${type}"`)
}

/**
 * npm weave 0.11.1 keeps the pieces of Anthropic's streams behind the block that they belong to, which begins empty. A call
 * without arguments has one piece, the empty text.
 */
function addArguments(calls: Loose[], piece: string): void {
  if (piece === "") return
  const call = calls.at(-1)?.["function"]
  if (isJsonObject(call)) call["arguments"] = call["arguments"] === "{}" ? piece : String(call["arguments"]) + piece
}
