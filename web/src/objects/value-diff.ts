/** Differences between two JSON values: paths of the innermost values that differ. */
import { kindAt, skipBlanks } from "../json/json-cursor.ts"
import { elementTexts, type JsonText, memberTexts } from "../json/json-text.ts"

export interface ValueChange {
  /** `scorers[0].name`; "" is the whole value. */
  path: string
  /** null: it was not there. */
  before: JsonText | null
  /** null: it is not there any more. */
  after: JsonText | null
}

/** Deeper values are compared as a whole. */
const deepest = 32

/** Numbers are compared as they are written. */
export function diffValues(before: JsonText | null, after: JsonText | null, path = "", depth = 0): ValueChange[] {
  if (before === after) return []
  const [old, now] = [partsOf(before, depth), partsOf(after, depth)]
  if (old === null || now === null || old.isList !== now.isList) return [{ path, before, after }]
  const names = new Set([...old.parts.keys(), ...now.parts.keys()])
  return [...names].flatMap((name) =>
    diffValues(old.parts.get(name) ?? null, now.parts.get(name) ?? null, pathTo(path, name, old.isList), depth + 1),
  )
}

function partsOf(text: JsonText | null, depth: number): { isList: boolean; parts: Map<string, JsonText> } | null {
  if (text === null || depth === deepest) return null
  const kind = kindAt(text, skipBlanks(text, 0))
  if (kind === "object") return { isList: false, parts: memberTexts(text) }
  if (kind !== "array") return null
  return { isList: true, parts: new Map(elementTexts(text).map((element, index) => [`${index}`, element])) }
}

function pathTo(path: string, name: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${name}]`
  if (!/^[\w$-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === "" ? name : `${path}.${name}`
}
