/** Values of spans to group and to aggregate by, as SQL: evaluation-store-calls 10. */
import { HeddleError } from "../../../errors.ts"
import type { GroupRef, ValueRef, ValueType } from "../../../wire/agents/span-values.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import {
  type AttributeSource,
  columnOf,
  findSpanColumn,
  isAttributeSource,
  type SpanColumnKind,
  type SpanColumnName,
} from "./span-columns.ts"
import { attributeSql, totalTokensSql, validDurationSql } from "./span-fields.ts"

/** NULL where a span has no such value. Numbers are Float64, booleans 1 and 0, times DateTime64. */
export interface SpanValue {
  sql: string
  type: ValueType
}

const typeOfSource: Record<AttributeSource, ValueType> = {
  custom_attrs_string: "string",
  custom_attrs_int: "number",
  custom_attrs_float: "number",
  custom_attrs_bool: "boolean",
}

/** null: cannot be aggregated. */
const typeOfKind: Record<SpanColumnKind, ValueType | null> = {
  text: "string",
  word: "string",
  time: "datetime",
  count: "number",
  integer: "number",
  number: "number",
  list: null,
  messages: null,
  text_map: null,
  integer_map: null,
  number_map: null,
  bool_map: null,
}

const costs = ["total_cost_usd", "input_cost_usd", "output_cost_usd"]

const derived: Record<string, SpanValue> = {
  duration_ms: { sql: validDurationSql, type: "number" },
  total_tokens: { sql: totalTokensSql, type: "number" },
  is_error: { sql: "toUInt8(status_code = 'ERROR')", type: "boolean" },
  is_invocation: { sql: "toUInt8(operation_name = 'invoke_agent')", type: "boolean" },
  ...Object.fromEntries(costs.map((column) => [column, { sql: column, type: "number" as const }])),
}

/** Whether the source of the query must have the columns of costs. */
export function needsCosts(value: ValueRef | null | undefined): boolean {
  return value?.source === "derived" && costs.includes(value.key)
}

/** @throws {HeddleError} `value_error` for a value that spans do not have, or of another type than `expected`. */
export function spanValue(
  { source, key }: ValueRef,
  parameters: SqlParameters,
  expected: ValueType | null = null,
): SpanValue {
  const value = valueOf(source, key, parameters)
  if (expected === null || expected === value.type) return value
  throw new HeddleError("value_error", `value "${key}" has value_type "${value.type}", got "${expected}"`)
}

function valueOf(source: ValueRef["source"], key: string, parameters: SqlParameters): SpanValue {
  if (isAttributeSource(source)) return attribute(source, key, parameters)
  if (source === "derived") {
    const value = Object.hasOwn(derived, key) ? derived[key] : undefined
    if (value !== undefined) return value
    throw new HeddleError("value_error", `unknown derived span value: "${key}"; use ${Object.keys(derived).join(", ")}`)
  }
  const column = findSpanColumn(key)
  const type = column === null || columnOf(column).isElsewhere ? null : typeOfKind[columnOf(column).kind]
  if (column === null || type === null) throw new HeddleError("value_error", `field "${key}" is not aggregatable`)
  return { sql: columnSql(column, type), type }
}

function columnSql(column: SpanColumnName, type: ValueType): string {
  if (type === "number") return `toFloat64(${column})`
  return type === "string" ? `nullIf(toString(${column}), '')` : column
}

function attribute(source: AttributeSource, key: string, parameters: SqlParameters): SpanValue {
  const type = typeOfSource[source]
  const sql = attributeSql(source, key, parameters)
  if (type === "number") return { sql: `toFloat64(${sql})`, type }
  return { sql: type === "boolean" ? `toUInt8(${sql})` : sql, type }
}

export interface SpanGroup extends SpanValue {
  alias: string
}

/** Values that a span has few of, or that name something it belongs to. */
const groupable = new Set<SpanColumnName>([
  "operation_name",
  "provider_name",
  "agent_name",
  "agent_version",
  "agent_id",
  "request_model",
  "response_model",
  "tool_name",
  "tool_type",
  "tool_call_id",
  "conversation_id",
  "conversation_name",
  "status_code",
  "error_type",
  "span_kind",
  "trace_id",
  "span_id",
  "wb_run_id",
  "wb_user_id",
  "eval_run_id",
  "eval_predict_and_score_call_id",
  "eval_kind",
  "eval_row_digest",
  "eval_example_id",
  "eval_trial_index",
  "eval_evaluation_name",
])

/** @throws {HeddleError} `value_error` for a field that cannot be grouped by, or two groups of one name. */
export function spanGroups(refs: readonly GroupRef[], parameters: SqlParameters): SpanGroup[] {
  const groups = refs.map((ref) => spanGroup(ref, parameters))
  const repeated = groups.find(({ alias }, index) => groups.findIndex((one) => one.alias === alias) !== index)
  if (repeated === undefined) return groups
  throw new HeddleError("value_error", `duplicate group_by alias: "${repeated.alias}"`)
}

function spanGroup({ source, key, alias }: GroupRef, parameters: SqlParameters): SpanGroup {
  if (isAttributeSource(source)) return { ...attribute(source, key, parameters), alias: alias ?? key }
  const column = groupColumn(key)
  if (column === null) throw new HeddleError("value_error", `group_by field "${key}" is not in the allowlist`)
  const type = typeOfKind[columnOf(column).kind] ?? "string"
  return { sql: columnSql(column, type), type, alias: alias ?? column }
}

/** The column that a field of `group_by` means; null: none to group by. */
export function groupColumn(key: string): SpanColumnName | null {
  const column = findSpanColumn(key)
  return column !== null && groupable.has(column) ? column : null
}
