/** JSON values as a person reads them: text as it is, what holds one text alone as that text, else JSON on several lines. */
import { payloadPreview } from "../calls/payload-preview.ts"
import { elementTexts, type JsonText, memberTexts } from "../json/json-text.ts"

const deepest = 12
/** Shorter values stay on one line. */
const shortest = 60

/** Numbers stand as they were written. */
export function readableText(json: JsonText): string {
  if (json.startsWith('"')) return JSON.parse(json) as string
  if (json.startsWith("{")) {
    const [only, ...others] = memberTexts(json).values()
    if (only?.startsWith('"') === true && others.length === 0) return JSON.parse(only) as string
  }
  return json === "null" ? "nothing" : indented(json, 0)
}

function indented(json: JsonText, depth: number): string {
  const isObject = json.startsWith("{")
  if (json.length <= shortest || depth === deepest || !(isObject || json.startsWith("["))) return json
  const lines = isObject
    ? Array.from(memberTexts(json), ([name, value]) => `${JSON.stringify(name)}: ${indented(value, depth + 1)}`)
    : elementTexts(json).map((value) => indented(value, depth + 1))
  const space = "  ".repeat(depth)
  const [start, end] = isObject ? "{}" : "[]"
  return `${start}\n${lines.map((line) => `${space}  ${line}`).join(",\n")}\n${space}${end}`
}

/** The values inside objects, under the names that lead to them; of what is no object none. */
export function leafTexts(json: JsonText, path: readonly string[] = []): { name: string; value: JsonText }[] {
  if (json.startsWith("{") && path.length < deepest) {
    return Array.from(memberTexts(json)).flatMap(([name, value]) => leafTexts(value, [...path, name]))
  }
  return path.length === 0 ? [] : [{ name: path.join("."), value: json }]
}

/** One line for a row of a dataset: the first text that is in it, else all of it. */
export function rowPreview(data: JsonText): string {
  const text = payloadPreview(data)
  if (!text.startsWith("{") || !data.startsWith("{")) return text
  const first = [...memberTexts(data).values()].find((value) => value.startsWith('"'))
  return first === undefined ? text : payloadPreview(first)
}
