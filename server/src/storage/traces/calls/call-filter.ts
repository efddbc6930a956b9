/** `filter` of a calls query as SQL conditions: evaluation-store-calls 3.5. Members are ANDed, values inside one ORed. */
import { HeddleError } from "../../../errors.ts"
import type { CallsFilter } from "../../../wire/calls/call-read.ts"
import { hasId } from "./insert/call-keys.ts"
import { traceCandidates } from "./insert/call-places.ts"
import { hasRef } from "./fields/payload-refs.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"

const longestList = 1000
const limitedLists = [
  "op_names",
  "input_refs",
  "output_refs",
  "parent_ids",
  "trace_ids",
  "call_ids",
  "thread_ids",
  "turn_ids",
  "wb_run_ids",
] as const

const exactLists = [
  ["parent_ids", "parent_id"],
  ["wb_user_ids", "wb_user_id"],
  ["wb_run_ids", "wb_run_id"],
] as const

/** An empty list of these matches nothing. */
const strictLists = [
  ["thread_ids", "thread_id"],
  ["turn_ids", "turn_id"],
] as const

/** At the end of a ref: any version. */
const anyVersion = ":*"

/**
 * But for `trace_ids`, see {@link traceCondition}.
 * @throws {HeddleError} 400 for a list of more than 1000.
 */
export function filterConditions(filter: CallsFilter, projectId: string, parameters: SqlParameters): string[] {
  for (const name of limitedLists) checkLength(name, filter[name]?.length ?? 0)
  const oneOf = (column: string, values: readonly string[]) =>
    `${column} in ${parameters.bind(values, "Array(String)")}`
  const conditions: string[] = []
  const { op_names, input_refs, output_refs, call_ids } = filter
  if (given(call_ids)) conditions.push(hasId(parameters, projectId, call_ids))
  for (const [name, column] of exactLists) {
    const values = filter[name]
    if (given(values)) conditions.push(oneOf(column, values))
  }
  for (const [name, column] of strictLists) {
    const values = filter[name]
    if (values !== null && values !== undefined) conditions.push(values.length === 0 ? "false" : oneOf(column, values))
  }
  if (filter.trace_roots_only === true) conditions.push("parent_id is null")
  if (given(op_names)) conditions.push(opCondition(op_names, parameters))
  if (given(input_refs)) conditions.push(hasRef("inputs", input_refs, parameters))
  if (given(output_refs)) conditions.push(hasRef("output", output_refs, parameters))
  return conditions
}

function given(list: readonly string[] | null | undefined): list is readonly string[] {
  return list !== null && list !== undefined && list.length > 0
}

function checkLength(name: string, length: number): void {
  if (length <= longestList) return
  throw new HeddleError(
    "value_error",
    `Parameter: '${name}' request length is greater than max length (${longestList}). Actual length: ${length}`,
  )
}

export interface TraceCondition {
  /** SQL: a select of `sort_time` and `id` of calls, some of which may have moved to another trace since. */
  candidates: string
  /** SQL: of a call that is in one of the traces now. */
  isIn: string
}

/** null: the filter names no traces. */
export function traceCondition(
  { trace_ids }: CallsFilter,
  projectId: string,
  parameters: SqlParameters,
): TraceCondition | null {
  if (!given(trace_ids)) return null
  return {
    candidates: traceCandidates(parameters, projectId, trace_ids),
    isIn: `trace_id in ${parameters.bind(trace_ids, "Array(String)")}`,
  }
}

function opCondition(names: readonly string[], parameters: SqlParameters): string {
  const [families, exact] = partition(names, (name) => name.endsWith(anyVersion))
  const conditions = families.map((name) => `startsWith(op_name, ${parameters.bind(name.slice(0, -1), "String")})`)
  if (exact.length > 0) conditions.push(`op_name in ${parameters.bind(exact, "Array(String)")}`)
  return `(${conditions.join(" or ")})`
}

function partition<T>(values: readonly T[], test: (value: T) => boolean): [T[], T[]] {
  return [values.filter(test), values.filter((value) => !test(value))]
}
