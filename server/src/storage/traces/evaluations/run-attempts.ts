/** How often the predictions and scorers of an evaluation run were tried, and why some failed. */
import { callsFinal, hasOddJson } from "../calls/calls-tables.ts"
import { jsonValue } from "../query/json-value.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { inTraces } from "./trials.ts"

export interface RunAttempts {
  /** The ref of the scorer; null: predictions. */
  scorer: string | null
  attempts: number
  failed: number
  /** The first different ones, oldest first. */
  reasons: string[]
}

const mostReasons = 3
const longestReason = 1000

/** Attempts among the calls marked as predictions and scores (`evaluations/runs/run-names.ts`). */
export async function readRunAttempts(traces: TraceStore, projectId: string, traceId: string): Promise<RunAttempts[]> {
  const parameters = new SqlParameters()
  const marker = (name: string) => jsonValue("attributes", ["weave", name], parameters, hasOddJson).as("text")
  const reason = `leftUTF8(assumeNotNull(exception), ${longestReason})`
  const reasons = `arrayDistinct(arrayMap(one -> one.2, arraySort(groupArrayIf((started_at, ${reason}), has_failed))))`
  const rows = await traces.rows<Omit<RunAttempts, "attempts" | "failed"> & { attempts: string; failed: string }>(
    `select if(is_score, scorer, null) as scorer, count() as attempts, countIf(has_failed) as failed,
        arraySlice(${reasons}, 1, ${mostReasons}) as reasons
      from (
        select started_at, exception, ifNull(exception, '') != '' as has_failed, ${marker("scorer")} as scorer,
          ifNull(${marker("score")} = 'true', false) as is_score, ifNull(${marker("prediction")} = 'true', false) as is_prediction
        from ${callsFinal} where ${inTraces({ projectId, traceIds: [traceId], evaluationIds: [] }, parameters)}
      ) where is_score or is_prediction group by scorer`,
    parameters.values,
  )
  return rows.map((row) => ({ ...row, attempts: Number(row.attempts), failed: Number(row.failed) }))
}
