/** Reads a request whose payloads stay text. */
import { JsonCursor, stringOf } from "./json-cursor.ts"
import { endOfString } from "./json-string.ts"
import { JsonTextError } from "./json-text-error.ts"
import { countValues } from "./value-count.ts"

/** Handlers by path, `*` standing for every element: each consumes the value and returns its replacement. */
export type JsonTakers = Readonly<Record<string, (cursor: JsonCursor) => unknown>>

/** Limit on the parsed values of one text: a few bytes of text can take many times their size in memory. */
const mostValues = 1_000_000

/**
 * The parsed text, with what the takers return in place of the values at their paths.
 * @throws {JsonTextError}
 */
export function readParts(text: string, takers: JsonTakers): unknown {
  const cursor = new JsonCursor(text)
  const value = new PartsReader(cursor, takers).value("")
  cursor.end()
  return value
}

class PartsReader {
  readonly #cursor: JsonCursor
  readonly #takers: JsonTakers
  #values = 0

  constructor(cursor: JsonCursor, takers: JsonTakers) {
    this.#cursor = cursor
    this.#takers = takers
  }

  value(path: string): unknown {
    // Members of the request name paths: "constructor" must not find what every object has.
    const take = Object.hasOwn(this.#takers, path) ? this.#takers[path] : undefined
    if (take !== undefined) return take(this.#cursor)
    const kind = this.#cursor.kind()
    if (Object.keys(this.#takers).some((taken) => taken.startsWith(path === "" ? path : `${path}.`))) {
      if (kind === "object") return this.#object(path)
      if (kind === "array") return this.#array(path)
    }
    const text = this.#cursor.value()
    this.#count(kind === "object" || kind === "array" ? countValues(text) : 1)
    return JSON.parse(withoutNotFinite(text))
  }

  #object(path: string): object {
    const members = new Map<string, unknown>()
    if (!this.#cursor.enterObject()) return {}
    do {
      const key = stringOf(this.#cursor.key())
      members.set(key, this.value(path === "" ? key : `${path}.${key}`))
    } while (this.#cursor.nextMember())
    return Object.fromEntries(members)
  }

  #array(path: string): unknown[] {
    const elements: unknown[] = []
    if (!this.#cursor.enterArray()) return elements
    do elements.push(this.value(`${path}.*`))
    while (this.#cursor.nextElement())
    return elements
  }

  #count(values: number): void {
    this.#values += values
    if (this.#values <= mostValues) return
    throw new JsonTextError("too_many", `the body has more than ${mostValues} values. Send it in smaller parts`)
  }
}

/** The same JSON text with something else, by default `null`, for the bare tokens `NaN`, `Infinity` and `-Infinity`, which JSON does not have. */
export function withoutNotFinite(text: string, replacementOf: (token: string) => string = () => "null"): string {
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
      pieces.push(text.slice(kept, token.index), replacementOf(token[0]))
      kept = tokens.lastIndex
    }
  }
  return pieces.join("") + text.slice(kept)
}
