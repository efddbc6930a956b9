/** Turns of Anthropic's form to those of a chat, so that the same dialogue gives the same prompt by either (art-0.5.23 8). */
import type { ChatRequest } from "../../wire/inference/chat.ts"
import type { ContentBlock, CountTokensRequest, MessageTurn } from "../../wire/inference/messages.ts"
import { refused } from "../unsupported.ts"

type ChatMessage = ChatRequest["messages"][number]

/** @throws {HeddleError} `invalid_request` for a block that cannot be served, with its place. */
export function toChatMessages({ system, messages }: Pick<CountTokensRequest, "system" | "messages">): ChatMessage[] {
  return [...systemMessages(system), ...messages.flatMap((turn, place) => turnMessages(turn, `messages[${place}]`))]
}

function systemMessages(system: CountTokensRequest["system"]): ChatMessage[] {
  if (system == null || system.length === 0) return []
  return [{ role: "system", content: textOf(system, "system") }]
}

function turnMessages({ role, content }: MessageTurn, where: string): ChatMessage[] {
  const place = `${where}.content`
  if (role === "assistant") return [assistantMessage(content, place)]
  if (role === "system") return [{ role, content: textOf(content, place) }]
  return typeof content === "string" ? [{ role, content }] : userMessages(content, place)
}

/** A result of a tool is a turn of its own; texts between results are turns of the user. */
function userMessages(blocks: readonly ContentBlock[], where: string): ChatMessage[] {
  const messages: ChatMessage[] = []
  let texts: string[] | null = null
  for (const [index, block] of blocks.entries()) {
    const place = `${where}[${index}]`
    if (block.type === "tool_result") {
      texts = null
      messages.push(toolMessage(block, place))
      continue
    }
    if (texts === null) {
      texts = []
      messages.push({ role: "user", content: "" })
    }
    texts.push(blockText(block, place))
    messages.splice(-1, 1, { role: "user", content: texts.join("") })
  }
  return messages.length === 0 ? [{ role: "user", content: "" }] : messages
}

function toolMessage({ tool_use_id: id, content }: ContentBlock, where: string): ChatMessage {
  if (id == null) throw refused(`${where}.tool_use_id`, "the id of the tool_use block that it answers is missing")
  return { role: "tool", tool_call_id: id, content: content == null ? "" : textOf(content, `${where}.content`) }
}

function assistantMessage(content: MessageTurn["content"], where: string): ChatMessage {
  if (typeof content === "string") return { role: "assistant", content }
  const texts: string[] = []
  const thoughts: string[] = []
  const calls: object[] = []
  for (const [index, block] of content.entries()) {
    const place = `${where}[${index}]`
    if (block.type === "thinking") thoughts.push(block.thinking ?? "")
    else if (block.type === "tool_use") calls.push(toolCall(block, place))
    // Another provider's secret, which no template could write.
    else if (block.type !== "redacted_thinking") texts.push(blockText(block, place))
  }
  return {
    role: "assistant",
    content: texts.join(""),
    ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join("") }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

function toolCall({ id, name, input }: ContentBlock, where: string): object {
  if (id == null || name == null) throw refused(where, "a tool_use block needs its id and its name")
  return { id, type: "function", function: { name, arguments: JSON.stringify(input ?? {}) } }
}

function textOf(content: string | readonly { type: string }[], where: string): string {
  if (typeof content === "string") return content
  return content.map((block, index) => blockText(block as ContentBlock, `${where}[${index}]`)).join("")
}

function blockText({ type, text }: ContentBlock, where: string): string {
  if (type !== "text")
    throw refused(where, `blocks of the type "${type}" cannot stand here; models are given text only`)
  if (typeof text !== "string") throw refused(`${where}.text`, "the text is missing")
  return text
}
