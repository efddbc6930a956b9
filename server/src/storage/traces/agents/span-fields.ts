/** Fields of a span that a query, a sort or a measure may name, as SQL: evaluation-store-calls 10. */
import { HeddleError } from "../../../errors.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import {
  boolOfText,
  boolValue,
  finiteNumber,
  listValue,
  numberValue,
  type SqlValue,
  textValue,
  timeValue,
} from "../query/sql-value.ts"
import {
  type AttributeSource,
  attributeSources,
  columnOf,
  findSpanColumn,
  isAttributeSource,
  type SpanColumnKind,
  type SpanColumnName,
} from "./span-columns.ts"

/** SQL: milliseconds; NULL for a span that has not ended, or that ended before it began. */
export const validDurationSql = `if(ended_at >= started_at, toFloat64(intDiv(toUnixTimestamp64Micro(ended_at) - toUnixTimestamp64Micro(started_at), 1000)), NULL)`
/** SQL: the total that some SDKs report, which may count more than the sum of the parts. */
const reportedTotal = "custom_attrs_int['gen_ai.usage.total_tokens']"
export const totalTokensSql = `toFloat64(if(${reportedTotal} > 0, ${reportedTotal}, input_tokens + output_tokens + reasoning_tokens))`

const computed: Record<string, () => SqlValue> = {
  duration_ms: () => numberValue(validDurationSql),
  total_tokens: () => numberValue(totalTokensSql),
}

/** A field of the query language: a column, a computed value, or an attribute by its key. */
export function spanField(path: string, parameters: SqlParameters): SqlValue {
  return namedField(path, parameters) ?? anyAttribute(path, parameters)
}

/** As {@link spanField}, without attributes whose type is not said: sorting by a misspelt name would sort by nothing. */
export function sortableField(path: string, parameters: SqlParameters): SqlValue {
  const value = namedField(path, parameters)
  if (value !== null) return value
  throw new HeddleError("value_error", `Invalid sort field: "${path}"; name a column, or custom_attrs_<type>.<key>`)
}

function namedField(path: string, parameters: SqlParameters): SqlValue | null {
  const column = findSpanColumn(path)
  if (column !== null) return columnValue(column)
  if (Object.hasOwn(computed, path)) return computed[path]?.() ?? null
  const dot = path.indexOf(".")
  const [source, key] = [path.slice(0, dot), path.slice(dot + 1)]
  if (dot < 0 || !isAttributeSource(source)) return null
  if (key === "") throw new HeddleError("invalid_field", `Field "${path}" names no key of ${source}`)
  return attributeValue(source, key, parameters)
}

const valueOfKind: Record<SpanColumnKind, (column: string) => SqlValue> = {
  text: writtenText,
  word: writtenText,
  time: timeValue,
  count: numberValue,
  integer: numberValue,
  number: numberValue,
  list: listValue,
  messages: (column) => writtenText(`toJSONString(${column})`),
  text_map: (column) => writtenText(`toJSONString(${column})`),
  integer_map: (column) => writtenText(`toJSONString(${column})`),
  number_map: (column) => writtenText(`toJSONString(${column})`),
  bool_map: (column) => writtenText(`toJSONString(${column})`),
}

function columnValue(column: SpanColumnName): SqlValue {
  if (columnOf(column).isElsewhere === true) {
    const message = `"${column}" is shown with include_details, and no field of a query; name an attribute instead`
    throw new HeddleError("invalid_field", message)
  }
  return valueOfKind[columnOf(column).kind](column)
}

/** An empty text compares like any other, and counts as absent. */
function writtenText(sql: string): SqlValue {
  return { ...textValue(sql), exists: `notEmpty(${sql})` }
}

/** SQL: the value of a key, NULL where the key is not there. */
export function attributeSql(source: AttributeSource, key: string, parameters: SqlParameters): string {
  const name = parameters.bind(key, "String")
  return `if(mapContains(${source}, ${name}), ${source}[${name}], NULL)`
}

function attributeValue(source: AttributeSource, key: string, parameters: SqlParameters): SqlValue {
  const sql = attributeSql(source, key, parameters)
  if (source === "custom_attrs_string") return textValue(sql)
  return source === "custom_attrs_bool" ? boolValue(sql) : numberValue(sql)
}

/** A key whose type nobody said: each conversion looks where a value of its type lies first. */
function anyAttribute(key: string, parameters: SqlParameters): SqlValue {
  const [text = "", integer = "", number = "", bool = ""] = attributeSources.map((source) =>
    attributeSql(source, key, parameters),
  )
  const asText = `coalesce(${text}, toString(${integer}), toString(${number}), toString(${bool}))`
  return {
    kind: "json",
    as: (type) => {
      switch (type) {
        case "text":
          return asText
        case "number":
          return `coalesce(toFloat64(${integer}), ${number}, ${finiteNumber(text)})`
        case "integer":
          return `coalesce(toInt128(${integer}), accurateCastOrNull(${number}, 'Int128'), toInt128OrNull(${text}))`
        case "bool":
          return `coalesce(${bool}, ${boolOfText(text)})`
        case "time":
          return `parseDateTime64BestEffortOrNull(${text}, 6, 'UTC')`
      }
    },
    exists: `isNotNull(${asText})`,
    size: `lengthUTF8(${asText})`,
  }
}
