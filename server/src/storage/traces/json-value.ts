/** A path into a column of JSON text, as a value of the query language. */
import type { SqlParameters } from "./sql-parameters.ts"
import { boolOfText, type ScalarType, type SqlValue } from "./sql-value.ts"

/**
 * `column` holds `[<JSON text>]`, as the payload columns of the trace store do. A segment of digits
 * is an index where an array is met (from 0) and a key where an object is.
 */
export function jsonValue(column: string, path: readonly string[], parameters: SqlParameters): SqlValue {
  const { at, bind } = locate(column, path, parameters)
  const text = bind(`JSONExtract(${at}, 'Nullable(String)')`)
  const number = bind(`JSONExtract(${at}, 'Nullable(Float64)')`)
  const conversions: Record<ScalarType, string> = {
    text,
    // ClickHouse reads the texts "inf" and "nan" as numbers.
    number: `if(isFinite(${number}), ${number}, NULL)`,
    integer: `toInt128OrNull(${text})`,
    bool: boolOfText(text),
    time: `parseDateTime64BestEffortOrNull(${text}, 6, 'UTC')`,
  }
  const type = bind(`JSONType(${at})`)
  const length = bind(`JSONLength(${at})`)
  return {
    kind: "json",
    jsonText: column,
    as: (wanted) => conversions[wanted],
    exists: `ifNull(${type} != 'Null', false)`,
    size: `multiIf(${type} in ('Array', 'Object'), ${length}, ${type} = 'String', lengthUTF8(${text}), NULL)`,
  }
}

interface Location {
  /** The leading arguments of a `JSON…` function: the text, then the steps into it. */
  at: string
  /** Around an expression with `at` in it: gives the positions that `at` names their values. */
  bind: (sql: string) => string
}

/**
 * ClickHouse counts members of objects as it counts elements, so a segment of digits becomes a
 * position, which is the parameter of a lambda: it then stands here once, however long the path.
 */
function locate(column: string, path: readonly string[], parameters: SqlParameters): Location {
  // JSONExtractKeys takes no nullable text.
  const steps = [`ifNull(${column}, '')`, "1"]
  const positions: { name: string; sql: string }[] = []
  for (const segment of path) {
    const key = parameters.bind(segment, "String")
    if (!/^\d{1,9}$/.test(segment)) {
      steps.push(key)
      continue
    }
    const parent = steps.join(", ")
    const member = `toInt64(indexOf(JSONExtractKeys(${parent}), ${key}))`
    const sql = `if(JSONType(${parent}) = 'Array', ${Number(segment) + 1}, ${member})`
    const name = `i${positions.length}`
    positions.push({ name, sql })
    steps.push(name)
  }
  const bind = (sql: string) =>
    positions.reduceRight((inner, position) => `arrayMap(${position.name} -> ${inner}, [${position.sql}])[1]`, sql)
  return { at: steps.join(", "), bind }
}
