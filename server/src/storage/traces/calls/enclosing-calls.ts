/** Calls with those that enclose them, up to the roots of their traces. */
import { isCandidate, traceCandidates } from "./insert/call-places.ts"
import { callsFinal, liveCall } from "./calls-tables.ts"
import { type CallRow, readCallRows } from "./call-row-reads.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

/** Calls that enclose one are not looked for beyond so many. */
const mostLevels = 100
const idsAtOnce = 1000

export type TreeCall = Pick<CallRow, "id" | "trace_id" | "parent_id" | "op_name">

/** By id; what is not there, or was deleted, is left out with what encloses it. */
export async function readEnclosingCalls(
  traces: TraceStore,
  projectId: string,
  callIds: readonly string[],
): Promise<Map<string, TreeCall>> {
  const found = new Map<string, TreeCall>()
  const asked = new Set<string>()
  let open = [...new Set(callIds)]
  for (let level = 0; level < mostLevels && open.length > 0; level++) {
    const parents = new Set<string>()
    for (let from = 0; from < open.length; from += idsAtOnce) {
      const some = open.slice(from, from + idsAtOnce)
      for (const id of some) asked.add(id)
      for (const call of await readCallRows(traces, projectId, some, [])) {
        found.set(call.id, call)
        if (call.parent_id !== null && !asked.has(call.parent_id)) parents.add(call.parent_id)
      }
    }
    open = [...parents]
  }
  return found
}

/** The calls that nothing encloses, in these traces. */
export async function readTraceRoots(
  traces: TraceStore,
  projectId: string,
  traceIds: readonly string[],
): Promise<TreeCall[]> {
  if (traceIds.length === 0) return []
  const parameters = new SqlParameters()
  const candidates = traceCandidates(parameters, projectId, traceIds)
  return traces.rows<TreeCall>(
    `select id, trace_id, parent_id, op_name from ${callsFinal}
      where project_id = {projectId:UUID} and ${liveCall} and ${isCandidate(candidates)}
        and trace_id in ${parameters.bind(traceIds, "Array(String)")} and parent_id is null
      order by started_at, id`,
    { ...parameters.values, projectId },
  )
}
