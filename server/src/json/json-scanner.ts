/**
 * Walks JSON in UTF-8 bytes, checks it by the grammar of RFC 8259 and finds where its values begin
 * and end, without making values of them: what is stored is then a copy of the bytes that came.
 *
 * It works on bytes because decoding a large body into a string costs more than scanning it. Like
 * Python's reader it accepts the bare tokens `NaN`, `Infinity` and `-Infinity`, and remembers that
 * it saw one. That the bytes are UTF-8 must have been checked before.
 */
import { JsonTextError, maximumJsonDepth } from "./json-text-error.ts"
import type { KeyTable } from "./key-table.ts"

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const dot = 0x2e
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** By byte: 1 for what may stand in a string as it is. */
const plain = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 0x20 && byte !== quote && byte !== backslash),
)
/** By byte: 1 for what may follow a backslash, 2 for `u`. */
const escapes = new Uint8Array(256)
for (const character of '"\\/bfnrt') escapes[character.charCodeAt(0)] = 1
escapes[0x75] = 2
const hexadecimal = new Uint8Array(256)
for (const character of "0123456789abcdefABCDEF") hexadecimal[character.charCodeAt(0)] = 1

const tokens = new Map(
  ["true", "false", "null", "NaN", "Infinity"].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
)
const minusInfinity = Buffer.from("-Infinity")

/**
 * 0: four bytes are all plain. A byte minus its bound borrows from its top bit. Also other plain ones may have another
 * result; they are then looked at one by one.
 */
function notPlain(word: number): number {
  const quotes = word ^ 0x22222222
  const backslashes = word ^ 0x5c5c5c5c
  const controls = (word - 0x20202020) & ~word
  return (((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes) | controls) & 0x80808080
}

/** Fewer digits, with a sign among them, are always less than 2^63, or than the largest double. */
const digitsOf64Bits = 19
const digitsOfDouble = 309

/** Which half of a surrogate pair the escape is whose `u` stands there. */
function surrogateAt(bytes: Buffer, at: number): "high" | "low" | null {
  if (bytes[at] !== 0x75 || ((bytes[at + 1] ?? 0) | 0x20) !== 0x64) return null
  const digit = Number.parseInt(String.fromCharCode(bytes[at + 2] ?? 0), 16)
  return digit >= 0xc ? "low" : digit >= 0x8 ? "high" : null
}

export class JsonScanner {
  readonly bytes: Buffer
  /** Offset of the next byte to read. */
  at = 0
  /** The same bytes, four at a time, from the first one on that lies at a multiple of four. */
  readonly #words: Int32Array
  readonly #firstWord: number
  /** Whether `NaN`, `Infinity` or `-Infinity` was seen so far. */
  sawNotFinite = false
  /**
   * Whether something was seen so far that readers with values of fixed size refuse, ClickHouse's among
   * them: half a surrogate pair, a whole number past 64 bits, a number past a double.
   */
  sawUnreadable = false
  #depth = 0
  /** Offset of the `u` of the escape that would complete the last opened surrogate pair. */
  #lowHalfAt = -1

  readonly #maximumDepth: number

  constructor(bytes: Buffer, maximumDepth = maximumJsonDepth) {
    this.bytes = bytes
    this.#maximumDepth = maximumDepth
    this.#firstWord = -bytes.byteOffset & 3
    const start = bytes.byteOffset + this.#firstWord
    this.#words = new Int32Array(bytes.buffer, start, Math.max(0, (bytes.length - this.#firstWord) >> 2))
  }

  /** The next byte that is no space, not consumed; -1 at the end. */
  peek(): number {
    const { bytes } = this
    let { at } = this
    let byte = bytes[at]
    if (byte !== undefined && byte > 0x20) return byte
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++at]
    this.at = at
    return byte ?? -1
  }

  /** Whether an object begins here. */
  isObject(): boolean {
    return this.peek() === openBrace
  }

  isArray(): boolean {
    return this.peek() === openBracket
  }

  /** Consumes `{`. false: the object is empty, and its end is consumed too. Then {@link key}, the value, {@link nextMember}. */
  enterObject(): boolean {
    return this.#enter(openBrace, closeBrace)
  }

  /** Consumes `[`. false: the array is empty, and its end is consumed too. Then the value, {@link nextElement}. */
  enterArray(): boolean {
    return this.#enter(openBracket, closeBracket)
  }

  /** Consumes a key and its colon; returns the index of the key in the table, -1 when it is not there. */
  keyIn(table: KeyTable): number {
    if (this.peek() !== quote) throw this.#unexpected()
    const start = this.at + 1
    const escaped = this.#string()
    const end = this.at - 1
    if (this.peek() !== colon) throw this.#unexpected()
    this.at++
    if (!escaped) return table.find(this.bytes, start, end)
    const key = Buffer.from(JSON.parse(this.bytes.toString("utf8", start - 1, end + 1)) as string)
    return table.find(key, 0, key.length)
  }

  /** After the value of a member: whether another one follows. */
  nextMember(): boolean {
    return this.#next(closeBrace)
  }

  /** After an element: whether another one follows. */
  nextElement(): boolean {
    return this.#next(closeBracket)
  }

  /** Consumes any value, all of it checked. It begins where `at` is after {@link peek}. */
  skip(): void {
    const byte = this.peek()
    if (byte === quote) this.#string()
    else if (byte === openBrace) this.#skipObject()
    else if (byte === openBracket) this.#skipArray()
    else if (byte === minus || (byte >= 0x30 && byte <= 0x39)) this.#number(byte)
    else this.#literal(byte)
  }

  /** @throws {JsonTextError} when anything but spaces follows. */
  end(): void {
    if (this.peek() !== -1) throw this.#unexpected()
  }

  #skipObject(): void {
    if (!this.enterObject()) return
    do {
      if (this.peek() !== quote) throw this.#unexpected()
      this.#string()
      if (this.peek() !== colon) throw this.#unexpected()
      this.at++
      this.skip()
    } while (this.nextMember())
  }

  #skipArray(): void {
    if (!this.enterArray()) return
    do this.skip()
    while (this.nextElement())
  }

  #enter(open: number, close: number): boolean {
    if (this.peek() !== open) throw this.#unexpected()
    if (++this.#depth > this.#maximumDepth) {
      throw new JsonTextError("too_deep", `values are nested in more than ${this.#maximumDepth} levels`)
    }
    this.at++
    if (this.peek() !== close) return true
    this.at++
    this.#depth--
    return false
  }

  #next(close: number): boolean {
    const byte = this.peek()
    if (byte !== comma && byte !== close) throw this.#unexpected()
    this.at++
    if (byte === comma) return true
    this.#depth--
    return false
  }

  /** From the opening quote past the closing one. true: it has escapes. */
  #string(): boolean {
    const { bytes } = this
    const end = bytes.length
    let at = this.at + 1
    let escaped = false
    for (;;) {
      at = this.#pastPlain(at)
      if (at >= end) throw new JsonTextError("syntax", `the string at byte ${this.at} has no end`)
      if (bytes[at] === quote) break
      if (bytes[at] !== backslash) throw this.#unexpected(at)
      escaped = true
      at = this.#escape(at + 1)
    }
    this.at = at + 1
    return escaped
  }

  /** From `at` to the first byte that ends a run of plain ones in a string. */
  #pastPlain(from: number): number {
    const { bytes } = this
    const end = bytes.length
    let at = from
    while (at < end && ((at - this.#firstWord) & 3) !== 0) {
      if (plain[bytes[at] as number] === 0) return at
      at++
    }
    const words = this.#words
    let word = (at - this.#firstWord) >> 2
    const last = words.length - 1
    while (word < last && (notPlain(words[word] as number) | notPlain(words[word + 1] as number)) === 0) word += 2
    if (word === last && notPlain(words[word] as number) === 0) word++
    at = Math.max(at, this.#firstWord + word * 4)
    while (at < end && plain[bytes[at] as number] === 1) at++
    return at
  }

  /** Past an escape, whose backslash is before `at`. */
  #escape(at: number): number {
    const { bytes } = this
    const kind = escapes[bytes[at] ?? 0]
    if (kind === 1) return at + 1
    if (kind !== 2) throw this.#unexpected(at)
    for (let digit = at + 1; digit <= at + 4; digit++) {
      if (hexadecimal[bytes[digit] ?? 0] !== 1) throw this.#unexpected(digit)
    }
    this.#lookAtSurrogate(at)
    return at + 5
  }

  /** `at`: of the `u` of an escape whose digits are checked. */
  #lookAtSurrogate(at: number): void {
    const { bytes } = this
    const half = surrogateAt(bytes, at)
    if (half === "low") this.sawUnreadable ||= at !== this.#lowHalfAt
    else if (half === "high") {
      this.#lowHalfAt = at + 6
      this.sawUnreadable ||= bytes[at + 5] !== backslash || surrogateAt(bytes, at + 6) !== "low"
    }
  }

  #number(first: number): void {
    const { bytes, at: start } = this
    if (first === minus) {
      if (bytes[this.at + 1] === 0x49) return this.#word(minusInfinity)
      this.at++
    }
    if (bytes[this.at] === 0x30) this.at++
    else this.#digits()
    const wholeEnd = this.at
    if (bytes[this.at] === dot) {
      this.at++
      this.#digits()
    }
    if (((bytes[this.at] ?? 0) | 0x20) === 0x65) {
      this.at++
      const sign = bytes[this.at]
      if (sign === 0x2b || sign === minus) this.at++
      this.#digits()
      this.#lookAtDouble(start)
    } else if (this.at > wholeEnd) {
      if (wholeEnd - start >= digitsOfDouble) this.#lookAtDouble(start)
    } else if (wholeEnd - start >= digitsOf64Bits) this.#lookAtWhole(start)
  }

  #lookAtDouble(start: number): void {
    const isFinite = Number.isFinite(Number(this.bytes.toString("latin1", start, this.at)))
    this.sawUnreadable ||= !isFinite
  }

  #lookAtWhole(start: number): void {
    const value = BigInt(this.bytes.toString("latin1", start, this.at))
    const wrapped = value < 0n ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)
    this.sawUnreadable ||= wrapped !== value
  }

  #digits(): void {
    const { bytes } = this
    let { at } = this
    while ((bytes[at] ?? 0) >= 0x30 && (bytes[at] ?? 0) <= 0x39) at++
    if (at === this.at) throw this.#unexpected()
    this.at = at
  }

  #literal(first: number): void {
    const word = tokens.get(first)
    if (word === undefined) throw this.#unexpected()
    this.#word(word)
  }

  #word(word: Buffer): void {
    const { bytes, at } = this
    for (let index = 0; index < word.length; index++) {
      if (bytes[at + index] !== word[index]) throw this.#unexpected(at + index)
    }
    this.at = at + word.length
    // `NaN`, `Infinity`, `-Infinity`: the only words that have a capital.
    if (word[0] !== 0x74 && word[0] !== 0x66 && word[0] !== 0x6e) this.sawNotFinite = true
  }

  #unexpected(at = this.at): JsonTextError {
    const byte = this.bytes[at]
    const found = byte === undefined ? "the text ends" : `unexpected ${describeByte(byte)}`
    return new JsonTextError("syntax", `${found} at byte ${at}`)
  }
}

function describeByte(byte: number): string {
  return byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte 0x${byte.toString(16).padStart(2, "0")}`
}
