/** Filters and orders of the wandb client's public API over runs: platform-wandb 10. */
import { type RawBuilder, sql } from "kysely"
import { HeddleError } from "../../../errors.ts"
import { isJsonObject } from "../../../json/parsed-json.ts"
import { isStorable } from "../storable-text.ts"
import { patternFault } from "./pattern-cost.ts"
import { reportedStateSql } from "./runs.ts"

type Condition = RawBuilder<boolean>

/** A text, a time or a list of texts; JSON is compared as JSON, whatever its type. */
interface Field {
  kind: "text" | "time" | "tags" | "json"
  value: RawBuilder<unknown>
}

const text = (value: RawBuilder<unknown>): Field => ({ kind: "text", value })
const time = (value: RawBuilder<unknown>): Field => ({ kind: "time", value })

/**
 * What conditions and orders read of a run's JSON. PostgreSQL unpacks a large value anew wherever a condition names it; here it
 * does so once for each run, which `offset` keeps apart from the conditions.
 */
export const documentsOfRun = sql<{ config: unknown; summary: unknown }>`(
  select runs.config_values || '{}' as config, runs.summary_values || '{}' as summary offset 0
)`.as<"documents">(sql`documents`)

const fields: Readonly<Record<string, Field>> = {
  state: text(reportedStateSql),
  name: text(sql`runs.name`),
  display_name: text(sql`runs.display_name`),
  displayName: text(sql`runs.display_name`),
  group: text(sql`runs.group_name`),
  jobType: text(sql`runs.job_type`),
  job_type: text(sql`runs.job_type`),
  username: text(sql`users.username`),
  // There are no sweeps, so no run is of one.
  sweep: text(sql`null::text`),
  tags: { kind: "tags", value: sql`runs.tags` },
  created_at: time(sql`runs.created_at`),
  createdAt: time(sql`runs.created_at`),
  heartbeat_at: time(sql`runs.heartbeat_at`),
  heartbeatAt: time(sql`runs.heartbeat_at`),
}

const deepest = 20
const mostConditions = 200
/** PostgreSQL keeps so many patterns ready; with more of them it would read each anew for every run. */
const mostPatterns = 20

interface Counted {
  conditions: number
  patterns: number
}

/** @throws {HeddleError} `bad_query` for what is no filter: an unknown field or operator never means "all". */
export function runCondition(filter: unknown): Condition {
  const counted = { conditions: 0, patterns: 0 }
  return conditionOf(filter, 0, counted)
}

function conditionOf(filter: unknown, depth: number, counted: Counted): Condition {
  if (!isJsonObject(filter)) throw refusal(`a filter is an object, not ${describe(filter)}`)
  if (depth > deepest) throw refusal(`a filter nests at most ${deepest} levels deep`)
  const parts = Object.entries(filter).map(([name, operand]): Condition => {
    if (++counted.conditions > mostConditions) throw refusal(`a filter has at most ${mostConditions} conditions`)
    if (name === "$and" || name === "$or" || name === "$nor") {
      if (!Array.isArray(operand)) throw refusal(`${name} takes a list of filters, not ${describe(operand)}`)
      const inner = operand.map((one) => conditionOf(one, depth + 1, counted))
      if (name === "$and") return all(inner)
      return name === "$or" ? any(inner) : sql<boolean>`not ${any(inner)}`
    }
    if (name === "$not") return sql<boolean>`not ${conditionOf(operand, depth + 1, counted)}`
    return fieldCondition(fieldOf(name), name, operand, depth, counted)
  })
  return all(parts)
}

function fieldCondition(field: Field, name: string, operand: unknown, depth: number, counted: Counted): Condition {
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

function compared(field: Field, name: string, operator: string, operand: unknown, counted: Counted): Condition {
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

function isNull({ kind, value }: Field): Condition {
  return known(kind === "json" ? sql`${value} is null or ${value} = 'null'::jsonb` : sql`${value} is null`)
}

function equals(field: Field, name: string, operand: unknown): Condition {
  const { kind, value } = field
  if (kind === "tags") {
    const tags = Array.isArray(operand) ? operand : [operand]
    return known(sql`${value} && ${tags.map((tag) => textValue(name, tag))}::text[]`)
  }
  return known(sql`${value} = ${literal(field, name, operand)}`)
}

function literal({ kind }: Field, name: string, operand: unknown): RawBuilder<unknown> {
  if (kind === "json") {
    const written = JSON.stringify(operand)
    if (/\\u0000|\\ud[89a-f]/i.test(written)) throw refusal(`${name} is compared with a text that no run can hold`)
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

/** @throws {HeddleError} `bad_query`. */
function fieldOf(name: string): Field {
  const own = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (own !== undefined) return own
  const [column, ...path] = name.split(".")
  if (path.length > 0 && path.every((part) => part !== "" && isStorable(part))) {
    if (column === "config") return { kind: "json", value: configValue(path) }
    if (column === "summary_metrics" || column === "summaryMetrics") {
      return { kind: "json", value: valueAt(sql`documents.summary`, path) }
    }
  }
  throw refusal(
    `runs have no field "${name}": state, name, display_name, tags, group, job_type, username, created_at, heartbeat_at, config.<key>, summary_metrics.<key>`,
  )
}

/** The client stores `{key: {value}}`, and people write `config.key` as well as `config.key.value`. A key may have dots itself. */
function configValue(path: readonly string[]): RawBuilder<unknown> {
  const [key = "", ...inner] = path
  const rest = inner[0] === "value" ? inner.slice(1) : inner
  const nested = sql`documents.config #> ${[key, "value", ...rest]}::text[]`
  if (rest.length === 0) return nested
  const dotted = (inner.at(-1) === "value" ? path.slice(0, -1) : path).join(".")
  return sql`coalesce(${nested}, documents.config #> ${[dotted, "value"]}::text[])`
}

/** A key may have dots itself: the whole path as one key comes first. */
function valueAt(column: RawBuilder<unknown>, path: readonly string[]): RawBuilder<unknown> {
  return path.length === 1
    ? sql`${column} #> ${[...path]}::text[]`
    : sql`coalesce(${column} #> ${[path.join(".")]}::text[], ${column} #> ${[...path]}::text[])`
}

export interface RunOrder {
  value: RawBuilder<unknown>
  isDescending: boolean
}

/** `+created_at`, `-summary_metrics.loss`. @throws {HeddleError} `bad_query`. */
export function runOrder(order: string): RunOrder {
  const isDescending = order.startsWith("-")
  const name = order.replace(/^[+-]/, "")
  const { kind, value } = fieldOf(name)
  if (kind === "tags") throw refusal("runs cannot be ordered by tags")
  // A NaN is kept as null, which is less than all else in jsonb: a run that diverged would be the one with the least loss.
  return { value: kind === "json" ? sql`nullif(${value}, 'null'::jsonb)` : value, isDescending }
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

function refusal(message: string): HeddleError {
  return new HeddleError("bad_query", message)
}
