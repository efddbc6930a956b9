/**
 * Compiles the query language to a SQL condition: evaluation-store-calls 3.6,
 * evaluation-store-objects 11. Logic has three values, as in SQL: a comparison with a missing value
 * is NULL, and so is its `$not`.
 */
import { HeddleError } from "../../../errors.ts"
import type { Operand } from "../../../wire/queries/query.ts"
import { literalValue, needsExactInteger } from "./query-literal.ts"
import type { SqlParameters } from "./sql-parameters.ts"
import { boolValue, numberValue, type ScalarType, type SqlValue, textValue } from "./sql-value.ts"
import { searchText } from "./text-search.ts"

export interface QueryScope {
  /** @throws {HeddleError} for a path that this list of fields does not have. */
  field: (path: string) => SqlValue
  parameters: SqlParameters
  /** Inside this expression, false and unknown are not the same to the caller. */
  exactUnknown?: boolean
}

/**
 * SQL of a nullable Bool.
 * @throws {HeddleError} 400 or 422 for an expression that means nothing.
 */
export function compileCondition(expression: Operand, scope: QueryScope): string {
  const sql = condition(expression, scope)
  // Some comparisons name their operands twice, so nesting them multiplies the text.
  if (sql.length > longestCondition) throw new HeddleError("bad_query", "the query expression is too complex")
  return sql
}

const longestCondition = 1_000_000

function condition(expression: Operand, scope: QueryScope): string {
  if (expression.$and !== undefined) return junction("and", expression.$and, scope)
  if (expression.$or !== undefined) return junction("or", expression.$or, scope)
  if (expression.$not !== undefined) {
    return `not (${compileCondition(expression.$not[0], { ...scope, exactUnknown: true })})`
  }
  if (expression.$in !== undefined) return membership(...expression.$in, scope)
  if (expression.$contains !== undefined) return containment(expression.$contains, scope)
  for (const [name, operator] of comparisons) {
    const pair = expression[name]
    if (pair !== undefined) return comparison(operator, pair[0], pair[1], scope)
  }
  return compileValue(expression, scope).as("bool")
}

const comparisons = [
  ["$eq", "="],
  ["$gt", ">"],
  ["$gte", ">="],
  ["$lt", "<"],
  ["$lte", "<="],
] as const

type Operator = (typeof comparisons)[number][1]

function junction(word: "and" | "or", operands: readonly Operand[], scope: QueryScope): string {
  if (operands.length === 0) {
    throw new HeddleError("value_error", `Empty ${word.toUpperCase()} operation: give $${word} at least one operand`)
  }
  return `(${operands.map((operand) => compileCondition(operand, scope)).join(` ${word} `)})`
}

function compileValue(operand: Operand, scope: QueryScope): SqlValue {
  if (operand.$literal !== undefined) return literalValue(operand.$literal, scope.parameters)
  if (operand.$getField !== undefined) return scope.field(operand.$getField)
  if (operand.$size !== undefined) return numberValue(compileValue(operand.$size, scope).size)
  if (operand.$convert !== undefined) return conversion(operand.$convert, scope)
  return boolValue(compileCondition(operand, { ...scope, exactUnknown: true }))
}

function conversion({ input, to }: NonNullable<Operand["$convert"]>, scope: QueryScope): SqlValue {
  const value = compileValue(input, scope)
  switch (to) {
    case "exists":
      return boolValue(value.exists)
    case "string":
      return textValue(value.as("text"))
    case "bool":
      return boolValue(value.as("bool"))
    case "int":
      return exactNumber(`trunc(${value.as("number")})`, value)
    case "double":
      return exactNumber(value.as("number"), value)
  }
}

/** The number that was made of a value. A whole one keeps the digits that a double does not have; a time has none to keep. */
function exactNumber(sql: string, value: SqlValue): SqlValue {
  const number = numberValue(sql)
  if (value.kind === "time") return number
  const integer = () => `ifNull(${value.as("integer")}, ${number.as("integer")})`
  return { ...number, as: (type) => (type === "integer" ? integer() : number.as(type)) }
}

function comparison(operator: Operator, left: Operand, right: Operand, scope: QueryScope): string {
  const a = compileValue(left, scope)
  const b = compileValue(right, scope)
  if (a.kind === "null" || b.kind === "null") return nullTest(operator, a.kind === "null" ? b : a)
  if (operator === "=" && a.list !== undefined) return listHas(a.list, b)
  if (operator === "=" && b.list !== undefined) return listHas(b.list, a)
  const literals = [left.$literal, right.$literal].filter((one) => one !== undefined)
  const isExact = literals.length === 0 || literals.some(needsExactInteger)
  if (isExact && commonType(a, b) === "number") return exactComparison(operator, a, b)
  if (a.kind === "json" && b.kind === "json") return looseComparison(operator, a, b)
  const type = commonType(a, b)
  const exact = `(${a.as(type)} ${operator} ${b.as(type)})`
  if (operator !== "=") return exact
  return `(${quickTest(a, [right.$literal], scope)}${quickTest(b, [left.$literal], scope)}${exact})`
}

/** `$eq` of a list column with a value asks whether it has the value. An empty one is missing. */
function listHas(list: string, value: SqlValue): string {
  return `if(notEmpty(${list}), has(${list}, ${value.as("text")}), NULL)`
}

/** A search in the text of the JSON, ahead of the exact test: "" or `<search> and `. */
function quickTest(...given: Parameters<typeof searchText>): string {
  const search = searchText(...given)
  return search === null ? "" : `${search} and `
}

/** `$eq` with null asks whether the value is missing; any other comparison with null is unknown. */
function nullTest(operator: Operator, value: SqlValue): string {
  return operator === "=" ? `(not (${value.exists}))` : "NULL"
}

/** Times win over numbers, numbers over booleans, all over text; JSON takes the type of the other side. */
function commonType(a: SqlValue, b: SqlValue): ScalarType {
  const kinds = [a.kind, b.kind]
  for (const type of ["time", "number", "bool"] as const) if (kinds.includes(type)) return type
  return "text"
}

/** Both as whole numbers where they are, else as doubles. */
function exactComparison(operator: Operator, a: SqlValue, b: SqlValue): string {
  const [exact, rounded] = (["integer", "number"] as const).map((type) => `${a.as(type)} ${operator} ${b.as(type)}`)
  return `ifNull(${exact}, ${rounded})`
}

/** Two JSON values: as whole numbers or as doubles if both are numbers, else as text. */
function looseComparison(operator: Operator, a: SqlValue, b: SqlValue): string {
  return `ifNull(${exactComparison(operator, a, b)}, ${a.as("text")} ${operator} ${b.as("text")})`
}

/** Nulls in the list match nothing. */
function membership(operand: Operand, candidates: readonly Operand[], scope: QueryScope): string {
  const literals = candidates.filter(({ $literal }) => $literal !== null)
  if (literals.length === 0) return "false"
  const value = compileValue(operand, scope)
  const values = literals.map(({ $literal }) => $literal)
  if (values.every((one) => typeof one === "string") && (value.kind === "text" || value.kind === "json")) {
    const quick = quickTest(value, values, scope)
    return `(${quick}${value.as("text")} in ${scope.parameters.bind(values, "Array(String)")})`
  }
  if (values.every((one) => Number.isSafeInteger(one)) && (value.kind === "number" || value.kind === "json")) {
    return `(${value.as("number")} in ${scope.parameters.bind(values as number[], "Array(Float64)")})`
  }
  return `(${literals.map((candidate) => comparison("=", operand, candidate, scope)).join(" or ")})`
}

/** Membership in a list column, else a substring. */
function containment({ input, substr, case_insensitive }: NonNullable<Operand["$contains"]>, scope: QueryScope) {
  const value = compileValue(input, scope)
  const part = compileValue(substr, scope).as("text")
  if (value.list !== undefined) {
    if (case_insensitive !== true) return `has(${value.list}, ${part})`
    return `arrayExists(one -> lowerUTF8(one) = lowerUTF8(${part}), ${value.list})`
  }
  if (case_insensitive === true) {
    // The needle is ASCII wherever the quick test is made, so no letter beyond that is another case of one of its own.
    const quick = quickTest(value, [substr.$literal], scope, "positionCaseInsensitive")
    return `(${quick}positionCaseInsensitiveUTF8(${value.as("text")}, ${part}) > 0)`
  }
  return `(${quickTest(value, [substr.$literal], scope)}position(${value.as("text")}, ${part}) > 0)`
}
