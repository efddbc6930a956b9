/** A path into a column of JSON text, as a value of the query language. */
import type { SqlParameters } from "./sql-parameters.ts"
import { boolOfText, type ScalarType, type SqlValue } from "./sql-value.ts"

/**
 * `column` holds `[<JSON text>]`, as the payload columns of the trace store do. A segment of digits
 * is an index where an array is met (from 0) and a key where an object is.
 */
export function jsonValue(column: string, path: readonly string[], parameters: SqlParameters): SqlValue {
  const at = locate(column, path, parameters)
  const text = `JSONExtract(${at}, 'Nullable(String)')`
  const conversions: Record<ScalarType, string> = {
    text,
    number: `JSONExtract(${at}, 'Nullable(Float64)')`,
    integer: `toInt128OrNull(${text})`,
    bool: boolOfText(text),
    time: `parseDateTime64BestEffortOrNull(${text}, 6, 'UTC')`,
  }
  const type = `JSONType(${at})`
  return {
    kind: "json",
    jsonText: column,
    as: (wanted) => conversions[wanted],
    exists: `ifNull(${type} != 'Null', false)`,
    size: `multiIf(${type} in ('Array', 'Object'), JSONLength(${at}), ${type} = 'String', lengthUTF8(${text}), NULL)`,
  }
}

/** The leading arguments of a `JSON…` function: the text, then the steps into it. */
function locate(column: string, path: readonly string[], parameters: SqlParameters): string {
  let source = column
  let steps = ["1"]
  for (const segment of path) {
    const key = parameters.bind(segment, "String")
    if (/^\d{1,9}$/.test(segment)) {
      const parent = `JSONExtractRaw(${[source, ...steps].join(", ")})`
      const step = `if(startsWith(p, '['), JSONExtractRaw(p, ${Number(segment) + 1}), JSONExtractRaw(p, ${key}))`
      // As a function of the parent, whose text then stands here once, however long the path.
      source = `arrayMap(p -> ${step}, [${parent}])[1]`
      steps = []
    } else {
      steps.push(key)
    }
  }
  return [source, ...steps].join(", ")
}
