/** Which spans a request is about: evaluation-store-calls 10. */
import type { InsightFilter, SignalFilters } from "../../../wire/agents/span-values.ts"
import type { Operand } from "../../../wire/queries/query.ts"
import { fieldsOf } from "../query/expression-fields.ts"
import { compileCondition } from "../query/query-condition.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { findSpanColumn } from "./span-columns.ts"
import { spanField } from "./span-fields.ts"
import { identityColumns, type PriceStep, type SpanScope, spanSource } from "./span-source.ts"
import { holdsSql } from "./span-texts.ts"

export interface SpanQuery {
  /** Id in the catalog. */
  projectId: string
  where: Operand | null
  signals: SignalFilters | null
  insights: readonly InsightFilter[]
  /** What the names or the messages of a span hold; null: whatever. */
  text: string | null
  /** Microseconds since 1970: inclusive, exclusive. */
  after: bigint | null
  before: bigint | null
  /** null: what spans cost is not needed. */
  prices: readonly PriceStep[] | null
}

export interface SpanSelection {
  /** `<source> where <conditions>`. */
  from: string
  parameters: SqlParameters
}

/**
 * `identity`: whether what is done with the spans depends on it; that the query depends on it is seen here. `counted`: whether
 * totals are made of them.
 * @throws {HeddleError} for fields and expressions that mean nothing.
 */
export function selectSpans(query: SpanQuery, { identity = true, counted = false } = {}): SpanSelection {
  const parameters = new SqlParameters()
  const scope: SpanScope = { ...query, parameters, traceIds: null }
  const named =
    query.signals !== null || query.text !== null || (query.where !== null && fieldsOf(query.where).some(isIdentity))
  const source = spanSource(scope, { identity: identity || named, counted, prices: query.prices })
  return { from: `${source} where ${spanConditions(query, parameters)}`, parameters }
}

/** Whether spans have the field from their trace. */
export function isIdentity(field: string): boolean {
  const column = findSpanColumn(field)
  return column !== null && identityColumns.has(column)
}

function spanConditions({ projectId, where, signals, insights, text }: SpanQuery, parameters: SqlParameters): string {
  const conditions: string[] = []
  if (where !== null) {
    const field = (path: string) => spanField(path, parameters)
    conditions.push(compileCondition(where, { field, parameters }))
  }
  if (text !== null) conditions.push(holdsSql(text, parameters))
  if (signals !== null) conditions.push(...signalConditions(projectId, signals, parameters))
  // No insights are extracted here: no conversation has any.
  conditions.push(...insights.map(({ exclude }) => (exclude === true ? "true" : "false")))
  return conditions.length === 0 ? "true" : conditions.join(" and ")
}

const comparisons = { gte: ">=", gt: ">", lte: "<=", lt: "<", eq: "=" } as const

/** A tag and a rating may be on different pieces of feedback of the conversation. */
function signalConditions(projectId: string, { tags, ratings }: SignalFilters, parameters: SqlParameters): string[] {
  const wanted: string[] = []
  if (tags?.length) wanted.push(`countIf(hasAny(scorer_tags, ${parameters.bind(tags, "Array(String)")})) > 0`)
  for (const { scorer_key, op, value } of ratings ?? []) {
    const key = parameters.bind(scorer_key, "String")
    const matches = `scorer_ratings[${key}] ${comparisons[op]} ${parameters.bind(value, "Float64")}`
    wanted.push(`countIf(mapContains(scorer_ratings, ${key}) and ${matches}) > 0`)
  }
  if (wanted.length === 0) return []
  return [
    `conversation_id in (
      select span_conversation_id from feedback final
      where project_id = ${parameters.bind(projectId, "UUID")} and span_conversation_id != ''
        and feedback_type in ('wandb.agent_monitor', 'wandb.agent_user_feedback')
      group by span_conversation_id having ${wanted.join(" and ")}
    )`,
  ]
}
