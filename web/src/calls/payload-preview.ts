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
  if (kind === "object") {
    const members = memberTexts(text)
    const [only] = members.values()
    const wanted = telling.map((name) => members.get(name)).find((value) => value !== undefined && value !== "null")
    const inner = wanted ?? (members.size === 1 ? only : undefined)
    return inner === undefined ? (members.size === 0 ? "" : text) : previewOf(inner, depth + 1)
  }
  // Of a list of messages only the last one is new.
  const last = kind === "array" ? elementTexts(text).at(-1) : undefined
  return last === undefined ? (kind === "array" || kind === "null" ? "" : text) : previewOf(last, depth + 1)
}
