/** The scores of trials, a batch at a time, for statistics over them. */
import { hasId } from "../calls/insert/call-keys.ts"
import { inPieces } from "../query/in-pieces.ts"
import { namedAtOnce } from "../query/named-at-once.ts"
import { callsFinal, hasOddJson, liveCall } from "../calls/calls-tables.ts"
import { jsonValue } from "../query/json-value.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { nullWhenTooLarge } from "../store/store-failure.ts"
import type { QueryLimits, TraceStore } from "../store/trace-store.ts"
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
/** Limit on the scores of several trials together: they are parsed at once. Those of one are no larger than its row. */
const pieceLimits: QueryLimits = { resultBytes: 16 * 1024 ** 2 }
/** What a piece that is too large is divided by: scores of megabytes are reached soon. */
const division = 4

/** Scores of all trials, in no particular order. */
export async function* readTrialScores(traces: TraceStore, scope: TrialScope): AsyncGenerator<TrialScores[]> {
  const parameters = new SqlParameters()
  const sql = `${scoresSql(parameters)} where ${isTrial(scope, parameters)} and id > {after:String} order by id`
  let count = trialsAtOnce
  for (let after = ""; ;) {
    const values = { ...parameters.values, after }
    const some = traces.rows<TrialScores>(`${sql} limit ${count}`, values, pieceLimits)
    const rows = await (count > 1 ? some.catch(nullWhenTooLarge) : some)
    if (rows === null) {
      count = Math.ceil(count / division)
      continue
    }
    yield rows
    if (rows.length < count) return
    after = rows.at(-1)?.id ?? ""
  }
}

/** Scores of the trials with these ids. */
export async function* readScoresOf(
  traces: TraceStore,
  projectId: string,
  trialIds: readonly string[],
): AsyncGenerator<TrialScores[]> {
  const read = (some: readonly string[]) => {
    const parameters = new SqlParameters()
    const named = hasId(parameters, projectId, some)
    const sql = `${scoresSql(parameters)} where project_id = {projectId:UUID} and ${named}
      and ${liveCall}`
    return traces.rows<TrialScores>(sql, { ...parameters.values, projectId }, pieceLimits)
  }
  for (const some of namedAtOnce(trialIds)) yield* inPieces(some, read, division)
}

function scoresSql(parameters: SqlParameters): string {
  const member = (name: string) => jsonValue("output", [name], parameters, hasOddJson)
  const output = member("output")
  // A text of digits is an answer in words.
  const number = `if(${output.jsonType} = 'String', NULL, ${output.as("number")})`
  return `select id, parent_id as evaluation, ${member("scores").as("text")} as scores,
    ${number} as numeric_output from ${callsFinal}`
}
