/** Reads a request whose payloads stay text. */
import { JsonCursor, stringOf } from "./json-cursor.ts"
import { endOfString } from "./json-string.ts"

/** What to do with the values at a path of names, `*` standing for every element: consume the value, return what it becomes. */
export type JsonTakers = Readonly<Record<string, (cursor: JsonCursor) => unknown>>

/**
 * The parsed text, with what the takers return in place of the values at their paths.
 * @throws {JsonTextError}
 */
export function readParts(text: string, takers: JsonTakers): unknown {
  const cursor = new JsonCursor(text)
  const value = readValue(cursor, "", takers)
  cursor.end()
  return value
}

function readValue(cursor: JsonCursor, path: string, takers: JsonTakers): unknown {
  const take = takers[path]
  if (take !== undefined) return take(cursor)
  const kind = cursor.kind()
  if (Object.keys(takers).some((taken) => taken.startsWith(path === "" ? path : `${path}.`))) {
    if (kind === "object") return readObject(cursor, path, takers)
    if (kind === "array") return readArray(cursor, path, takers)
  }
  return JSON.parse(withoutNotFinite(cursor.value()))
}

function readObject(cursor: JsonCursor, path: string, takers: JsonTakers): object {
  const members = new Map<string, unknown>()
  if (!cursor.enterObject()) return {}
  do {
    const key = stringOf(cursor.key())
    members.set(key, readValue(cursor, path === "" ? key : `${path}.${key}`, takers))
  } while (cursor.nextMember())
  return Object.fromEntries(members)
}

function readArray(cursor: JsonCursor, path: string, takers: JsonTakers): unknown[] {
  const elements: unknown[] = []
  if (!cursor.enterArray()) return elements
  do elements.push(readValue(cursor, `${path}.*`, takers))
  while (cursor.nextElement())
  return elements
}

/** The same JSON text with `null` for the bare tokens `NaN`, `Infinity` and `-Infinity`, which JSON does not have. */
export function withoutNotFinite(text: string): string {
  if (!/NaN|Infinity/.test(text)) return text
  const tokens = /"|-?Infinity|NaN/g
  const pieces: string[] = []
  let kept = 0
  for (let token = tokens.exec(text); token !== null; token = tokens.exec(text)) {
    if (token[0] === '"') {
      const end = endOfString(text, token.index)
      if (end === -1) break
      tokens.lastIndex = end + 1
    } else {
      pieces.push(text.slice(kept, token.index), "null")
      kept = tokens.lastIndex
    }
  }
  return pieces.join("") + text.slice(kept)
}
