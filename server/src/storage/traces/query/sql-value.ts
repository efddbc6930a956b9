/**
 * What a query expression may compare: a value of the query language as SQL. Every SQL text gives
 * NULL for a missing value or one that is not of the type asked for, never an error.
 */
import { HeddleError } from "../../../errors.ts"
import type { SqlParameters } from "./sql-parameters.ts"
import { isoTimeSql } from "./sql-time.ts"

export type ScalarType = "text" | "number" | "integer" | "bool" | "time"

/** `json`: any of the types, row by row. `list`: an array of strings. */
export type ValueKind = "text" | "number" | "bool" | "time" | "json" | "list" | "null"

export interface SqlValue {
  kind: ValueKind
  /** As SQL of this type: String, Float64, Int128, Bool, DateTime64(6), each nullable. */
  as: (type: ScalarType) => string
  /** Bool, never NULL: there is a value. */
  exists: string
  /** Elements, or characters of a string. */
  size: string
  /** For a `list`: the array itself. */
  list?: string
  /** For a `json`: where the whole text is. */
  jsonText?: JsonText
  /** For a text that rows hold as it is: its column. */
  storedText?: string
  /** For a `json`: ClickHouse's name of the value's type, or NULL for null and for a missing value. */
  jsonType?: string
}

export interface JsonText {
  column: string
  /**
   * SQL, true or NULL: the text may spell with an escape what it could spell without, see `spellsWithEscape`. Given only
   * for a column of the rows that are read; absent: nothing tells.
   */
  hasNeedlessEscape?: string
}

export function textValue(sql: string): SqlValue {
  const conversions: Record<ScalarType, string> = {
    text: sql,
    number: finiteNumber(sql),
    integer: `toInt128OrNull(${sql})`,
    bool: boolOfText(sql),
    time: `parseDateTime64BestEffortOrNull(${sql}, 6, 'UTC')`,
  }
  return scalar("text", sql, conversions)
}

export function numberValue(sql: string): SqlValue {
  return scalar("number", sql, {
    text: `toString(${sql})`,
    number: `toFloat64(${sql})`,
    integer: `accurateCastOrNull(${sql}, 'Int128')`,
    bool: `(${sql} != 0)`,
    time: `fromUnixTimestamp64Micro(toInt64(round(${sql} * 1000000)), 'UTC')`,
  })
}

export function boolValue(sql: string): SqlValue {
  return scalar("bool", sql, {
    text: `toString(cast(${sql}, 'Nullable(Bool)'))`,
    number: `toFloat64(${sql})`,
    integer: `toInt128(${sql})`,
    bool: `(${sql})`,
    time: "NULL",
  })
}

export function timeValue(sql: string): SqlValue {
  const microseconds = `toUnixTimestamp64Micro(${sql})`
  return scalar("time", sql, {
    text: isoTimeSql(sql),
    number: `(${microseconds} / 1000000)`,
    integer: `toInt128(intDiv(${microseconds}, 1000000))`,
    bool: "NULL",
    time: sql,
  })
}

/** An `Array(String)`, which is never null: an empty one does not exist. */
export function listValue(sql: string): SqlValue {
  return {
    kind: "list",
    as: (type) => (type === "text" ? `toJSONString(${sql})` : "NULL"),
    exists: `notEmpty(${sql})`,
    size: `length(${sql})`,
    list: sql,
  }
}

/** One key of a `Map(String, …)`; a key that is not there is missing, not the default of its type. */
export function mapValue(column: string, key: string, of: "text" | "number", parameters: SqlParameters): SqlValue {
  const name = parameters.bind(key, "String")
  const sql = `if(mapContains(${column}, ${name}), ${column}[${name}], NULL)`
  return of === "text" ? textValue(sql) : numberValue(sql)
}

/** ClickHouse reads the texts "inf" and "nan" as numbers. */
export function finiteNumber(text: string): string {
  return finite(`toFloat64OrNull(${text})`)
}

/** Infinities and NaN are no numbers of JSON. Names `number` once: inside `and` ClickHouse computes what it names. */
export function finite(number: string): string {
  return `nullIf(ifNotFinite(${number}, inf), inf)`
}

/** JSON true and false, 1 and 0, and the same as text. */
export function boolOfText(text: string): string {
  return `[NULL, true, true, false, false][1 + indexOf(['true', '1', 'false', '0'], ${text})]`
}

function scalar(kind: ValueKind, sql: string, conversions: Record<ScalarType, string>): SqlValue {
  return {
    kind,
    as: (type) => conversions[type],
    exists: `isNotNull(${sql})`,
    size: `lengthUTF8(${conversions.text})`,
  }
}

/** Splits `a.b\.c` into `a` and `b.c`. */
export function splitPath(path: string): string[] {
  const segments = path.split(/(?<!\\)\./).map((segment) => segment.replaceAll("\\.", "."))
  if (segments.some((segment) => segment === "")) {
    throw new HeddleError("invalid_field", `Field "${path}" has an empty part; write a dot inside a key as \\.`)
  }
  if (segments.length > mostSegments) {
    throw new HeddleError("bad_query", `a field has ${segments.length} parts; it may have ${mostSegments}`)
  }
  return segments
}

/** Payloads have a few; ClickHouse refuses an expression that is nested some hundred levels deep. */
const mostSegments = 50
