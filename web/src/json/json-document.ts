/**
 * Reads a JSON text of any size on demand. One pass finds where each object and array begins and ends. After that the
 * cost of a page of children, of a value or of the way to it depends on what is shown, not on the size of the text.
 */
import {
  endOfScalar,
  endOfString,
  isClosing,
  isComma,
  isOpening,
  isQuote,
  type JsonKind,
  kindAt,
  skipBlanks,
} from "./json-cursor.ts"

export interface JsonNode {
  kind: JsonKind
  /** Name of a member, index of an element; null for the whole. */
  key: string | number | null
  /** The value's place in the text; `end` is just after it. */
  start: number
  end: number
  /** The number of members or elements; 0 for a value that has none. */
  size: number
  /** The beginning of the value's text: a number as it is written, a string decoded. */
  preview: string
  /** True when the preview leaves something out. */
  isCut: boolean
}

export interface JsonMatches {
  /** Places in the text, at most as many as were asked for. */
  places: number[]
  /** false: there are more. */
  isAll: boolean
}

/** One step of the way to a place: child number `index` of the container that begins at `start`. */
export interface JsonStep {
  start: number
  index: number
}

const previewLength = 240
/** The places of child 0, 1000, 2000 … are kept, so that reaching a far page need not start at the first child. */
const markEvery = 1000

export class JsonDocument {
  readonly #text: string
  /** Start of each container, in order. */
  #starts: Uint32Array
  #ends: Uint32Array
  #sizes: Uint32Array
  #parents: Int32Array
  #count = 0
  /** Container → places of its children number 0, 1000, 2000, … as far as they were walked. */
  readonly #marks = new Map<number, number[]>()

  /** @throws {SyntaxError} when the text is not JSON. */
  constructor(text: string) {
    this.#text = text
    const capacity = 1024
    this.#starts = new Uint32Array(capacity)
    this.#ends = new Uint32Array(capacity)
    this.#sizes = new Uint32Array(capacity)
    this.#parents = new Int32Array(capacity)
    this.#scan()
  }

  root(): JsonNode {
    return this.#node(skipBlanks(this.#text, 0), null)
  }

  /** Children `from` up to `from + count` of the container that begins at `start`. */
  children(start: number, from: number, count: number): JsonNode[] {
    const nodes: JsonNode[] = []
    const isObject = kindAt(this.#text, start) === "object"
    for (const [index, at] of this.#places(start, from)) {
      if (nodes.length === count) break
      nodes.push(isObject ? this.#member(at) : this.#node(at, index))
    }
    return nodes
  }

  /** The value's text, for copying it, and for a long string that is opened. */
  textOf(start: number, end: number): string {
    return this.#text.slice(start, end)
  }

  /** Finds `query`, ignoring case, as it is and as JSON escapes it. */
  find(query: string, most: number): JsonMatches {
    const spellings = new Set([query, JSON.stringify(query).slice(1, -1)])
    const pattern = new RegExp([...spellings].map((spelling) => RegExp.escape(spelling)).join("|"), "gi")
    const places: number[] = []
    for (const match of query === "" ? [] : this.#text.matchAll(pattern)) {
      if (places.length === most) return { places, isAll: false }
      places.push(match.index)
    }
    return { places, isAll: true }
  }

  /** The way to a place, from the outermost container. */
  wayTo(place: number): JsonStep[] {
    const containers: number[] = []
    for (let index = this.#containerAround(place); index !== -1; index = this.#parents[index] ?? -1) {
      containers.unshift(this.#starts[index] ?? 0)
    }
    return containers.map((start, depth) => ({ start, index: this.#childAt(start, containers[depth + 1] ?? place) }))
  }

  /** @throws {SyntaxError} for brackets that do not match, and for text behind the value. */
  #scan(): void {
    const text = this.#text
    const open: number[] = []
    let here = skipBlanks(text, 0)
    if (here >= text.length) throw new SyntaxError("the text is empty")
    for (; here < text.length; here += 1) {
      const code = text.charCodeAt(here)
      if (isQuote(code)) here = endOfString(text, here) - 1
      else if (isOpening(code)) open.push(this.#opened(here, open.at(-1) ?? -1))
      else if (isClosing(code)) {
        const container = open.pop()
        if (container === undefined) throw new SyntaxError(`an object or array ends at ${here} that has not begun`)
        this.#closed(container, here + 1)
      } else if (isComma(code)) {
        const container = open.at(-1)
        if (container === undefined) throw new SyntaxError(`a comma at ${here} stands outside of the value`)
        this.#sizes[container] = (this.#sizes[container] ?? 0) + 1
      }
    }
    if (open.length > 0) throw new SyntaxError("the text ends before its value does")
  }

  #opened(start: number, parent: number): number {
    if (this.#count === this.#starts.length) this.#grow()
    this.#starts[this.#count] = start
    this.#parents[this.#count] = parent
    return this.#count++
  }

  /** Between brackets that hold anything there is one value more than commas. */
  #closed(container: number, end: number): void {
    this.#ends[container] = end
    const first = skipBlanks(this.#text, (this.#starts[container] ?? 0) + 1)
    if (first !== end - 1) this.#sizes[container] = (this.#sizes[container] ?? 0) + 1
  }

  #grow(): void {
    const capacity = this.#starts.length * 2
    const grown = <T extends Uint32Array | Int32Array>(larger: T, old: T): T => {
      larger.set(old)
      return larger
    }
    this.#starts = grown(new Uint32Array(capacity), this.#starts)
    this.#ends = grown(new Uint32Array(capacity), this.#ends)
    this.#sizes = grown(new Uint32Array(capacity), this.#sizes)
    this.#parents = grown(new Int32Array(capacity), this.#parents)
  }

  #member(at: number): JsonNode {
    const nameEnd = endOfString(this.#text, at)
    const value = skipBlanks(this.#text, skipBlanks(this.#text, nameEnd) + 1)
    return this.#node(value, JSON.parse(this.#text.slice(at, nameEnd)) as string)
  }

  #node(start: number, key: string | number | null): JsonNode {
    const kind = kindAt(this.#text, start)
    const end = this.#endOf(start)
    const size = kind === "object" || kind === "array" ? (this.#sizes[this.#containerAt(start)] ?? 0) : 0
    return { kind, key, start, end, size, ...this.#preview(kind, start, end) }
  }

  #preview(kind: JsonKind, start: number, end: number): { preview: string; isCut: boolean } {
    const isCut = end - start > previewLength
    const text = this.#text.slice(start, isCut ? start + previewLength : end)
    if (kind !== "string") return { preview: text, isCut }
    // A cut may fall into an escape, of which nothing is shown then.
    const whole = isCut ? `${text.replace(/\\(u[0-9a-fA-F]{0,3})?$/, "").replace(/[\ud800-\udbff]$/, "")}"` : text
    return { preview: decoded(whole), isCut }
  }

  #endOf(start: number): number {
    const code = this.#text.charCodeAt(start)
    if (isQuote(code)) return endOfString(this.#text, start)
    return isOpening(code) ? (this.#ends[this.#containerAt(start)] ?? start) : endOfScalar(this.#text, start)
  }

  /** Index and place of each child from number `from` on; of an object the place of its name. */
  *#places(start: number, from: number): Generator<[number, number]> {
    const text = this.#text
    const isObject = kindAt(text, start) === "object"
    const marks = this.#marksOf(start)
    let index = Math.min(Math.floor(from / markEvery), marks.length - 1) * markEvery
    let at = marks[index / markEvery] ?? text.length
    while (!isClosing(text.charCodeAt(at)) && at < text.length) {
      if (index % markEvery === 0) marks[index / markEvery] = at
      if (index >= from) yield [index, at]
      const value = isObject ? skipBlanks(text, skipBlanks(text, endOfString(text, at)) + 1) : at
      at = skipBlanks(text, this.#endOf(value))
      if (isComma(text.charCodeAt(at))) at = skipBlanks(text, at + 1)
      index += 1
    }
  }

  #marksOf(start: number): number[] {
    const known = this.#marks.get(start)
    if (known !== undefined) return known
    const marks = [skipBlanks(this.#text, start + 1)]
    this.#marks.set(start, marks)
    return marks
  }

  /** The number of the child that holds the place. */
  #childAt(start: number, place: number): number {
    let found = 0
    for (const [index, at] of this.#places(start, 0)) {
      if (at > place) break
      found = index
    }
    return found
  }

  #containerAt(start: number): number {
    return this.#lastFrom(start)
  }

  #containerAround(place: number): number {
    let index = this.#lastFrom(place)
    while (index !== -1 && (this.#ends[index] ?? 0) <= place) index = this.#parents[index] ?? -1
    return index
  }

  /** The last container that begins at or before a place; -1: none. */
  #lastFrom(place: number): number {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#starts[middle] ?? 0) <= place) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

/** A string that was cut in the middle of an escape, or that no parser takes, is shown as it is written. */
function decoded(literal: string): string {
  try {
    return JSON.parse(literal) as string
  } catch {
    return literal.slice(1, -1)
  }
}
