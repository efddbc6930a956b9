/** `$literal` of the query language as SQL: its value is bound, never written into the statement. */
import { codePoints } from "../../../json/code-points.ts"
import { HeddleError } from "../../../errors.ts"
import type { LiteralValue } from "../../../wire/queries/query.ts"
import type { SqlParameters } from "./sql-parameters.ts"
import { microsecondsOf } from "./sql-time.ts"
import type { ScalarType, SqlValue } from "./sql-value.ts"

/** @throws {HeddleError} `bad_query` for a list or map, which nothing can be compared with. */
export function literalValue(value: LiteralValue, parameters: SqlParameters): SqlValue {
  if (value === null) return { kind: "null", as: () => "NULL", exists: "false", size: "NULL" }
  if (typeof value === "string") return literal("text", textConversions(value), value, parameters)
  if (typeof value === "boolean") return literal("bool", boolConversions(value), String(value), parameters)
  if (typeof value === "number") return literal("number", numberConversions(String(value)), String(value), parameters)
  if (JSON.isRawJSON(value)) {
    return literal("number", numberConversions(value.rawJSON), value.rawJSON, parameters)
  }
  const kind = Array.isArray(value) ? "a list" : "an object"
  throw new HeddleError("bad_query", `a $literal that is ${kind} cannot be compared; compare its elements one by one`)
}

/** A whole number, also in a text, that a double cannot hold is compared exactly. */
export function needsExactInteger(value: LiteralValue | undefined): boolean {
  if (typeof value !== "number" && typeof value !== "string" && !JSON.isRawJSON(value)) return false
  const integer = integerOf(JSON.isRawJSON(value) ? value.rawJSON : String(value))
  return integer !== null && !Number.isSafeInteger(Number(integer))
}

type Conversions = Record<Exclude<ScalarType, "text">, () => string | number | bigint | boolean | null>

const types = { text: "String", number: "Float64", integer: "Int128", bool: "Bool" } as const

function literal(kind: SqlValue["kind"], conversions: Conversions, text: string, parameters: SqlParameters): SqlValue {
  return {
    kind,
    as: (type) => {
      const value = type === "text" ? text : conversions[type]()
      if (value === null) return "NULL"
      if (type !== "time") return parameters.bind(value, types[type])
      return `fromUnixTimestamp64Micro(${parameters.bind(value, "Int64")}, 'UTC')`
    },
    exists: "true",
    size: String(codePoints(text)),
  }
}

const bools = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
])

function textConversions(value: string): Conversions {
  const number = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value) ? Number(value) : null
  return {
    number: () => number,
    integer: () => integerOf(value),
    bool: () => bools.get(value) ?? null,
    time: () => {
      const microseconds = microsecondsOf(value) ?? (number === null ? null : microsecondsSince1970(number))
      if (microseconds !== null) return microseconds
      throw new HeddleError("bad_query", `"${value}" is not a time; write ISO 8601 or seconds since 1970`)
    },
  }
}

function boolConversions(value: boolean): Conversions {
  return { number: () => Number(value), integer: () => Number(value), bool: () => value, time: () => null }
}

function numberConversions(source: string): Conversions {
  const number = Number(source)
  return {
    number: () => number,
    integer: () => integerOf(source),
    bool: () => number !== 0,
    time: () => {
      const microseconds = microsecondsSince1970(number)
      if (microseconds !== null) return microseconds
      throw new HeddleError("bad_query", `${source} is not a time in seconds since 1970`)
    },
  }
}

/** null: so many that a double rounds them, which no time is. */
function microsecondsSince1970(seconds: number): bigint | null {
  const microseconds = Math.round(seconds * 1e6)
  return Number.isSafeInteger(microseconds) ? BigInt(microseconds) : null
}

/** null: not a whole number, or more than 38 digits. */
function integerOf(source: string): bigint | null {
  if (/^-?\d{1,38}$/.test(source)) return BigInt(source)
  const number = Number(source)
  return source.trim() !== "" && Number.isInteger(number) && Math.abs(number) < 1e38 ? BigInt(number) : null
}
