/** The messages of a call, when its payloads are a chat: those of OpenAI, of Anthropic, and of what is traced around them. */
import type { JsonText } from "../json/json-text.ts"
import { type Media, mediaIn } from "../media/media.ts"
import { fieldText, isJsonObject } from "../json/parsed-json.ts"

export interface ToolCall {
  name: string
  /** As the model wrote them. */
  arguments: string
}

export interface ChatMessage {
  role: string
  text: string
  /** The model's reasoning before its answer. */
  reasoning: string
  toolCalls: ToolCall[]
  /** Parts that are neither text nor media that can be shown: "image". */
  otherParts: string[]
  media: Media[]
}

export interface Chat {
  messages: ChatMessage[]
  /** How many of them are the answer: the last ones. */
  answered: number
  tools: number
}

/** Where requests are wrapped: `{"kwargs": {"messages": […]}}`; npm weave 0.11.1 has Anthropic's in `arg0`, OpenInference all. */
export const requestWrappers: readonly string[] = [
  "kwargs",
  "request",
  "body",
  "inputs",
  "input",
  "params",
  "arg0",
  "input.value",
]

/** null: the call is no chat. */
export function chatOf(inputs: JsonText, output: JsonText): Chat | null {
  const request = requestOf(JSON.parse(inputs))
  if (request === null) return null
  const prompt = request.messages.flatMap(messageOf)
  const answers = answersOf(JSON.parse(output))
  if (prompt.length === 0) return null
  // Any function may take a model and a text. Shown as a chat, what it gives would be nowhere if it is no answer of one.
  if (request.isText && answers.length === 0 && output !== "null") return null
  const isSaid = typeof request.system === "string" || Array.isArray(request.system)
  const system = isSaid ? messageOf({ role: "system", content: request.system }) : []
  return { messages: [...system, ...prompt, ...answers], answered: answers.length, tools: request.tools }
}

interface Request {
  messages: unknown[]
  /** A text stood for them. */
  isText: boolean
  /** A text, or a list of parts as Anthropic takes it for what is to be cached. */
  system: unknown
  tools: number
}

function requestOf(value: unknown, isInner = false): Request | null {
  if (!isJsonObject(value)) return null
  const alone = askedAlone(value)
  const messages = [value["messages"], value["input"], value["gen_ai.input.messages"], alone].find(
    (list) => Array.isArray(list) && list.length > 0 && list.every(isMessage),
  )
  if (Array.isArray(messages)) {
    return {
      messages,
      isText: messages === alone,
      system: value["system"] ?? value["instructions"],
      tools: Array.isArray(value["tools"]) ? value["tools"].length : 0,
    }
  }
  if (isInner) return null
  return requestWrappers.map((name) => requestOf(value[name], true)).find((found) => found !== null) ?? null
}

/** The Responses API takes a text for a list of one message. */
function askedAlone({ model, input }: Record<string, unknown>): unknown[] {
  return typeof model === "string" && typeof input === "string" ? [{ role: "user", content: input }] : []
}

function isMessage(value: unknown): boolean {
  return isJsonObject(value) && (typeof value["role"] === "string" || typeof value["type"] === "string")
}

function answersOf(output: unknown): ChatMessage[] {
  if (typeof output === "string") return [plain("assistant", output)]
  if (Array.isArray(output)) return output.filter(isMessage).flatMap(messageOf)
  if (!isJsonObject(output)) return []
  const { choices, message, messages, output: inner, content, responses } = output
  if (Array.isArray(choices))
    return choices.flatMap((choice) => (isJsonObject(choice) ? messageOf(choice["message"]) : []))
  if (isJsonObject(message)) return messageOf(message)
  const list = [messages, inner, output["gen_ai.output.messages"]].find(Array.isArray)
  if (list !== undefined) return list.filter(isMessage).flatMap(messageOf)
  // npm weave 0.11.1 puts a stream of the Responses API together as a list of answers.
  if (Array.isArray(responses)) return responses.flatMap(answersOf)
  if (output["output.value"] !== undefined) return answersOf(output["output.value"])
  return content === undefined ? [] : messageOf({ role: "assistant", ...output })
}

function messageOf(value: unknown): ChatMessage[] {
  if (!isJsonObject(value)) return []
  const { role, type, content } = value
  // Items of the Responses API that are no messages.
  if (type === "function_call") {
    return [
      {
        ...plain("assistant", ""),
        toolCalls: [{ name: fieldText(value["name"]), arguments: fieldText(value["arguments"]) }],
      },
    ]
  }
  if (type === "function_call_output") return [plain("tool", fieldText(value["output"]))]
  const parts = Array.isArray(content) ? content : Array.isArray(value["parts"]) ? value["parts"] : null
  const read = parts === null ? readContent(content) : readParts(parts)
  const calls = Array.isArray(value["tool_calls"]) ? value["tool_calls"].flatMap(toolCallOf) : []
  return [
    {
      ...read,
      role: typeof role === "string" ? role : "assistant",
      reasoning: read.reasoning + fieldText(value["reasoning_content"] ?? value["reasoning"]),
      toolCalls: [...read.toolCalls, ...calls],
    },
  ]
}

/** A text, or one thing that the SDK stored: a picture. */
function readContent(content: unknown): Omit<ChatMessage, "role"> {
  const message = plain("", "")
  return isJsonObject(content) && addMedia(message, content) ? message : plain("", fieldText(content))
}

function readParts(parts: readonly unknown[]): Omit<ChatMessage, "role"> {
  const message: Omit<ChatMessage, "role"> = { text: "", reasoning: "", toolCalls: [], otherParts: [], media: [] }
  for (const part of parts) {
    if (typeof part === "string") message.text += part
    if (!isJsonObject(part)) continue
    const { type, text, thinking, content } = part
    if (type === "tool_use" || type === "tool_call")
      message.toolCalls.push({
        name: fieldText(part["name"]),
        arguments: fieldText(part["input"] ?? part["arguments"]),
      })
    else if (type === "tool_call_response") message.text += fieldText(part["response"] ?? part["result"])
    else if (type === "input_json_delta") addArguments(message.toolCalls, fieldText(part["partial_json"]))
    else if (type === "thinking" || type === "thinking_delta" || type === "reasoning")
      message.reasoning += fieldText(thinking ?? text ?? content)
    else if (text !== undefined || type === "text") message.text += fieldText(text ?? content)
    else if (addMedia(message, part)) continue
    else if (type === "tool_result") message.text += fieldText(content)
    else if (type === "signature_delta") continue
    else message.otherParts.push(partName(type))
  }
  return message
}

/** Of a part that is no text, by the type that an API gives it: "image". */
export function partName(type: unknown): string {
  return fieldText(type ?? "part").replace(/^(?:input_)?(image)(?:_url)?$/, "$1")
}

/**
 * npm weave 0.11.1 keeps the pieces of Anthropic's streams behind the block that they belong to, which begins empty. A call
 * without arguments has one piece, the empty text.
 */
export function addArguments(calls: ToolCall[], piece: string): void {
  if (piece === "") return
  const call = calls.at(-1)
  if (call !== undefined) call.arguments = call.arguments === "{}" ? piece : call.arguments + piece
}

/** False: the part holds none. The texts beside them, as in the result of a tool, stay texts. */
function addMedia(message: Omit<ChatMessage, "role">, part: Record<string, unknown>): boolean {
  const media = mediaIn(part)
  message.media.push(...media)
  if (media.length > 0 && Array.isArray(part["content"])) {
    for (const inner of part["content"]) if (isJsonObject(inner)) message.text += fieldText(inner["text"])
  }
  return media.length > 0
}

function toolCallOf(value: unknown): ToolCall[] {
  if (!isJsonObject(value)) return []
  const called = isJsonObject(value["function"]) ? value["function"] : value
  return [{ name: fieldText(called["name"]), arguments: fieldText(called["arguments"]) }]
}

function plain(role: string, text: string): ChatMessage {
  return { role, text, reasoning: "", toolCalls: [], otherParts: [], media: [] }
}
