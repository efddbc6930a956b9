/** Which rows evaluations share, filtered, sorted and cut to a page, from narrow parts of their trials: evaluation-store-objects 7. */
import type { Query, SortBy } from "../../../wire/queries/query.ts"
import { compileCondition } from "../query/query-condition.ts"
import { callsFinal } from "../calls/calls-tables.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { SqlValue } from "../query/sql-value.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { resultField } from "./result-fields.ts"
import { isTrial, rowDigestSql, type TrialScope } from "./trials.ts"

export interface ResultSort extends SortBy {
  /** null: the mean over the trials of all evaluations. */
  evaluation: string | null
  /** `difference`: between the highest and the lowest mean of an evaluation. */
  mode: "value" | "difference"
}

export interface ResultFilter {
  /** null: of any evaluation. */
  evaluation: string | null
  query: Query
}

export interface ResultsQuery {
  scope: TrialScope
  /** Only rows that every evaluation has. */
  inAll: boolean
  filters: readonly ResultFilter[]
  /** How the filters of different evaluations join; those of one are ANDed. */
  join: "and" | "or"
  sortBy: readonly ResultSort[]
  /** Ids of the projects in which rows of datasets are looked up; empty: no field is of one. */
  datasetProjects: readonly string[]
  /** null: all. */
  limit: number | null
  offset: number
}

export interface ResultRow {
  row_digest: string
  /** Call ids, oldest first. */
  trials: string[]
}

/** `total`: before the page was cut. @throws {HeddleError} for fields and expressions that mean nothing. */
export async function findResultRows(
  traces: TraceStore,
  query: ResultsQuery,
): Promise<{ rows: ResultRow[]; total: number }> {
  const parameters = new SqlParameters()
  const grouped = `${trialsSql(query, parameters)} group by row_digest having ${havingSql(query, parameters)}`
  const order = [...query.sortBy.flatMap((sort) => sortKeys(sort, parameters)), "row_digest asc"]
  const limit = parameters.bind(query.limit ?? Number.MAX_SAFE_INTEGER, "UInt64")
  const rows = await traces.rows<ResultRow & { total: string }>(
    `select row_digest, arrayMap(trial -> trial.2, arraySort(groupArray((started_at, id)))) as trials, count() over () as total
      ${grouped} order by ${order.join(", ")} limit ${limit} offset ${parameters.bind(query.offset, "UInt64")}`,
    parameters.values,
  )
  const [first] = rows
  if (first !== undefined || (query.offset === 0 && query.limit !== 0))
    return { rows, total: Number(first?.total ?? 0) }
  const [counted] = await traces.rows<{ total: string }>(
    `select count() as total from (select row_digest ${grouped})`,
    parameters.values,
  )
  return { rows, total: Number(counted?.total ?? 0) }
}

function trialsSql({ scope, datasetProjects }: ResultsQuery, parameters: SqlParameters): string {
  const source = `from ${callsFinal} where ${isTrial(scope, parameters)}`
  const digest = rowDigestSql(parameters)
  const trials = `from (
    select id, assumeNotNull(parent_id) as evaluation, started_at, inputs, output, odd_json, ${digest} as row_digest ${source}
  ) as trials`
  if (datasetProjects.length === 0) return trials
  const projects = parameters.bind(datasetProjects, "Array(UUID)")
  return `${trials} left any join (
    select digest, any(val) as dataset_row from table_rows
    where project_id in ${projects} and digest in (select ${digest} ${source}) group by digest
  ) as dataset_rows on dataset_rows.digest = trials.row_digest`
}

function havingSql({ scope, inAll, filters, join }: ResultsQuery, parameters: SqlParameters): string {
  const field = (path: string) => resultField(path, parameters)
  const groups = Map.groupBy(filters, ({ evaluation }) => evaluation)
  const conditions = Array.from(groups, ([evaluation, members]) => {
    const wanted = members.map(({ query }) => compileCondition(query.$expr, { field, parameters }))
    const matches = `ifNull(${wanted.join(" and ")}, false)`
    if (evaluation !== null) return `countIf(${ofEvaluation(evaluation, parameters)} and ${matches}) > 0`
    if (join === "or") return `countIf(${matches}) > 0`
    return `uniqExactIf(evaluation, ${matches}) = ${scope.evaluationIds.length}`
  })
  const parts = conditions.length === 0 ? [] : [`(${conditions.join(` ${join} `)})`]
  if (inAll) parts.push(`uniqExact(evaluation) = ${scope.evaluationIds.length}`)
  return parts.length === 0 ? "true" : parts.join(" and ")
}

function ofEvaluation(evaluation: string, parameters: SqlParameters): string {
  return `evaluation = ${parameters.bind(evaluation, "String")}`
}

/** Missing values come last. Numbers by the mean of the trials, then text. */
function sortKeys({ field, direction, evaluation, mode }: ResultSort, parameters: SqlParameters): string[] {
  const value = resultField(field, parameters)
  const key = (sql: string) => `${sql} ${direction} nulls last`
  if (mode === "difference") return [key(spreadSql(value))]
  const scope = evaluation === null ? "true" : ofEvaluation(evaluation, parameters)
  const text = `minOrNullIf(${value.as("text")}, ${scope})`
  return value.kind === "text" ? [key(text)] : [key(`avgOrNullIf(${value.as("number")}, ${scope})`), key(text)]
}

/** null: fewer than two evaluations have a number. */
function spreadSql(value: SqlValue): string {
  const number = value.as("number")
  const means = `mapValues(avgMapIf(map(evaluation, assumeNotNull(${number})), isNotNull(${number})))`
  return `if(length(${means}) > 1, arrayMax(${means}) - arrayMin(${means}), NULL)`
}

/** How many different rows there are, of all trials. */
export async function countResultRows(traces: TraceStore, scope: TrialScope): Promise<number> {
  const parameters = new SqlParameters()
  const [row] = await traces.rows<{ total: string }>(
    `select uniqExact(${rowDigestSql(parameters)}) as total from ${callsFinal} where ${isTrial(scope, parameters)}`,
    parameters.values,
  )
  return Number(row?.total ?? 0)
}
