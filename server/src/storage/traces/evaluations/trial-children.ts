/** The calls right below trials: the model's, and those of scorers. */
import { callsFinal, hasOddJson } from "../calls/calls-tables.ts"
import { jsonValue } from "../query/json-value.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { isoTimeSql } from "../query/sql-time.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { isTrial, inTraces, rowsInAll, type TrialScope } from "./trials.ts"

export interface TrialChild {
  id: string
  /** `inputs.self` where it is a string. */
  self: string | null
}

/** Oldest first. */
export async function findTrialChildren(
  traces: TraceStore,
  scope: TrialScope,
  trialIds: readonly string[],
): Promise<TrialChild[]> {
  const parameters = new SqlParameters()
  return traces.rows<TrialChild>(
    `select id, ${inputText("self", parameters)} as self from ${callsFinal}
      where ${inTraces(scope, parameters)} and parent_id in ${parameters.bind(trialIds, "Array(String)")}
      order by started_at, id`,
    parameters.values,
  )
}

export interface TrialUsage {
  evaluation: string
  /** ISO 8601, UTC: of the call that reports it. */
  started_at: string
  /** JSON text of `summary.usage`. */
  usage: string
}

/** What the model's call of each trial reports. `ofRowsInAll`: only of rows that every evaluation has. */
export async function readPredictUsage(
  traces: TraceStore,
  scope: TrialScope,
  ofRowsInAll: boolean,
): Promise<TrialUsage[]> {
  const parameters = new SqlParameters()
  const shortName = "splitByChar(':', splitByChar('/', assumeNotNull(op_name))[-1])[1]"
  const named = `multiSearchAnyCaseInsensitive(${shortName}, ['predict', 'invoke'])`
  return traces
    .rows<TrialUsage>(
      `select trials.evaluation as evaluation, ${isoTimeSql("children.began")} as started_at, children.usage as usage
      from (
        select id, parent_id, started_at as began, assumeNotNull(op_name) as op, ${named} as is_named,
          ${inputText("self", parameters)} as self, ${usageSql(parameters)} as usage
        from ${callsFinal} where ${inTraces(scope, parameters)} and not (${isScore(parameters)})
      ) as children
      inner join (
        select id, parent_id as evaluation, ${inputText("model", parameters)} as model
        from ${callsFinal} where ${chosenTrials(scope, ofRowsInAll, parameters)}
      ) as trials on trials.id = children.parent_id
      where is_named or self = model or op = model
      order by began, children.id limit 1 by trials.id`,
      parameters.values,
    )
    .then(reported)
}

/** What the trials themselves report: of the model's call and the scorers' together. */
export async function readTrialUsage(
  traces: TraceStore,
  scope: TrialScope,
  ofRowsInAll: boolean,
): Promise<TrialUsage[]> {
  const parameters = new SqlParameters()
  return traces
    .rows<TrialUsage>(
      `select parent_id as evaluation, ${isoTimeSql("calls.started_at")} as started_at, ${usageSql(parameters)} as usage
      from ${callsFinal} where ${chosenTrials(scope, ofRowsInAll, parameters)}`,
      parameters.values,
    )
    .then(reported)
}

const reported = (rows: (TrialUsage | { usage: null })[]): TrialUsage[] =>
  rows.filter((row): row is TrialUsage => row.usage !== null)

function chosenTrials(scope: TrialScope, ofRowsInAll: boolean, parameters: SqlParameters): string {
  const trials = isTrial(scope, parameters)
  return ofRowsInAll ? `${trials} and ${rowsInAll(scope, parameters)}` : trials
}

function inputText(name: string, parameters: SqlParameters): string {
  return jsonValue("inputs", [name], parameters, hasOddJson).as("text")
}

function usageSql(parameters: SqlParameters): string {
  return jsonValue("summary", ["usage"], parameters, hasOddJson).as("text")
}

/** Marked by this API, or by the SDK's imperative evaluations. */
function isScore(parameters: SqlParameters): string {
  const flag = (...path: string[]) => jsonValue("attributes", path, parameters, hasOddJson).as("bool")
  return `ifNull(${flag("weave", "score")}, false) or ifNull(${flag("_weave_eval_meta", "score")}, false)`
}
