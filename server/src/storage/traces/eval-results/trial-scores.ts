/** The scores of trials, a batch at a time, for statistics over them. */
import { hasOddJson } from "../calls/calls-tables.ts"
import { jsonValue } from "../query/json-value.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { isTrial, type TrialScope } from "./trials.ts"

export interface TrialScores {
  id: string
  evaluation: string
  /** JSON text of `output.scores`; null: none. */
  scores: string | null
  /** `output.output` where it is a number, or true (1) and false (0). */
  numeric_output: number | null
}

const trialsAtOnce = 10_000
/** The time that ClickHouse takes to read a statement grows faster than it. */
const namedTrialsAtOnce = 4096

/** Of all trials, in no order of meaning. */
export async function* readTrialScores(traces: TraceStore, scope: TrialScope): AsyncGenerator<TrialScores[]> {
  const parameters = new SqlParameters()
  const sql = `${scoresSql(parameters)} where ${isTrial(scope, parameters)} and id > {after:String}
    order by id limit ${trialsAtOnce}`
  for (let after = ""; ;) {
    const rows = await traces.rows<TrialScores>(sql, { ...parameters.values, after })
    yield rows
    if (rows.length < trialsAtOnce) return
    after = rows.at(-1)?.id ?? ""
  }
}

/** Of the trials with these ids. */
export async function* readScoresOf(
  traces: TraceStore,
  projectId: string,
  trialIds: readonly string[],
): AsyncGenerator<TrialScores[]> {
  const parameters = new SqlParameters()
  const sql = `${scoresSql(parameters)} where project_id = {projectId:UUID} and id in {ids:Array(String)}
    and started_at is not null and deleted_at is null`
  for (let from = 0; from < trialIds.length; from += namedTrialsAtOnce) {
    const ids = trialIds.slice(from, from + namedTrialsAtOnce)
    yield await traces.rows<TrialScores>(sql, { ...parameters.values, projectId, ids })
  }
}

function scoresSql(parameters: SqlParameters): string {
  const output = (name: string) => jsonValue("output", [name], parameters, hasOddJson)
  return `select id, parent_id as evaluation, ${output("scores").as("text")} as scores,
    ${output("output").as("number")} as numeric_output from calls final`
}
