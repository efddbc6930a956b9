/** A path into a column of JSON text, as a value of the query language. */
import { HeddleError } from "../../../errors.ts"
import { mendedJson } from "./mended-json.ts"
import type { SqlParameters } from "./sql-parameters.ts"
import { boolOfText, finite, type ScalarType, type SqlValue } from "./sql-value.ts"

/**
 * `column` holds `[<JSON text>]`, as the payload columns of the trace store do. A segment of digits
 * is an index where an array is met (from 0) and a key where an object is.
 *
 * A text that ClickHouse's reader refuses is read as {@link mendedJson} makes it.
 * @param isRefused SQL: the reader refuses the text; null: it never does.
 * @param hasNeedlessEscape See `JsonText`.
 * @throws {HeddleError} `bad_query` for a path with too many indexes.
 */
export function jsonValue(
  column: string,
  path: readonly string[],
  parameters: SqlParameters,
  isRefused: string | null = `not isValidJSON(ifNull(${column}, ''))`,
  hasNeedlessEscape?: string,
): SqlValue {
  const indexes = path.filter((segment) => index.test(segment)).length
  if (indexes > mostIndexes) {
    throw new HeddleError("bad_query", `a field has ${indexes} indexes; it may have ${mostIndexes}`)
  }
  const read = (extract: (at: string) => string) => {
    const from = (text: string) => {
      const { at, bind } = locate(text, path, parameters)
      return bind(extract(at))
    }
    return isRefused === null ? from(column) : readJson(column, isRefused, from)
  }
  // Each is long, and a condition needs one or two of them.
  const text = once(() => read((at) => `JSONExtract(${at}, 'Nullable(String)')`))
  const number = once(() => finite(read((at) => `JSONExtract(${at}, 'Nullable(Float64)')`)))
  const type = once(() => read((at) => `nullIf(toString(JSONType(${at})), 'Null')`))
  const length = once(() => read((at) => `nullIf(JSONLength(${at}), 0)`))
  const conversions: Record<ScalarType, () => string> = {
    text,
    number,
    integer: () => `toInt128OrNull(${text()})`,
    bool: () => boolOfText(text()),
    time: () => `parseDateTime64BestEffortOrNull(${text()}, 6, 'UTC')`,
  }
  return {
    kind: "json",
    jsonText: { column, ...(hasNeedlessEscape === undefined ? {} : { hasNeedlessEscape }) },
    get jsonType() {
      return type()
    },
    as: (wanted) => conversions[wanted](),
    get exists() {
      return `isNotNull(${type()})`
    },
    get size() {
      const [ofList, ofText] = [`ifNull(${length()}, 0)`, `lengthUTF8(${text()})`]
      return `multiIf(${type()} in ('Array', 'Object'), ${ofList}, ${type()} = 'String', ${ofText}, NULL)`
    },
  }
}

function once(make: () => string): () => string {
  let made: string | null = null
  return () => (made ??= make())
}

/** SQL: what `read` reads from the JSON text of a column. @param isRefused SQL: ClickHouse's reader refuses the text as it is stored. */
export function readJson(column: string, isRefused: string, read: (text: string) => string): string {
  // As the parameter of a lambda the mended text stands here once, however long the path.
  const fromMended = `arrayMap(mended -> ${read("mended")}, [${mendedJson(column)}])[1]`
  return `if(${isRefused}, ${fromMended}, ${read(column)})`
}

const index = /^\d{1,9}$/

/** Each is a lambda around those that follow. To plan 10 of them takes ClickHouse 50 ms, 50 take it seconds. */
const mostIndexes = 10

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
  // JSONExtractKeys takes no nullable text; to the others it would be one more copy of the column.
  const hasIndex = path.some((segment) => index.test(segment))
  const steps = [hasIndex ? `ifNull(${column}, '')` : column, "1"]
  const positions: { name: string; sql: string }[] = []
  for (const segment of path) {
    const key = parameters.bind(segment, "String")
    if (!index.test(segment)) {
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
