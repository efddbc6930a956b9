/** One line of a payload, for rows: what was said, without the braces around it. */
import { kindAt, skipBlanks } from "../json/json-cursor.ts"
import { elementTexts, type JsonText, memberTexts } from "../json/json-text.ts"

/** Members that hold what was said, the likeliest first. */
const telling = [
  "messages",
  "content",
  "text",
  "question",
  "query",
  "prompt",
  "input",
  "output",
  "choices",
  "message",
  "answer",
]
const deepest = 6
const longest = 300

/** Numbers stand as they were written. */
export function payloadPreview(payload: JsonText): string {
  const text = previewOf(payload, 0).replaceAll(/\s+/g, " ").trim()
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

function previewOf(text: JsonText, depth: number): string {
  const kind = kindAt(text, skipBlanks(text, 0))
  if (kind === "string") return JSON.parse(text) as string
  if (depth === deepest) return text
  if (kind === "object") return previewOfObject(text, depth)
  // Of a list of messages only the last one is new.
  const last = kind === "array" ? lastOf(elementTexts(text)) : undefined
  return last === undefined ? (kind === "array" || kind === "null" ? "" : text) : previewOf(last, depth + 1)
}

function previewOfObject(text: JsonText, depth: number): string {
  const members = memberTexts(text)
  // npm weave stores the object whose method was called, such as a client with all its settings, beside what it was asked.
  const isMethod = members.size > 1 && members.delete("self")
  const wanted = telling.find((name) => isTold(name, members.get(name)))
  const [only] = members.values()
  const inner = wanted === undefined ? (members.size === 1 ? only : undefined) : members.get(wanted)
  if (inner !== undefined) return previewOf(inner, depth + 1)
  if (members.size === 0) return ""
  return isMethod ? `{${[...members].map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(", ")}}` : text
}

/** The `text` of the Responses API is a setting: `{"format": …}`. */
function isTold(name: string, value: JsonText | undefined): boolean {
  if (value === undefined || value === "null") return false
  return name !== "text" || kindAt(value, 0) !== "object" || !memberTexts(value).has("format")
}

/** Of the pieces of one answer, as npm weave stores a stream of Anthropic, all that they say. */
function lastOf(elements: readonly JsonText[]): JsonText | undefined {
  const last = elements.at(-1)
  if (last === undefined || pieceOf(last) === null) return last
  return JSON.stringify(elements.map((element) => pieceOf(element) ?? "").join("")) as JsonText
}

/** null: it is no piece of an answer. */
function pieceOf(element: JsonText): string | null {
  if (kindAt(element, 0) !== "object") return null
  const members = memberTexts(element)
  const text = members.get("text")
  if (members.get("type") !== '"text_delta"' || text === undefined || kindAt(text, 0) !== "string") return null
  return JSON.parse(text) as string
}
