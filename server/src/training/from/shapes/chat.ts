/**
 * The chat that a call recorded: what was asked, what was answered, with which tools. Known are the calls that clients of
 * chat completions, Responses and Messages make, spans of OpenTelemetry by their usual names, and functions that take a
 * text or a chat and give one.
 */
import { isJsonObject } from "../../../json/parsed-json.ts"
import { firstOf, isRef, type Loose, objectsOf, unpacked, valueAt } from "./loose.ts"
import { type Message, messagesOfOne } from "./message.ts"

export interface Recorded {
  inputs: unknown
  output: unknown
  attributes: unknown
}

const chatNames = [
  "messages",
  "gen_ai.input.messages",
  "gen_ai.prompt",
  "ai.prompt",
  "llm.input_messages",
  "pydantic_ai.all_messages",
  "events.gen_ai.user.message",
  "input.value",
  "traceloop.entity.input",
  "input",
  "prompt",
  "chat",
  "conversation",
  "question",
  "query",
  "text",
  "example",
]
/** Function arguments that are never the question. */
const notPrompt = new Set(["self", "model", "temperature", "stream", "user", "api_key"])

/** The messages before the answer, or null if the call is nothing like a chat. @throws {NotText} */
export function promptMessages(recorded: Recorded, path: readonly string[] | null): Message[] | null {
  const { attributes } = recorded
  const inputs = path === null ? argumentsOf(recorded.inputs) : recorded.inputs
  const given = path === null ? inputs : valueAt({ inputs, attributes }, path)
  const messages = path === null ? chatIn(given) : listOf(given)
  if (messages === null || messages.length === 0) return null
  const system = path === null ? systemOf(inputs, attributes) : null
  return system === null || messages[0]?.role === "system"
    ? messages
    : [{ role: "system", content: system }, ...messages]
}

/**
 * npm weave 0.11.1 does not know what the arguments of a function are called. Most functions take one object, whose members
 * are what Python's have as arguments; in evaluations it holds the row beside them.
 */
function argumentsOf(inputs: unknown): unknown {
  if (!isJsonObject(inputs)) return inputs
  const { arg0, datasetRow, ...others } = inputs
  const inner = [arg0, datasetRow].find(isJsonObject)
  return inner === undefined ? inputs : argumentsOf({ ...others, ...inner })
}

function chatIn(value: unknown): Message[] | null {
  const inputs = unpacked(value)
  if (!isJsonObject(inputs)) return listOf(inputs)
  for (const name of chatNames) {
    const inner = unpacked(inputs[name])
    const found = isJsonObject(inner) && inner["role"] === undefined ? chatIn(inner) : listOf(inner)
    if (found !== null && found.length > 0) return found
  }
  const texts = Object.entries(inputs).filter(
    ([name, one]) => !notPrompt.has(name) && typeof one === "string" && one !== "" && !isRef(one),
  )
  const [only, ...others] = texts
  return only === undefined || others.length > 0 ? null : [{ role: "user", content: String(only[1]) }]
}

/** null: an element is no message. */
function listOf(value: unknown): Message[] | null {
  const given = unpacked(value)
  if (!Array.isArray(given)) return messagesOfOne(given)
  const all: Message[] = []
  for (const one of given as unknown[]) {
    const messages = messagesOfOne(one)
    if (messages === null) return null
    all.push(...messages)
  }
  return joinedCalls(all)
}

/** Responses keeps each call of a tool as an item of its own. */
function joinedCalls(messages: readonly Message[]): Message[] {
  const joined: Message[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    const calls = message["tool_calls"]
    if (
      last?.role === "assistant" &&
      message.role === "assistant" &&
      message.content === null &&
      Array.isArray(calls)
    ) {
      const before = Array.isArray(last["tool_calls"]) ? (last["tool_calls"] as unknown[]) : []
      joined[joined.length - 1] = {
        ...last,
        content: last.content === "" ? null : last.content,
        tool_calls: [...before, ...calls],
      }
    } else joined.push(message)
  }
  return joined
}

function systemOf(inputs: unknown, attributes: unknown): string | null {
  const given = isJsonObject(inputs) ? firstOf(inputs, ["system", "instructions", "system_prompt"]) : undefined
  const value = unpacked(given ?? (isJsonObject(attributes) ? attributes["system"] : undefined))
  // `gen_ai.system` names the provider.
  if (given === undefined && typeof value === "string" && !/\s/.test(value)) return null
  if (typeof value === "string") return value === "" ? null : value
  const texts = objectsOf(value).flatMap((part) => {
    const text = firstOf(part, ["text", "content"])
    return typeof text === "string" ? [text] : []
  })
  return texts.length === 0 ? null : texts.join("\n")
}

export interface Answered {
  message: Message
  /** As the server gave it, with its ids and log-probabilities; null: the call holds no such choice. */
  choice: Loose | null
  /** More than one was given. */
  isOneOfSeveral: boolean
}

const answerNames = [
  "output_text",
  "answer",
  "response",
  "generated_text",
  "completion",
  "text",
  "result",
  "gen_ai.output.messages",
  "gen_ai.completion",
  "ai.response",
  "llm.output_messages",
  "events.gen_ai.choice",
  "output.value",
  "traceloop.entity.output",
  "messages",
  "output",
  "content",
  "model_output",
]

/** null: there is none. @throws {NotText} */
export function answerOf({ output, inputs }: Recorded, path: readonly string[] | null): Answered | null {
  const given = unpacked(path === null ? output : valueAt({ output, inputs }, path))
  if (!isJsonObject(given)) return only(lastAnswer(given))
  const choices = objectsOf(given["choices"])
  if (choices.length > 0) {
    const choice = choices[0] as Loose
    const source = isJsonObject(choice["message"])
      ? choice["message"]
      : { role: "assistant", content: choice["text"] ?? null }
    const message = lastAnswer([source])
    return message === null ? null : { message, choice, isOneOfSeveral: choices.length > 1 }
  }
  // npm weave 0.11.1 puts a stream of the Responses API together as a list of answers.
  const responses = objectsOf(given["responses"])
  if (responses.length > 0) return answerOf({ output: responses.at(-1), inputs, attributes: null }, null)
  if (given["role"] !== undefined || isJsonObject(given["message"])) return only(lastAnswer([given]))
  for (const name of answerNames) {
    if (given[name] == null) continue
    const inner = unpacked(given[name])
    const found =
      isJsonObject(inner) && inner["role"] === undefined
        ? answerOf({ output: inner, inputs, attributes: null }, null)?.message
        : lastAnswer(inner)
    if (found != null) return only(found)
  }
  return null
}

const only = (message: Message | null): Answered | null =>
  message === null ? null : { message, choice: null, isOneOfSeveral: false }

/** A text that stands alone is the assistant's. */
export function lastAnswer(value: unknown): Message | null {
  if (typeof value === "string")
    return value.trim() === "" || isRef(value) ? null : { role: "assistant", content: value }
  const messages = (Array.isArray(value) ? value : [value]).flatMap((one) =>
    isJsonObject(one)
      ? (messagesOfOne({ ...(one["message"] === undefined ? { role: "assistant" } : {}), ...one }) ?? [])
      : [],
  )
  const last = joinedCalls(messages).at(-1)
  if (last?.role !== "assistant") return null
  return (last.content ?? "").trim() === "" && last["tool_calls"] === undefined ? null : last
}

/** In the form of chat completions; null: none. */
export function toolsOf(recorded: Recorded, path: readonly string[] | null): Loose[] | null {
  const { attributes } = recorded
  const inputs = path === null ? argumentsOf(recorded.inputs) : recorded.inputs
  const usual =
    isJsonObject(inputs) && inputs["tools"] != null
      ? inputs["tools"]
      : isJsonObject(attributes)
        ? attributes["tools"]
        : null
  const tools = objectsOf(unpacked(path === null ? usual : valueAt({ inputs, attributes }, path))).flatMap(toolOf)
  return tools.length === 0 ? null : tools
}

function toolOf(tool: Loose): Loose[] {
  if (isJsonObject(tool["function"])) return [tool]
  if (typeof tool["name"] !== "string") return []
  const { name, description } = tool
  const parameters = firstOf(tool, ["parameters", "input_schema", "inputSchema"]) ?? {}
  return [{ type: "function", function: { name, ...(description == null ? {} : { description }), parameters } }]
}
