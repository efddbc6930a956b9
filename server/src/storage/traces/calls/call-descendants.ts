/** Calls below others in the tree of their trace. */
import { hasId } from "./insert/call-keys.ts"
import { type CallKey, callKey, isCandidate, type StoredKey, traceCandidates } from "./insert/call-places.ts"
import { callsFinal, liveCall } from "./calls-tables.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

interface TreeCall extends StoredKey {
  trace_id: string
  parent_id: string | null
}

/** The given calls that exist, and all that descend from them within their traces; deleted ones are left out. */
export async function withDescendants(
  traces: TraceStore,
  projectId: string,
  callIds: readonly string[],
): Promise<CallKey[]> {
  const byId = new SqlParameters()
  const roots = await existing(traces, projectId, hasId(byId, projectId, callIds), byId)
  const traceIds = [...new Set(roots.map(({ trace_id }) => trace_id))]
  const byTrace = new SqlParameters()
  const candidates = traceCandidates(byTrace, projectId, traceIds)
  const inTraces = `${isCandidate(candidates)} and trace_id in ${byTrace.bind(traceIds, "Array(String)")}`
  const calls = await existing(traces, projectId, inTraces, byTrace)
  const children = Map.groupBy(calls, ({ trace_id, parent_id }) => `${trace_id} ${parent_id}`)
  const found = new Map(roots.map((root) => [root.id, root]))
  const open = [...roots]
  for (let call = open.pop(); call !== undefined; call = open.pop()) {
    for (const child of children.get(`${call.trace_id} ${call.id}`) ?? []) {
      if (found.has(child.id)) continue
      found.set(child.id, child)
      open.push(child)
    }
  }
  return Array.from(found.values(), callKey)
}

function existing(
  traces: TraceStore,
  projectId: string,
  condition: string,
  parameters: SqlParameters,
): Promise<TreeCall[]> {
  return traces.rows<TreeCall>(
    `select id, sort_time, trace_id, parent_id from ${callsFinal}
      where project_id = {projectId:UUID} and ${condition} and ${liveCall}`,
    { ...parameters.values, projectId },
  )
}
