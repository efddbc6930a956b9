/** Spans of agents that come again after their calls were deleted. */
import { gathered } from "../calls/insert/call-gathering.ts"
import { hasKey } from "../calls/insert/call-keys.ts"
import type { CallKey } from "../calls/insert/call-places.ts"
import { callsFinal } from "../calls/calls-tables.ts"
import { namedAtOnce } from "../query/named-at-once.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { kindOf, type TraceStore } from "../store/trace-store.ts"
import { deleteAgentSpans } from "./span-table.ts"

/**
 * Removes the spans of those of these calls that are deleted. A deleted call keeps its row, which says so whatever is written
 * to it later. A span of an agent is removed as a whole, and an exporter that repeats itself would bring it back.
 */
export async function removeReturnedSpans(
  traces: TraceStore,
  projectId: string,
  calls: readonly CallKey[],
): Promise<void> {
  for (const some of namedAtOnce(calls)) {
    const parameters = new SqlParameters()
    const deleted = await traces.rows<{ id: string }>(
      `select id from ${callsFinal} where project_id = {projectId:UUID} and ${hasKey(parameters, some)}
        and deleted_at != {gathered:DateTime64(3, 'UTC')}`,
      { ...parameters.values, projectId, gathered },
      { kind: kindOf(some) },
    )
    const ids = deleted.map(({ id }) => id)
    if (ids.length > 0) await deleteAgentSpans(traces, projectId, ids)
  }
}
