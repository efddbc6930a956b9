import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { hasId } from "./insert/call-keys.ts"
import { callsFinal } from "./calls-tables.ts"

/** Those of the calls that have begun, and have neither ended nor been deleted. */
export async function readRunningCalls(
  traces: TraceStore,
  projectId: string,
  ids: readonly string[],
): Promise<string[]> {
  const parameters = new SqlParameters()
  const rows = await traces.rows<{ id: string }>(
    `select id from ${callsFinal} where project_id = {projectId:UUID} and ${hasId(parameters, projectId, ids)}
      and started_at is not null and ended_at is null and deleted_at is null`,
    { ...parameters.values, projectId },
  )
  return rows.map(({ id }) => id)
}
