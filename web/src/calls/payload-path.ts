/** Values at a path of a payload, which stays text. */
import type { Call } from "../api/calls/calls.ts"
import { kindAt, skipBlanks } from "../json/json-cursor.ts"
import { elementTexts, type JsonText, memberTexts } from "../json/json-text.ts"

/** The text of the value at a path such as `["ticket", "id"]`; null: there is none. */
export function valueAt(payload: JsonText, path: readonly string[]): JsonText | null {
  let text: JsonText | undefined = payload
  for (const step of path) {
    const kind = kindAt(text, skipBlanks(text, 0))
    text =
      kind === "object" ? memberTexts(text).get(step) : kind === "array" ? elementTexts(text)[Number(step)] : undefined
    if (text === undefined) return null
  }
  return text
}

const deepest = 2
const mostNames = 40

/** Paths of values in a payload that could be columns: members, and members of members. */
export function pathsOf(payload: JsonText, head: string, depth = 0): string[] {
  if (kindAt(payload, skipBlanks(payload, 0)) !== "object" || depth === deepest) return depth === 0 ? [] : [head]
  const members = [...memberTexts(payload)].slice(0, mostNames).filter(([name]) => /^[\w-]+$/.test(name))
  return members.flatMap(([name, value]) => pathsOf(value, `${head}.${name}`, depth + 1))
}

const knownPaths = new WeakMap<Call, string[]>()

/** Those in what a call took, gave and was told of; they are looked for once. */
export function pathsOfCall(call: Call): string[] {
  const known = knownPaths.get(call)
  if (known !== undefined) return known
  const heads = ["inputs", "output", "attributes"] as const
  const found = heads.flatMap((head) => pathsOf(call[head], head))
  knownPaths.set(call, found)
  return found
}
