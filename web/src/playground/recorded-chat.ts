/** A recorded call as a conversation to go on with: its messages, tools and parameters, whichever API it was asked by. */
import { addArguments, partName, requestWrappers } from "../calls/chat-messages.ts"
import { elementTexts, type JsonText, memberTexts } from "../json/json-text.ts"
import { fieldText, isJsonObject } from "../json/parsed-json.ts"
import type { Parameters } from "./completion-body.ts"
import type { ToolCall, Turn } from "./conversation.ts"

export interface RecordedChat {
  prompt: Turn[]
  tools: string
  schema: string
  /** null: the call does not say. */
  model: string | null
  parameters: Parameters
  /** The answer, or null if none can be shown. */
  answer: Turn | null
  /** Parts of messages that are no text, by their names: they cannot be sent again. */
  leftOut: string[]
}

/** null: the call is no chat. */
export function recordedChat(inputs: JsonText, output: JsonText): RecordedChat | null {
  const request = requestOf(inputs)
  if (request === null) return null
  const leftOut: string[] = []
  const { messages, members } = request
  const system = instructionsOf(members, leftOut)
  const prompt = [
    ...(system === "" ? [] : [{ role: "system", text: system }]),
    ...(JSON.parse(messages) as unknown[]).flatMap((message) => turnsOf(message, leftOut)),
  ]
  return {
    prompt,
    tools: toolsOf(members.get("tools")),
    schema: schemaOf(members.get("response_format")),
    model: textMember(members, "model"),
    parameters: {
      temperature: numberMember(members, "temperature"),
      top_p: numberMember(members, "top_p"),
      max_tokens:
        numberMember(members, "max_completion_tokens") ??
        numberMember(members, "max_tokens") ??
        numberMember(members, "max_output_tokens"),
      seed: numberMember(members, "seed"),
      stop: stopOf(members.get("stop") ?? members.get("stop_sequences")),
    },
    answer: answerOf(JSON.parse(output), leftOut),
    leftOut: [...new Set(leftOut)],
  }
}

interface Request {
  messages: JsonText
  members: Map<string, JsonText>
}

function requestOf(text: JsonText, isInner = false): Request | null {
  if (!text.trimStart().startsWith("{")) return null
  const members = memberTexts(text)
  for (const name of ["messages", "input", "gen_ai.input.messages"]) {
    const list = members.get(name)
    if (list?.startsWith("[") === true && isMessages(list)) return { messages: list, members }
  }
  const asked = textMember(members, "input")
  // The Responses API takes a text for a list of one message.
  if (asked !== null && textMember(members, "model") !== null)
    return { messages: JSON.stringify([{ role: "user", content: asked }]) as JsonText, members }
  if (isInner) return null
  for (const name of requestWrappers) {
    const inner = members.get(name)
    const found = inner === undefined ? null : requestOf(inner, true)
    if (found !== null) return found
  }
  return null
}

function isMessages(list: JsonText): boolean {
  const items = JSON.parse(list) as unknown[]
  return (
    items.length > 0 &&
    items.every((item) => isJsonObject(item) && (typeof item["role"] === "string" || typeof item["type"] === "string"))
  )
}

/** A text, or a list of parts as Anthropic takes it for what is to be cached; "": none. */
function instructionsOf(members: Map<string, JsonText>, leftOut: string[]): string {
  const given = ["system", "instructions"].map((name) => partsOf(JSON.parse(members.get(name) ?? "null"), leftOut).text)
  return given.find((text) => text !== "") ?? ""
}

function turnsOf(value: unknown, leftOut: string[]): Turn[] {
  if (!isJsonObject(value)) return []
  const { role, type, content } = value
  if (type === "function_call") {
    return [{ role: "assistant", text: "", toolCalls: [callOf(value["call_id"] ?? value["id"], value)] }]
  }
  if (type === "function_call_output") {
    return [{ role: "tool", text: fieldText(value["output"]), toolCallId: fieldText(value["call_id"]) }]
  }
  if (typeof role !== "string") return []
  const read = partsOf(Array.isArray(value["parts"]) ? value["parts"] : content, leftOut)
  const calls = [
    ...read.calls,
    ...(Array.isArray(value["tool_calls"]) ? value["tool_calls"] : [])
      .filter(isJsonObject)
      .map((call) => callOf(call["id"], isJsonObject(call["function"]) ? call["function"] : call)),
  ]
  const id = value["tool_call_id"]
  const own: Turn = {
    role,
    text: read.text,
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
    ...(typeof id === "string" ? { toolCallId: id } : {}),
  }
  const isOnlyResults = read.results.length > 0 && read.text === "" && calls.length === 0
  return [...read.results, ...(isOnlyResults ? [] : [own])]
}

function callOf(id: unknown, called: Record<string, unknown>): ToolCall {
  return {
    id: fieldText(id),
    name: fieldText(called["name"]),
    arguments: fieldText(called["arguments"] ?? called["input"]),
  }
}

function partsOf(content: unknown, leftOut: string[]): { text: string; calls: ToolCall[]; results: Turn[] } {
  const read: ReturnType<typeof partsOf> = { text: "", calls: [], results: [] }
  if (!Array.isArray(content)) return { ...read, text: fieldText(content) }
  for (const part of content as unknown[]) {
    if (typeof part === "string") read.text += part
    if (!isJsonObject(part)) continue
    const { type, text, content: said } = part
    if (type === "tool_use" || type === "tool_call") read.calls.push(callOf(part["id"], part))
    else if (type === "tool_call_response") {
      const result = fieldText(part["response"] ?? part["result"])
      read.results.push({ role: "tool", text: result, toolCallId: fieldText(part["id"]) })
    }
    // OpenTelemetry's texts are under this name.
    else if (type === "text" && typeof said === "string") read.text += said
    else if (type === "tool_result") {
      const { text: result } = partsOf(part["content"], leftOut)
      read.results.push({ role: "tool", text: result, toolCallId: fieldText(part["tool_use_id"]) })
    } else if (typeof text === "string") read.text += text
    else if (type === "input_json_delta") addArguments(read.calls, fieldText(part["partial_json"]))
    else if (!unsaid.has(type)) {
      leftOut.push(partName(type))
    }
  }
  return read
}

/** Parts that are reasoning, and not sent again. */
const unsaid: ReadonlySet<unknown> = new Set(["thinking", "thinking_delta", "signature_delta", "reasoning"])

function answerOf(output: unknown, leftOut: string[]): Turn | null {
  if (typeof output === "string") return output === "" ? null : { role: "assistant", text: output }
  if (!isJsonObject(output)) return null
  const { choices, message, output: inner, messages, content, responses } = output
  // npm weave 0.11.1 puts streams together as lists: of answers of the Responses API, and of messages of Anthropic's.
  if (Array.isArray(responses)) return answerOf(responses.at(-1), leftOut)
  if (output["output.value"] !== undefined) return answerOf(output["output.value"], leftOut)
  const items = inner ?? messages ?? output["gen_ai.output.messages"]
  const first = Array.isArray(choices) ? (choices[0] as unknown) : undefined
  const said = isJsonObject(first) ? first["message"] : isJsonObject(message) ? message : null
  const turns = isJsonObject(said)
    ? turnsOf({ role: "assistant", ...said }, leftOut)
    : Array.isArray(items)
      ? items.flatMap((item) => turnsOf(item, leftOut))
      : content === undefined
        ? []
        : turnsOf({ ...output, role: "assistant" }, leftOut)
  const spoken = turns.filter(({ role }) => role === "assistant")
  if (spoken.length === 0) return null
  const calls = spoken.flatMap(({ toolCalls = [] }) => toolCalls)
  return {
    role: "assistant",
    text: spoken.map(({ text }) => text).join(""),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  }
}

/** In the form of a chat, whichever they had. Their schemas stay as they were written. */
function toolsOf(list: JsonText | undefined): string {
  if (list === undefined || !list.startsWith("[")) return ""
  const tools = elementTexts(list).flatMap((text) => {
    if (!text.startsWith("{")) return []
    const members = memberTexts(text)
    if (members.has("function")) return [text]
    const name = members.get("name")
    if (name === undefined) return []
    const schema = members.get("parameters") ?? members.get("input_schema")
    const fields = [
      `"name":${name}`,
      ...(members.has("description") ? [`"description":${members.get("description")}`] : []),
      ...(schema === undefined ? [] : [`"parameters":${schema}`]),
    ]
    return [`{"type":"function","function":{${fields.join(",")}}}`]
  })
  return tools.length === 0 ? "" : `[\n  ${tools.join(",\n  ")}\n]`
}

function schemaOf(format: JsonText | undefined): string {
  if (format === undefined || !format.startsWith("{")) return ""
  const members = memberTexts(format)
  const type = textMember(members, "type")
  if (type === "json_object") return '{"type": "object"}'
  if (type !== "json_schema") return ""
  const named = members.get("json_schema")
  return (named === undefined ? members.get("schema") : memberTexts(named).get("schema")) ?? ""
}

function stopOf(text: JsonText | undefined): string[] | undefined {
  if (text === undefined) return undefined
  const read: unknown = JSON.parse(text)
  const list = (Array.isArray(read) ? read : [read]).filter((item) => typeof item === "string")
  return list.length === 0 ? undefined : list
}

function textMember(members: Map<string, JsonText>, name: string): string | null {
  const text = members.get(name)
  return text?.startsWith('"') === true ? (JSON.parse(text) as string) : null
}

/** As it was written. */
function numberMember(members: Map<string, JsonText>, name: string): string | undefined {
  const text = members.get(name)
  return text !== undefined && /^-?\d/.test(text) ? text : undefined
}
