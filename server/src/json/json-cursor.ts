/**
 * Walks JSON text without making values of it, so that what is not looked into keeps every byte
 * (law 3). It accepts what Python's reader does: the grammar of RFC 8259, and the bare tokens `NaN`,
 * `Infinity` and `-Infinity` (evaluation-store-calls 1.1).
 *
 * Bodies that stay bytes are walked by `JsonScanner` instead: to make strings of them costs more than
 * to read them, and to make bytes of what is a string already would cost it here.
 */
import { endOfString } from "./json-string.ts"
import { JsonTextError, maximumJsonDepth } from "./json-text-error.ts"

export type JsonKind = "object" | "array" | "string" | "number" | "true" | "false" | "null" | "not_finite"

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const notFiniteToken = /-?Infinity|NaN/y
const controlCharacter = /[^ -\uffff]/

export class JsonCursor {
  readonly text: string
  /** Offset of the next character to read. */
  at: number
  #depth = 0

  constructor(text: string, at = 0) {
    this.text = text
    this.at = at
  }

  /** Kind of the value at the cursor; spaces before it are consumed. */
  kind(): JsonKind {
    const code = this.#code()
    if (code === openBrace) return "object"
    if (code === openBracket) return "array"
    if (code === quote) return "string"
    if (this.text.startsWith("true", this.at)) return "true"
    if (this.text.startsWith("false", this.at)) return "false"
    if (this.text.startsWith("null", this.at)) return "null"
    notFiniteToken.lastIndex = this.at
    if (notFiniteToken.test(this.text)) return "not_finite"
    if (code === minus || (code >= 0x30 && code <= 0x39)) return "number"
    throw this.#unexpected()
  }

  /** Consumes `{`. false: the object is empty, and its end is consumed too. Then {@link key}, the value, {@link nextMember}. */
  enterObject(): boolean {
    return this.#enter(closeBrace)
  }

  /** Consumes `[`. false: the array is empty, and its end is consumed too. Then the value, {@link nextElement}. */
  enterArray(): boolean {
    return this.#enter(closeBracket)
  }

  /** Consumes a key and its colon; returns the key with its quotes and escapes. */
  key(): string {
    if (this.#code() !== quote) throw this.#unexpected()
    const token = this.stringToken()
    if (this.#code() !== colon) throw this.#unexpected()
    this.at++
    return token
  }

  /** After the value of a member: whether another one follows. */
  nextMember(): boolean {
    return this.#next(closeBrace)
  }

  /** After an element: whether another one follows. */
  nextElement(): boolean {
    return this.#next(closeBracket)
  }

  /** Consumes a string; returns it with its quotes and escapes, which are not checked but for their ends. */
  stringToken(): string {
    const start = this.at
    const end = endOfString(this.text, start)
    if (end === -1) throw new JsonTextError("syntax", `the string at character ${start} has no end`)
    this.at = end + 1
    return this.text.slice(start, this.at)
  }

  /** Consumes a number; returns it as it is spelled. */
  numberToken(): string {
    return this.#token(numberToken)
  }

  /** Consumes `true`, `false`, `null`, `NaN`, `Infinity` or `-Infinity`. */
  literalToken(kind: JsonKind): string {
    if (kind === "not_finite") return this.#token(notFiniteToken)
    this.at += kind.length
    return kind
  }

  /** Consumes any value and checks it; returns its text. */
  value(): string {
    const kind = this.kind()
    const start = this.at
    this.#skip(kind)
    return this.text.slice(start, this.at)
  }

  /** @throws {JsonTextError} when anything but spaces follows. */
  end(): void {
    if (!Number.isNaN(this.#code())) throw this.#unexpected()
  }

  #skip(kind: JsonKind): void {
    if (kind === "object") {
      if (!this.enterObject()) return
      do {
        checkedString(this.key())
        this.#skip(this.kind())
      } while (this.nextMember())
    } else if (kind === "array") {
      if (!this.enterArray()) return
      do this.#skip(this.kind())
      while (this.nextElement())
    } else if (kind === "string") checkedString(this.stringToken())
    else if (kind === "number") this.numberToken()
    else this.literalToken(kind)
  }

  #enter(close: number): boolean {
    if (++this.#depth > maximumJsonDepth) {
      throw new JsonTextError("too_deep", `values are nested in more than ${maximumJsonDepth} levels`)
    }
    this.at++
    if (this.#code() !== close) return true
    this.at++
    this.#depth--
    return false
  }

  #next(close: number): boolean {
    const code = this.#code()
    if (code !== comma && code !== close) throw this.#unexpected()
    this.at++
    if (code === comma) return true
    this.#depth--
    return false
  }

  /** The next character that is no space; NaN at the end. */
  #code(): number {
    let code = this.text.charCodeAt(this.at)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = this.text.charCodeAt(++this.at)
    return code
  }

  #token(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const token = pattern.exec(this.text)?.[0]
    if (token === undefined) throw this.#unexpected()
    this.at += token.length
    return token
  }

  #unexpected(): JsonTextError {
    const character = this.text[this.at]
    const what = character === undefined ? "the text ends" : `unexpected ${JSON.stringify(character)}`
    return new JsonTextError("syntax", `${what} at character ${this.at}`)
  }
}

/** The string that a token of {@link JsonCursor.stringToken} stands for. */
export function stringOf(token: string): string {
  if (!token.includes("\\") && !controlCharacter.test(token)) return token.slice(1, -1)
  return checkedString(token)
}

function checkedString(token: string): string {
  if (!token.includes("\\") && !controlCharacter.test(token)) return token
  try {
    return JSON.parse(token) as string
  } catch {
    throw new JsonTextError("syntax", `not a JSON string: ${token.length > 80 ? `${token.slice(0, 80)}…` : token}`)
  }
}
