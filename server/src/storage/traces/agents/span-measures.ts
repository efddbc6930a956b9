/** Aggregates over spans, as SQL: evaluation-store-calls 10. */
import { HeddleError } from "../../../errors.ts"
import type {
  Aggregation,
  GroupFilter,
  Measure,
  MeasureAggregation,
  ValueType,
} from "../../../wire/agents/span-values.ts"
import { compileCondition } from "../query/query-condition.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import { microsecondsOf } from "../query/sql-time.ts"
import { spanField } from "./span-fields.ts"
import { type SpanValue, spanValue } from "./span-values.ts"

export interface MeasureSql {
  sql: string
  /** Type of the result. */
  type: ValueType
}

/** `value`: SQL that is NULL for what does not count. */
const functions: Record<Aggregation, (value: string) => string> = {
  sum: (value) => `sumOrNull(${value})`,
  avg: (value) => `avgOrNull(${value})`,
  min: (value) => `minOrNull(${value})`,
  max: (value) => `maxOrNull(${value})`,
  count: (value) => `toFloat64(count(${value}))`,
  count_distinct: (value) => `toFloat64(uniqExact(${value}))`,
  count_true: (value) => `toFloat64(countIf(${value} = 1))`,
  count_false: (value) => `toFloat64(countIf(${value} = 0))`,
}

const allowed: Record<ValueType, readonly Aggregation[]> = {
  datetime: ["min", "max", "count", "count_distinct"],
  number: ["sum", "avg", "min", "max", "count", "count_distinct"],
  boolean: ["count", "count_distinct", "count_true", "count_false"],
  string: ["count", "count_distinct"],
}

const percentiles: Partial<Record<MeasureAggregation, number>> = { p50: 50, p90: 90, p95: 95, p99: 99 }

/** @throws {HeddleError} `value_error` when the aggregation means nothing for values of this type. */
export function aggregate(aggregation: MeasureAggregation, value: SpanValue): MeasureSql {
  const percentile = percentiles[aggregation]
  if (percentile !== undefined && value.type === "number") {
    return { sql: percentileSql(percentile, value.sql), type: "number" }
  }
  if (!isAllowed(aggregation, value.type)) {
    const known = allowed[value.type].join(", ")
    throw new HeddleError(
      "value_error",
      `aggregation "${aggregation}" is not valid for value_type "${value.type}"; use ${known}`,
    )
  }
  const keepsType = aggregation === "min" || aggregation === "max"
  return { sql: functions[aggregation](value.sql), type: keepsType ? value.type : "number" }
}

function isAllowed(aggregation: MeasureAggregation, type: ValueType): aggregation is Aggregation {
  return (allowed[type] as readonly MeasureAggregation[]).includes(aggregation)
}

export function percentileSql(percentile: number, value: string): string {
  return `quantileExactInclusiveOrNull(${Number((percentile / 100).toFixed(6))})(${value})`
}

/** @throws {HeddleError} `value_error` for a measure that means nothing. */
export function measureSql(measure: Measure, parameters: SqlParameters): MeasureSql {
  const { aggregation, filter } = measure
  const value = measuredValue(measure, parameters)
  if (filter == null) return aggregate(aggregation, value)
  const field = (path: string) => spanField(path, parameters)
  const condition = compileCondition(filter.$expr, { field, parameters })
  return aggregate(aggregation, { ...value, sql: `if(${condition}, ${value.sql}, NULL)` })
}

function measuredValue({ value, value_type, aggregation }: Measure, parameters: SqlParameters): SpanValue {
  if (value != null) return spanValue(value, parameters, value_type ?? null)
  if (aggregation !== "count") throw new HeddleError("value_error", "only count measures may omit value")
  return { sql: "1", type: "number" }
}

/** The condition that groups must meet; null: none. */
export function groupCondition(filters: readonly GroupFilter[], parameters: SqlParameters): string | null {
  const conditions = filters.flatMap((filter) => {
    const { sql, type } = measureSql(filter.measure, parameters)
    return [
      ...(filter.min == null ? [] : [`${sql} >= ${bound(filter.min, type, parameters)}`]),
      ...(filter.max == null ? [] : [`${sql} <= ${bound(filter.max, type, parameters)}`]),
    ]
  })
  return conditions.length === 0 ? null : conditions.join(" and ")
}

function bound(value: number | string, type: ValueType, parameters: SqlParameters): string {
  if (type !== "datetime") {
    if (typeof value === "number") return parameters.bind(value, "Float64")
    throw new HeddleError("value_error", `"${value}" bounds a measure that is a number, not a time`)
  }
  const moment = typeof value === "string" ? microsecondsOf(value) : null
  if (moment !== null) return `fromUnixTimestamp64Micro(${parameters.bind(moment, "Int64")}, 'UTC')`
  throw new HeddleError("value_error", `${JSON.stringify(value)} bounds a time; write one in ISO 8601`)
}

/** A value of a select as it stands in an answer. */
export function formatValue(value: unknown, type: ValueType): string | number | boolean | null {
  if (value === null || value === undefined) return null
  if (type === "datetime") return formatTime(value as string)
  if (type === "boolean") return Number(value) === 1
  return type === "number" ? Number(value) : (value as string)
}

/** `2026-01-02 03:04:05.123456` → ISO 8601. */
export function formatTime(stored: string): string
export function formatTime(stored: string | null): string | null
export function formatTime(stored: string | null): string | null {
  return stored === null ? null : `${stored.replace(" ", "T")}Z`
}
