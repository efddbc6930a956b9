/**
 * The filter language of calls: `op is handle_ticket and duration > 10s "refund"`. Clauses are joined by "and"; a word or a
 * quoted text alone is looked for in inputs, outputs and errors. The text is what an address holds and what people type; chips
 * are drawn from it and written back to it.
 */
import { fieldOf } from "./filter-fields.ts"

export const operators = ["is", "is not", "in", "contains", "<", "<=", ">", ">=", "exists", "missing"] as const
export type Operator = (typeof operators)[number]

export interface FilterValue {
  text: string
  /** Between quotes a number is a text. */
  isQuoted: boolean
}

export interface Clause {
  /** null: any words of inputs, outputs and errors. */
  field: string | null
  operator: Operator
  values: readonly FilterValue[]
}

/** An error in a filter: a sentence that follows the place where it is wrong. */
export class FilterError extends Error {
  override readonly name = "FilterError"
  /** The part of the text that is not understood. */
  readonly place: string

  constructor(place: string, message: string) {
    super(message)
    this.place = place
  }
}

interface Token {
  kind: "word" | "quoted" | "sign" | "comma"
  text: string
  start: number
  end: number
}

const tokens = /\s+|"(?:[^"\\]|\\.)*"|<=|>=|!=|[<>=,]|[^\s"<>=!,]+|./gsu
const signs: Record<string, Operator> = { "=": "is", "!=": "is not", "<": "<", "<=": "<=", ">": ">", ">=": ">=" }

/** @throws {FilterError} */
export function parseFilter(text: string): Clause[] {
  const clauses: Clause[] = []
  const read = new Reader(text)
  for (let token = read.next(); token !== undefined; token = read.next()) {
    if (token.kind === "quoted") clauses.push(words(unquoted(token.text), true))
    else if (token.kind !== "word")
      throw new FilterError(token.text, "A field must stand before it, as in “duration > 10s”.")
    else if (token.text.toLowerCase() === "or")
      throw new FilterError(
        token.text,
        "Clauses are joined by “and” alone; several values of one field are “op in a, b”.",
      )
    else if (token.text.toLowerCase() !== "and") clauses.push(clauseOf(token, read))
  }
  return clauses
}

function clauseOf(first: Token, read: Reader): Clause {
  const operator = read.operator(fieldOf(first.text) !== null)
  if (operator === null) return words(first.text, false)
  const field = fieldOf(first.text)
  const place = (end: number) => read.between(first.start, end)
  if (field === null) {
    throw new FilterError(
      place(operator.end),
      `“${first.text}” is no field. A text that holds signs goes between quotes.`,
    )
  }
  if (operator.is === "exists" || operator.is === "missing")
    return { field: first.text, operator: operator.is, values: [] }
  const values = [read.value()]
  while (operator.is === "in" && read.comma()) values.push(read.value())
  const found = values.filter((value) => value !== undefined)
  if (found.length !== values.length) {
    throw new FilterError(place(operator.end), `A value is missing after “${operator.text}”.`)
  }
  const clause: Clause = {
    field: first.text,
    operator: operator.is,
    values: found.map(({ text, kind }) =>
      kind === "quoted" ? { text: unquoted(text), isQuoted: true } : { text, isQuoted: false },
    ),
  }
  const problem = field.problemOf(clause)
  if (problem !== null) throw new FilterError(place(found.at(-1)?.end ?? operator.end), problem)
  return clause
}

function words(text: string, isQuoted: boolean): Clause {
  return { field: null, operator: "contains", values: [{ text, isQuoted }] }
}

class Reader {
  readonly #text: string
  readonly #tokens: Token[]
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = [...text.matchAll(tokens)].flatMap(({ 0: found, index }) => {
      if (found.trim() === "") return []
      const kind =
        found === "," ? "comma" : Object.hasOwn(signs, found) ? "sign" : found.startsWith('"') ? "quoted" : "word"
      if (found === '"') throw new FilterError(text.slice(index), "A quote is not closed.")
      return [{ kind, text: found, start: index, end: index + found.length } as const]
    })
  }

  next(): Token | undefined {
    return this.#tokens[this.#at++]
  }

  between(start: number, end: number): string {
    return this.#text.slice(start, end)
  }

  /** The operator that comes next. After a word that is no field, words such as "is" are text. */
  operator(isField: boolean): { is: Operator; text: string; end: number } | null {
    const token = this.#tokens[this.#at]
    if (token === undefined) return null
    const word = token.text.toLowerCase()
    const sign = token.kind === "sign" ? signs[word] : undefined
    if (sign !== undefined) {
      this.#at += 1
      return { is: sign, text: token.text, end: token.end }
    }
    if (!isField || token.kind !== "word" || !(operators as readonly string[]).includes(word)) return null
    this.#at += 1
    const following = this.#tokens[this.#at]
    if (word === "is" && following?.kind === "word" && following.text.toLowerCase() === "not") {
      this.#at += 1
      return { is: "is not", text: "is not", end: following.end }
    }
    return { is: word as Operator, text: token.text, end: token.end }
  }

  value(): Token | undefined {
    const token = this.#tokens[this.#at]
    if (token?.kind !== "word" && token?.kind !== "quoted") return undefined
    this.#at += 1
    return token
  }

  comma(): boolean {
    if (this.#tokens[this.#at]?.kind !== "comma") return false
    this.#at += 1
    return true
  }
}

export function printClause({ field, operator, values }: Clause): string {
  const shown = values.map(printValue).join(", ")
  if (field === null) return shown
  return shown === "" ? `${field} ${operator}` : `${field} ${operator} ${shown}`
}

/** The text of a filter: parsing it gives the same clauses. */
export function printFilter(clauses: readonly Clause[]): string {
  return clauses
    .map((clause, index) => (index > 0 && clause.field !== null ? `and ${printClause(clause)}` : printClause(clause)))
    .join(" ")
}

const reserved = new Set(["and", "or", "not", ...operators])

function printValue({ text, isQuoted }: FilterValue): string {
  const isPlain = !isQuoted && /^[^\s"<>=!,]+$/u.test(text) && !reserved.has(text.toLowerCase())
  return isPlain ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

function unquoted(text: string): string {
  return text.slice(1, -1).replaceAll(/\\(.)/gs, "$1")
}
