/** The scores of all trials, a batch at a time, for statistics over them. */
import { hasOddJson } from "../calls/calls-tables.ts"
import { jsonValue } from "../query/json-value.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { isTrial, rowsInAll, type TrialScope } from "./trials.ts"

export interface TrialScores {
  id: string
  evaluation: string
  /** JSON text of `output.scores`; null: none. */
  scores: string | null
  /** `output.output` where it is a number, or true (1) and false (0). */
  numeric_output: number | null
}

const trialsAtOnce = 5_000

/** In no order of meaning. `ofRowsInAll`: only of rows that every evaluation of the scope has. */
export async function* readTrialScores(
  traces: TraceStore,
  scope: TrialScope,
  ofRowsInAll: boolean,
): AsyncGenerator<TrialScores[]> {
  const parameters = new SqlParameters()
  const output = (path: string[]) => jsonValue("output", path, parameters, hasOddJson)
  const conditions = [isTrial(scope, parameters)]
  if (ofRowsInAll) conditions.push(rowsInAll(scope, parameters))
  for (let after = ""; ;) {
    const rows = await traces.rows<TrialScores>(
      `select id, parent_id as evaluation, ${output(["scores"]).as("text")} as scores,
          ${output(["output"]).as("number")} as numeric_output
        from calls final where ${conditions.join(" and ")} and id > {after:String}
        order by id limit ${trialsAtOnce}`,
      { ...parameters.values, after },
    )
    yield rows
    if (rows.length < trialsAtOnce) return
    after = rows.at(-1)?.id ?? ""
  }
}
