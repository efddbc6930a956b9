/** Finding feedback: evaluation-store-objects 2.4. */
import type { Operand, SortBy } from "../../../wire/queries/query.ts"
import { type FeedbackFieldScope, feedbackSelection, feedbackValue } from "./feedback-fields.ts"
import { compileCondition } from "../query/query-condition.ts"
import { compileOrder } from "../query/query-order.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceParameters, TraceStore } from "../store/trace-store.ts"

export interface FeedbackSelection {
  /** Id in the catalog. */
  projectId: string
  /** `entity/project`. */
  projectName: string
  where: Operand | null
  /** Only what is about these. */
  weaveRefs?: readonly string[]
}

export interface FeedbackPage {
  /** Each once. */
  fields: readonly string[]
  /** null: in the order in which the rows were made. */
  sortBy: readonly SortBy[] | null
  limit: number | null
  offset: number
}

/** Payloads may take a mebibyte each, and an answer is made in memory. */
const answerBytes = 256 * 1024 ** 2

/**
 * Rows as lists of values, in the order of `fields`.
 * @throws {HeddleError} for fields and expressions that mean nothing; `query_memory` beyond `mostBytes`.
 */
export async function selectFeedback(
  traces: TraceStore,
  selection: FeedbackSelection,
  { fields, ...page }: FeedbackPage,
  mostBytes = answerBytes,
): Promise<unknown[][]> {
  const { sql, parameters } = feedbackRowsSql(selection, page, (scope) =>
    fields.map((field, index) => `${feedbackSelection(field, scope)} as c${index}`).join(", "),
  )
  const rows = await traces.rows<Record<string, unknown>>(sql, parameters, { resultBytes: mostBytes })
  return rows.map((row) => fields.map((_, index) => row[`c${index}`]))
}

/** A select of what `selectColumns` says about the rows. @throws {HeddleError} for fields and expressions that mean nothing. */
export function feedbackRowsSql(
  selection: FeedbackSelection,
  { sortBy, limit, offset }: Omit<FeedbackPage, "fields">,
  selectColumns: (scope: FeedbackFieldScope) => string,
): { sql: string; parameters: TraceParameters } {
  const parameters = new SqlParameters()
  const scope = { projectName: selection.projectName, parameters }
  const columns = selectColumns(scope)
  const where = condition(selection, scope)
  const order = orderTerms(sortBy, scope)
  const range = `limit ${parameters.bind(limit ?? unlimited, "UInt64")} offset ${parameters.bind(offset, "UInt64")}`
  const sql = `select ${columns} from feedback final where ${where} order by ${order.join(", ")} ${range}`
  return { sql, parameters: parameters.values }
}

const unlimited = Number.MAX_SAFE_INTEGER

export async function countFeedback(traces: TraceStore, selection: FeedbackSelection): Promise<number> {
  const parameters = new SqlParameters()
  const where = condition(selection, { projectName: selection.projectName, parameters })
  const [row] = await traces.rows<{ n: string }>(
    `select count() as n from feedback final where ${where}`,
    parameters.values,
  )
  return Number(row?.n ?? 0)
}

function condition({ projectId, where, weaveRefs }: FeedbackSelection, scope: FeedbackFieldScope): string {
  const { parameters } = scope
  const conditions = [`feedback.project_id = ${parameters.bind(projectId, "UUID")}`]
  if (weaveRefs !== undefined) conditions.push(isAbout(projectId, weaveRefs, parameters))
  if (where !== null) {
    const field = (path: string) => feedbackValue(path, scope)
    conditions.push(compileCondition(where, { field, parameters }))
  }
  return conditions.join(" and ")
}

/** With `final` only keys are looked at before payloads are read: the ids of what is about the refs are found first. */
function isAbout(projectId: string, weaveRefs: readonly string[], parameters: SqlParameters): string {
  const isNamed = `feedback.weave_ref in ${parameters.bind(weaveRefs, "Array(String)")}`
  const ids = `select id from feedback where project_id = ${parameters.bind(projectId, "UUID")} and ${isNamed}`
  return `feedback.id in (${ids}) and ${isNamed}`
}

function orderTerms(sortBy: readonly SortBy[] | null, scope: FeedbackFieldScope): string[] {
  if (sortBy === null) return ["created_at asc", "id asc"]
  const terms = compileOrder(sortBy, (path) => feedbackValue(path, scope))
  return sortBy.some(({ field }) => field === "id") ? terms : [...terms, "id asc"]
}
