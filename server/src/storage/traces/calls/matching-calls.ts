/** Which of some calls have ended, and which of those a selection asks for. */
import { hasId } from "./insert/call-keys.ts"
import { type CallsProject, type CallsQuery, selectCalls } from "./calls-selection.ts"
import { callsFinal, liveCall } from "./calls-tables.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

/** `ids`: no more than one statement names. */
export async function endedAmong(traces: TraceStore, projectId: string, ids: readonly string[]): Promise<string[]> {
  const parameters = new SqlParameters()
  const rows = await traces.rows<{ id: string }>(
    `select id from ${callsFinal}
      where project_id = {projectId:UUID} and ${hasId(parameters, projectId, ids)} and ${liveCall} and ended_at is not null`,
    { ...parameters.values, projectId },
  )
  return rows.map(({ id }) => id)
}

export type CallsCondition = CallsProject & Pick<CallsQuery, "filter" | "query">

/** @throws {HeddleError} as `selectCalls`, and for what the store cannot compute. */
export async function matchingAmong(
  traces: TraceStore,
  query: CallsCondition,
  ids: readonly string[],
): Promise<string[]> {
  const { live, condition, parameters } = selectCalls({ ...query, sortBy: null })
  const own = new SqlParameters("s")
  const rows = await traces.rows<{ id: string }>(
    `select id from ${callsFinal} where ${live} and ${hasId(own, query.projectId, ids)} and ${condition}`,
    { ...parameters, ...own.values },
  )
  return rows.map(({ id }) => id)
}
