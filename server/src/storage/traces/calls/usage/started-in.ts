/** Calls that began in a range of time, read from where such calls lie. */
import type { CallsSelection } from "../calls-selection.ts"
import { liesAmong } from "../insert/call-places.ts"
import { SqlParameters } from "../../query/sql-parameters.ts"
import type { TraceParameters } from "../../store/trace-store.ts"
import { rangeSql, type TimeRange } from "../../time-buckets.ts"

/** SQL over `calls`: of the project, not deleted and begun in the range; `values`: of its parameters. */
export function startedIn(
  { live, projectId }: Pick<CallsSelection, "live" | "projectId">,
  range: TimeRange,
): { sql: string; values: TraceParameters } {
  const own = new SqlParameters("r")
  const lies = liesAmong(own, { projectId, startedAt: rangeSql("started_at", range) })
  return { sql: `${live} and ${lies} and ${rangeSql("calls.started_at", range)}`, values: own.values }
}
