/**
 * Prints JSON the way Python's `json.dumps` does, from text to text: the bytes that digests are made
 * of (evaluation-store-objects 13).
 */
import { JsonCursor, stringOf } from "./json-cursor.ts"

export interface PythonPrinting {
  /** Keys by code point at every level, as `sort_keys=True`; otherwise in their order. */
  sortKeys: boolean
  /** Gets every string that is not a key; what it returns is printed. */
  mapString?: (value: string) => string
}

/**
 * A duplicate key keeps its last value, as in a Python dict.
 * @throws {JsonTextError}
 */
export function pythonJson(text: string, printing: PythonPrinting): string {
  const cursor = new JsonCursor(text)
  const printed = printPython(cursor, printing)
  cursor.end()
  return printed
}

/** Consumes one value and prints it. */
export function printPython(cursor: JsonCursor, printing: PythonPrinting): string {
  const kind = cursor.kind()
  if (kind === "object") return printObject(cursor, printing)
  if (kind === "array") return printArray(cursor, printing)
  if (kind === "string") return printString(cursor.stringToken(), printing)
  if (kind === "number") return printNumber(cursor.numberToken())
  return cursor.literalToken(kind)
}

function printObject(cursor: JsonCursor, printing: PythonPrinting): string {
  if (!cursor.enterObject()) return "{}"
  const members = new Map<string, string>()
  do {
    const key = stringOf(cursor.key())
    members.set(key, printPython(cursor, printing))
  } while (cursor.nextMember())
  const keys = printing.sortKeys ? sortedByCodePoint([...members.keys()]) : [...members.keys()]
  return `{${keys.map((key) => `${quoted(key)}: ${members.get(key)}`).join(", ")}}`
}

function printArray(cursor: JsonCursor, printing: PythonPrinting): string {
  if (!cursor.enterArray()) return "[]"
  const elements: string[] = []
  do elements.push(printPython(cursor, printing))
  while (cursor.nextElement())
  return `[${elements.join(", ")}]`
}

function printString(token: string, { mapString }: PythonPrinting): string {
  const value = stringOf(token)
  return quoted(mapString === undefined ? value : mapString(value))
}

/** An integer keeps its digits; anything with a point or an exponent is a double. */
function printNumber(token: string): string {
  if (/[.eE]/.test(token)) return pythonFloat(Number(token))
  return token === "-0" ? "0" : token
}

/** Python's `repr` of a float: the shortest digits, with an exponent below 1e-4 and from 1e16 up. */
export function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN"
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity"
  const sign = value < 0 || Object.is(value, -0) ? "-" : ""
  const [mantissa, exponentText] = Math.abs(value).toExponential().split("e") as [string, string]
  const digits = mantissa.replace(".", "")
  const exponent = Number(exponentText)
  if (exponent < -4 || exponent >= 16) return `${sign}${mantissa}e${exponentSuffix(exponent)}`
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`
  return `${sign}${digits.slice(0, exponent + 1).padEnd(exponent + 1, "0")}.${digits.slice(exponent + 1) || "0"}`
}

function exponentSuffix(exponent: number): string {
  return `${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`
}

const special = /[^ !#-[\]-~]/
const escaped = /["\\]|[^ -~]/g
const shortEscapes: Record<string, string> = {
  '"': '\\"',
  "\\": "\\\\",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
}

function quoted(value: string): string {
  return special.test(value) ? `"${value.replaceAll(escaped, escapeOf)}"` : `"${value}"`
}

function escapeOf(unit: string): string {
  return shortEscapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
}

const surrogate = /[\ud800-\udfff]/

/** JavaScript compares UTF-16 units, which puts U+1F600 before U+FF5E. */
function sortedByCodePoint(keys: string[]): string[] {
  return keys.some((key) => surrogate.test(key)) ? keys.toSorted(byCodePoint) : keys.toSorted()
}

function byCodePoint(left: string, right: string): number {
  const lefts = Array.from(left, (character) => character.codePointAt(0) as number)
  const rights = Array.from(right, (character) => character.codePointAt(0) as number)
  const at = lefts.findIndex((point, index) => point !== rights[index])
  return at === -1 ? lefts.length - rights.length : (lefts[at] as number) - (rights[at] ?? -1)
}
