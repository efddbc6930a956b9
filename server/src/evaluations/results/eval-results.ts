/** `eval_results/query`: rows with the trials of each evaluation, and a summary (evaluation-store-objects 7). */
import { HeddleError, isRefusal } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { type CallRow, readCallRows } from "../../storage/traces/calls/call-row-reads.ts"
import { needsDatasetRows, scoresHead } from "../../storage/traces/evaluations/result-fields.ts"
import { findResultRows, type ResultsQuery } from "../../storage/traces/evaluations/result-rows.ts"
import { findDatasetProjects, type TrialScope } from "../../storage/traces/evaluations/trials.ts"
import type { EvalResultsBody } from "../../wire/evaluations/eval-results.ts"
import { fieldsOf } from "../../storage/traces/query/expression-fields.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { checkRange } from "../../objects/requests/list-range.ts"
import { existingProject, type ProjectAccess } from "../../access/project-access.ts"
import { ResultRows } from "./result-text.ts"
import { summarizeResults } from "./results-summary.ts"

const mostEvaluations = 1000
/** More than evaluations that are compared with each other have. */
const mostDatasetProjects = 100

/** The pieces of the answer's JSON text. What is wrong with the request is thrown ahead of the first. */
export async function* queryResults(
  dependencies: CallDependencies,
  principal: Principal,
  project: ProjectAccess,
  body: EvalResultsBody,
): AsyncGenerator<string> {
  const evaluationIds = evaluationsOf(body)
  const roots = await readCallRows(dependencies.traces, project.id, evaluationIds, [
    "inputs",
    "display_name",
    "summary",
  ])
  const traceIds = [...new Set(roots.map(({ trace_id }) => trace_id))]
  const scope: TrialScope = { projectId: project.id, evaluationIds, traceIds }
  const request = await resultsQuery(dependencies, principal, body, scope)
  const [found, summary] = await Promise.all([
    body.include_rows ? findResultRows(dependencies.traces, request) : { rows: [], total: 0 },
    body.include_summary ? summarizeResults(dependencies, project, summaryRequest(body, scope, roots)) : null,
  ])
  const warnings = missingEvaluations(evaluationIds, roots)
  const rows = new ResultRows(dependencies, principal, project, {
    scope,
    withRows: body.include_raw_data_rows,
    resolves: body.include_raw_data_rows && body.resolve_row_refs,
    withChildren: body.include_predict_and_score_children,
    withCosts: body.include_costs,
    withOutputs: body.include_model_outputs,
  })
  yield '{"rows":['
  yield* joined(rows.texts(found.rows))
  const rest = { total_rows: found.total, summary, warnings: [...new Set([...warnings, ...rows.warnings])] }
  yield `],${JSON.stringify(rest).slice(1)}`
}

async function* joined(texts: AsyncGenerator<string[]>): AsyncGenerator<string> {
  let before = ""
  for await (const batch of texts) {
    yield before + batch.join(",")
    before = ","
  }
}

/** Each once, in the order in which they were asked for. */
function evaluationsOf({ evaluation_call_ids, evaluation_run_ids }: EvalResultsBody): string[] {
  const ids = [...new Set([...(evaluation_call_ids ?? []), ...(evaluation_run_ids ?? [])])]
  if (ids.length <= mostEvaluations) return ids
  throw new HeddleError(
    "value_error",
    `${ids.length} evaluations are too many at once; name at most ${mostEvaluations}`,
  )
}

async function resultsQuery(
  dependencies: CallDependencies,
  principal: Principal,
  body: EvalResultsBody,
  scope: TrialScope,
): Promise<ResultsQuery> {
  const filters = (body.filters ?? []).map(({ evaluation_call_id, query }) => ({
    evaluation: checkedEvaluation(evaluation_call_id, scope, "filters"),
    query,
  }))
  const sortBy = (body.sort_by ?? []).map(({ evaluation_call_id, mode, field, direction }) => {
    if (mode === "difference" && !field.startsWith(`${scoresHead}.`)) throw noDifference(field)
    const evaluation = checkedEvaluation(evaluation_call_id, scope, "sort_by")
    return { field, direction, evaluation, mode: scope.evaluationIds.length > 1 ? mode : ("value" as const) }
  })
  const fields = [...sortBy.map(({ field }) => field), ...filters.flatMap(({ query }) => fieldsOf(query.$expr))]
  return {
    scope,
    inAll: body.require_intersection,
    filters,
    join: body.filter_logic_operator,
    sortBy,
    datasetProjects: fields.some(needsDatasetRows) ? await datasetProjects(dependencies, principal, scope) : [],
    ...checkRange(body),
  }
}

/** Ids of the evaluations' own project and of those that their trials name datasets of, as far as the caller may read them. */
async function datasetProjects(
  { database, traces }: CallDependencies,
  principal: Principal,
  scope: TrialScope,
): Promise<string[]> {
  const names = await findDatasetProjects(traces, scope, mostDatasetProjects)
  const ids = new Set([scope.projectId])
  for (const name of names) {
    try {
      ids.add((await existingProject(database, principal, name, "read")).id)
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
  }
  return [...ids]
}

function summaryRequest(body: EvalResultsBody, scope: TrialScope, roots: readonly CallRow[]) {
  return {
    scope,
    roots,
    inAll: body.summary_require_intersection ?? body.require_intersection,
    withChildren: body.include_predict_and_score_children,
    withCosts: body.include_costs,
  }
}

function checkedEvaluation(
  evaluation: string | null | undefined,
  { evaluationIds }: TrialScope,
  where: string,
): string | null {
  if (evaluation == null || evaluationIds.includes(evaluation)) return evaluation ?? null
  throw new HeddleError(
    "value_error",
    `${where} names the evaluation ${evaluation}, which is none of those asked for in evaluation_call_ids`,
  )
}

function noDifference(field: string): HeddleError {
  return new HeddleError("invalid_request", `mode "difference" is for numbers: scores.<scorer>, not "${field}"`)
}

function missingEvaluations(ids: readonly string[], roots: readonly CallRow[]): string[] {
  const found = new Set(roots.map(({ id }) => id))
  return ids.filter((id) => !found.has(id)).map((id) => `evaluation ${id} was not found`)
}
