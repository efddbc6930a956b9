/** Readable text in the messages of a span: evaluation-store-calls 10. */
import { mayChangeNumbers, parseExact } from "../../json/exact-json.ts"
import { JsonCursor } from "../../json/json-cursor.ts"
import type { SpanMessage } from "../../storage/traces/agents/span-table.ts"

/** A part of a message by the conventions of OpenTelemetry or of OpenAI. */
export type MessagePart = Readonly<Record<string, unknown>>

/** Most characters of a preview. */
const longestPreview = 280

/** Roles that are not the user's, whatever else an instrumentation calls them. */
const otherRoles = new Set(["assistant", "system", "developer", "tool", "tool_call", "tool_result"])

/** The parts of a content that is the JSON of a list; empty: it is plain text. */
export function partsOf(content: string): MessagePart[] {
  const list = listOf(content)
  return (list ?? []).filter((part): part is MessagePart => typeof part === "object" && part !== null)
}

/** Content that is nested too deep for the cursor counts as plain text. */
function listOf(content: string): unknown[] | null {
  if (!content.trimStart().startsWith("[")) return null
  try {
    const cursor = new JsonCursor(content)
    const text = cursor.value()
    cursor.end()
    return (mayChangeNumbers(text) ? parseExact(text) : JSON.parse(text)) as unknown[]
  } catch {
    return null
  }
}

/** The texts of a content. Reasoning is shown on its own, and tool calls are messages of theirs. */
export function textOf(content: string): string {
  const list = listOf(content)
  if (list === null) return content
  return list.flatMap(partText).join("\n")
}

function partText(part: unknown): string[] {
  if (typeof part === "string") return [part]
  if (typeof part !== "object" || part === null) return []
  const { type, content, text } = part as MessagePart
  if (type === "reasoning" || type === "thinking") return []
  const found = typeof content === "string" ? content : text
  return typeof found === "string" && found !== "" ? [found] : []
}

/** The user's last message. Messages of unknown roles count only if no message is the user's. */
export function lastUserText(messages: readonly SpanMessage[]): string {
  const texts = (of: (role: string) => boolean) =>
    messages
      .filter(({ role }) => of(role))
      .map(({ content }) => textOf(content))
      .filter((text) => text !== "")
  const own = texts((role) => role === "user")
  return (own.length > 0 ? own : texts(isUserRole)).at(-1) ?? ""
}

export function isUserRole(role: string): boolean {
  return !otherRoles.has(role)
}

/** The text of the answer. */
export function outputText(messages: readonly SpanMessage[]): string {
  const answers = messages.filter(({ role }) => role !== "user").map(({ content }) => textOf(content))
  return answers.filter((text) => text !== "").join("\n\n")
}

/** The messages at the end that the user said since somebody else spoke: those before were answered already. */
export function newUserMessages(messages: readonly SpanMessage[]): SpanMessage[] {
  const last = messages.findLastIndex(({ role }) => !isUserRole(role))
  return messages.slice(last + 1)
}

type PreviewRole = "user_message" | "assistant_message"

/** null: there is nothing to read. */
export function previewOf(
  role: PreviewRole,
  messages: readonly SpanMessage[],
): { role: PreviewRole; text: string } | null {
  const text = (role === "user_message" ? lastUserText(messages) : outputText(messages)).trim()
  if (text === "") return null
  const characters = Array.from(text)
  if (characters.length <= longestPreview) return { role, text }
  return { role, text: `${characters.slice(0, longestPreview).join("").trimEnd()}…` }
}
