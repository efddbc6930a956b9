/** Filters of the wandb client's public API over the rows of a list: platform-wandb 10. */
import { type RawBuilder, sql } from "kysely"
import { HeddleError } from "../../errors.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import type { CatalogDatabase } from "./open-catalog.ts"
import { patternFault } from "./pattern-cost.ts"
import { isStorable, isStorableJson } from "./storable-text.ts"

export type Condition = RawBuilder<boolean>

/** A text, a time or a list of texts; JSON is compared as JSON, whatever its type. */
export interface FilterField {
  kind: "text" | "time" | "tags" | "json"
  value: RawBuilder<unknown>
}

export const textField = (value: RawBuilder<unknown>): FilterField => ({ kind: "text", value })
export const timeField = (value: RawBuilder<unknown>): FilterField => ({ kind: "time", value })

const deepest = 20
const mostConditions = 200
/** PostgreSQL keeps so many patterns ready; with more of them it would read each anew for every run. */
const mostPatterns = 20

/** @throws {HeddleError} `bad_query` for a field that the list does not have. */
type FieldOf = (name: string) => FilterField

interface Counted {
  conditions: number
  patterns: number
}

/** @throws {HeddleError} `bad_query` for what is no filter: an unknown field or operator never means "all". */
export function filterCondition(filter: unknown, fieldOf: FieldOf): Condition {
  return conditionOf(filter, fieldOf, 0, { conditions: 0, patterns: 0 })
}

function conditionOf(filter: unknown, fieldOf: FieldOf, depth: number, counted: Counted): Condition {
  if (!isJsonObject(filter)) throw refusal(`a filter is an object, not ${describe(filter)}`)
  if (depth > deepest) throw refusal(`a filter nests at most ${deepest} levels deep`)
  const parts = Object.entries(filter).map(([name, operand]): Condition => {
    if (++counted.conditions > mostConditions) throw refusal(`a filter has at most ${mostConditions} conditions`)
    if (name === "$and" || name === "$or" || name === "$nor") {
      if (!Array.isArray(operand)) throw refusal(`${name} takes a list of filters, not ${describe(operand)}`)
      const inner = operand.map((one) => conditionOf(one, fieldOf, depth + 1, counted))
      if (name === "$and") return all(inner)
      return name === "$or" ? any(inner) : sql<boolean>`not ${any(inner)}`
    }
    if (name === "$not") return sql<boolean>`not ${conditionOf(operand, fieldOf, depth + 1, counted)}`
    return fieldCondition(fieldOf(name), name, operand, depth, counted)
  })
  return all(parts)
}

function fieldCondition(
  field: FilterField,
  name: string,
  operand: unknown,
  depth: number,
  counted: Counted,
): Condition {
  const isOperators = isJsonObject(operand) && Object.keys(operand).some((key) => key.startsWith("$"))
  if (!isOperators) return compared(field, name, "$eq", operand, counted)
  const parts = Object.entries(operand).map(([operator, value]): Condition => {
    if (++counted.conditions > mostConditions) throw refusal(`a filter has at most ${mostConditions} conditions`)
    if (operator !== "$not") return compared(field, name, operator, value, counted)
    if (depth > deepest) throw refusal(`a filter nests at most ${deepest} levels deep`)
    return sql<boolean>`not ${fieldCondition(field, name, value, depth + 1, counted)}`
  })
  return all(parts)
}

const comparisons: Readonly<Record<string, RawBuilder<unknown>>> = {
  $gt: sql`>`,
  $gte: sql`>=`,
  $lt: sql`<`,
  $lte: sql`<=`,
}

function compared(field: FilterField, name: string, operator: string, operand: unknown, counted: Counted): Condition {
  const { kind, value } = field
  if (operator === "$exists") return known(operand === false ? sql`${value} is null` : sql`${value} is not null`)
  if (operator === "$eq") return operand === null ? isNull(field) : equals(field, name, operand)
  if (operator === "$ne") return sql<boolean>`not ${compared(field, name, "$eq", operand, counted)}`
  if (operator === "$in" || operator === "$nin") {
    if (!Array.isArray(operand)) throw refusal(`${operator} takes a list, not ${describe(operand)}`)
    if (operand.length > mostConditions) throw refusal(`${operator} takes at most ${mostConditions} values`)
    const found = any(operand.map((one) => compared(field, name, "$eq", one, counted)))
    return operator === "$in" ? found : sql<boolean>`not ${found}`
  }
  if (operator === "$regex") {
    if (typeof operand !== "string" || !isStorable(operand) || operand.length > 200) {
      throw refusal(`$regex takes a pattern of at most 200 characters, not ${describe(operand)}`)
    }
    const fault = patternFault(operand)
    if (fault !== null) throw refusal(`$regex ${fault}; it was ${describe(operand)}`)
    if (++counted.patterns > mostPatterns) throw refusal(`a filter has at most ${mostPatterns} times $regex`)
    const own =
      kind === "json" ? sql`(${value} #>> '{}')` : kind === "tags" ? sql`array_to_string(${value}, ' ')` : value
    return known(sql`${own}::text ~ ${operand}`)
  }
  const comparison = comparisons[operator]
  if (comparison === undefined)
    throw refusal(`"${operator}" is no operator: $eq $ne $gt $gte $lt $lte $in $nin $regex $exists`)
  if (kind === "tags") throw refusal(`tags cannot be compared with ${operator}`)
  // Values of different types do not compare: a text is neither more nor less than a number.
  const sameType =
    kind === "json" ? sql`jsonb_typeof(${value}) = jsonb_typeof(${literal(field, name, operand)}) and` : sql``
  return known(sql`${sameType} ${value} ${comparison} ${literal(field, name, operand)}`)
}

function isNull({ kind, value }: FilterField): Condition {
  return known(kind === "json" ? sql`${value} is null or ${value} = 'null'::jsonb` : sql`${value} is null`)
}

function equals(field: FilterField, name: string, operand: unknown): Condition {
  const { kind, value } = field
  if (kind === "tags") {
    const tags = Array.isArray(operand) ? operand : [operand]
    return known(sql`${value} && ${tags.map((tag) => textValue(name, tag))}::text[]`)
  }
  return known(sql`${value} = ${literal(field, name, operand)}`)
}

function literal({ kind }: FilterField, name: string, operand: unknown): RawBuilder<unknown> {
  if (kind === "json") {
    const written = JSON.stringify(operand)
    if (!isStorableJson(written)) throw refusal(`${name} is compared with a text that cannot be stored`)
    return sql`${written}::jsonb`
  }
  const given = textValue(name, operand)
  if (kind === "text") return sql`${given}`
  const moment = timeOf(given)
  if (moment !== null) return sql`${moment}::timestamptz`
  throw refusal(`${name} is compared with "${given}", which is no time in ISO 8601, such as 2026-01-31T00:00:00Z`)
}

const isoTime = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/

/** As ISO 8601 in UTC, which it is without a zone too, wherever the server runs; null: it is no time. */
function timeOf(given: string): string | null {
  const match = isoTime.exec(given.trim())
  if (match === null) return null
  const [, day, clock = "00:00", zone = "Z"] = match
  const date = new Date(`${day}T${clock}${zone}`)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

function textValue(name: string, operand: unknown): string {
  if (typeof operand === "string" && isStorable(operand)) return operand
  throw refusal(`${name} is compared with ${describe(operand)}, which is no text`)
}

/** Null is neither yes nor no in SQL, and its negation would leave runs out. */
function known(condition: RawBuilder<unknown>): Condition {
  return sql<boolean>`coalesce((${condition}), false)`
}

function all(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

function any(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(conditions, sql` or `)})`
}

function describe(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 80) ?? "nothing"
}

export function refusal(message: string): HeddleError {
  return new HeddleError("bad_query", message)
}

/** Time limit of a read: a client's patterns are matched against every row. */
const longestMs = 10_000

const invalidPattern = "2201B"
const queryCanceled = "57014"

/** A read under a filter. @throws {HeddleError} `bad_query` for a pattern that is none, or takes too long. */
export async function withinTime<T>(
  database: CatalogDatabase,
  work: (transaction: CatalogDatabase) => Promise<T>,
): Promise<T> {
  try {
    return await database.transaction().execute(async (transaction) => {
      await sql.raw(`set local statement_timeout = ${longestMs}`).execute(transaction)
      return work(transaction)
    })
  } catch (cause) {
    const code = (cause as { code?: unknown }).code
    if (code === invalidPattern) throw new HeddleError("bad_query", "the filter's $regex is no pattern", { cause })
    if (code === queryCanceled)
      throw new HeddleError("bad_query", "the filter takes too long; make it simpler", { cause })
    throw cause
  }
}
