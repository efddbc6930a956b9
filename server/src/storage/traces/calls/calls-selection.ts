/** Which calls a request asks for, as SQL over the calls, and in which order. */
import type { CallsFilter } from "../../../wire/calls/call-read.ts"
import type { Operand, Query, SortBy } from "../../../wire/queries/query.ts"
import type { Expansion } from "./fields/call-ref-field.ts"
import { liveCall } from "./calls-tables.ts"
import { callField, isOfPayload } from "./fields/call-query-fields.ts"
import { filterConditions, traceCondition } from "./call-filter.ts"
import { isCandidate, liesAmong } from "./insert/call-places.ts"
import { fieldsOf } from "../query/expression-fields.ts"
import { compileCondition } from "../query/query-condition.ts"
import { compileOrder } from "../query/query-order.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { SqlValue } from "../query/sql-value.ts"
import { rowSearches } from "../query/text-search.ts"
import type { TraceParameters } from "../store/trace-store.ts"

export interface CallsQuery {
  projectId: string
  /** `entity/project`. */
  projectName: string
  /** null: calls are kept until they are deleted; see `fields/call-expiry.ts`. */
  retentionDays: number | null
  filter: CallsFilter
  query: Query | null
  /** null: by time (calls 3.7). */
  sortBy: readonly SortBy[] | null
  /** Targets of the refs at the paths of `expand_columns`, shallow paths first (calls 3.9). */
  expansions?: readonly Expansion[]
}

/** The project whose calls are meant. */
export type CallsProject = Pick<CallsQuery, "projectId" | "projectName" | "retentionDays">

export interface CallsSelection {
  projectId: string
  /** SQL: of the project. */
  project: string
  /** SQL: of the project, started, not deleted. */
  live: string
  /** SQL: what the request asks for besides; "true" when nothing. */
  condition: string
  /** SQL: what of that holds for the start alone, whatever else the call has; null when nothing. */
  startedAt: string | null
  /** The request asks for nothing else than {@link startedAt}. */
  isByStart: boolean
  retentionDays: number | null
  /** SQL: a part of the table in which all calls lie that are asked for, where that saves reading payloads; else "true". */
  within: string
  /** SQL: all of the above, for reads whose calls no key chooses. */
  where: string
  /** See `rowSearches`. */
  searches: readonly string[]
  /**
   * Selects calls by trace: `candidates` finds their keys, `condition` is the remaining condition in SQL, and `isAll` says that
   * every call of the traces is asked for.
   */
  traces: { candidates: string; condition: string; isAll: boolean } | null
  /** Terms of an `order by`, down to the id. */
  order: string
  /** The calls are in the order of their start, this way, and nothing finds them sooner than their time; else null. */
  byTime: "asc" | "desc" | null
  parameters: TraceParameters
}

/** @throws {HeddleError} for a field, literal or list that the contract refuses. */
export function selectCalls(request: CallsQuery): CallsSelection {
  const { projectId, projectName, retentionDays, filter, query, sortBy, expansions = [] } = request
  const parameters = new SqlParameters()
  const scope = { projectId, projectName, retentionDays, parameters, expansions }
  const field = (path: string): SqlValue => callField(path, scope)
  const filtered = filterConditions(filter, projectId, parameters)
  const conditions = [...filtered]
  if (query !== null) conditions.push(compileCondition(query.$expr, { field, parameters }))
  const parts = query === null ? [] : conjunctsOf(query.$expr)
  const onStart = hasIndex(filter) ? [] : parts.filter(isOfStart)
  const startedAt =
    onStart.length === 0 ? null : onStart.map((part) => compileCondition(part, { field, parameters })).join(" and ")
  const inTraces = traceCondition(filter, projectId, parameters)
  if (inTraces !== null) conditions.push(inTraces.isIn)
  const condition = allOf(conditions)
  const project = `project_id = ${parameters.bind(projectId, "UUID")}`
  const live = `${project} and ${liveCall}`
  const isSlow = query !== null && fieldsOf(query.$expr).some(isOfPayload)
  const within = startedAt === null || !isSlow ? "true" : liesAmong(parameters, { projectId, startedAt })
  const wholeCondition = inTraces === null ? condition : `${isCandidate(inTraces.candidates)} and ${condition}`
  return {
    projectId,
    project,
    live,
    condition: wholeCondition,
    startedAt,
    isByStart: filtered.length === 0 && !hasIndex(filter) && onStart.length === parts.length,
    retentionDays,
    within,
    where: `${live} and ${within} and ${wholeCondition}`,
    searches:
      hasIndex(filter) || query === null ? [] : rowSearches(query.$expr, { field, parameters }).map(({ sql }) => sql),
    traces: inTraces === null ? null : { candidates: inTraces.candidates, condition, isAll: conditions.length === 1 },
    byTime: hasIndex(filter) ? null : timeDirection(sortBy),
    order: orderOf(sortBy, field),
    parameters: parameters.values,
  }
}

/** The expression names the start of a call and nothing else. */
function isOfStart(expression: Operand): boolean {
  const fields = new Set(fieldsOf(expression))
  return fields.size === 1 && fields.has("started_at")
}

function conjunctsOf(expression: Operand): Operand[] {
  return expression.$and === undefined ? [expression] : expression.$and.flatMap(conjunctsOf)
}

function allOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? "true" : conditions.join(" and ")
}

function hasIndex({ call_ids, trace_ids }: CallsFilter): boolean {
  return (call_ids?.length ?? 0) + (trace_ids?.length ?? 0) > 0
}

/** Without a sort oldest first; a given one, even an empty one, ends with the id. */
function orderOf(sortBy: readonly SortBy[] | null, field: (path: string) => SqlValue): string {
  const direction = timeDirection(sortBy)
  if (direction !== null) return `started_at ${direction}, id asc`
  const terms = compileOrder(sortBy ?? [], field)
  if (!(sortBy ?? []).some((one) => one.field === "id")) terms.push("id asc")
  return terms.join(", ")
}

function timeDirection(sortBy: readonly SortBy[] | null): "asc" | "desc" | null {
  if (sortBy === null) return "asc"
  const [first, second, ...rest] = sortBy
  if (first?.field !== "started_at" || rest.length > 0) return null
  return second === undefined || (second.field === "id" && second.direction === "asc") ? first.direction : null
}
