/** The calls right below one. */
import { isCandidate, traceCandidates } from "./insert/call-places.ts"
import { callsFinal, liveCall } from "./calls-tables.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import type { CallRow } from "./call-row-reads.ts"

/** Oldest first; of those that started with it or later. A call that was moved to another trace since is none of them. */
export async function findChildIds(
  traces: TraceStore,
  projectId: string,
  { id, trace_id, started_at }: Pick<CallRow, "id" | "trace_id" | "started_at">,
): Promise<string[]> {
  const parameters = new SqlParameters()
  const since = started_at.replace("Z", "").replace("T", " ")
  const rows = await traces.rows<{ id: string }>(
    `select id from ${callsFinal}
      where project_id = {projectId:UUID} and ${liveCall}
        and ${isCandidate(traceCandidates(parameters, projectId, [trace_id]))}
        and trace_id = {traceId:String} and parent_id = {id:String} and started_at >= {since:DateTime64(6, 'UTC')}
      order by started_at, id`,
    { ...parameters.values, projectId, traceId: trace_id, since, id },
  )
  return rows.map((row) => row.id)
}
