/** Calls below others in the tree of their trace. */
import { traceCandidates } from "./call-places.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

interface Place {
  id: string
  trace_id: string
  parent_id: string | null
}

/** The given calls that exist, and all that descend from them within their traces; deleted ones are left out. */
export async function withDescendants(
  traces: TraceStore,
  projectId: string,
  callIds: readonly string[],
): Promise<string[]> {
  const byId = new SqlParameters()
  const roots = await existing(traces, projectId, `id in ${byId.bind(callIds, "Array(String)")}`, byId)
  const traceIds = [...new Set(roots.map(({ trace_id }) => trace_id))]
  const byTrace = new SqlParameters()
  const candidates = traceCandidates(byTrace, projectId, traceIds)
  const inTraces = `id in (${candidates}) and trace_id in ${byTrace.bind(traceIds, "Array(String)")}`
  const places = await existing(traces, projectId, inTraces, byTrace)
  const children = Map.groupBy(places, ({ trace_id, parent_id }) => `${trace_id} ${parent_id}`)
  const found = new Set(roots.map(({ id }) => id))
  const open = [...roots]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    for (const child of children.get(`${place.trace_id} ${place.id}`) ?? []) {
      if (found.has(child.id)) continue
      found.add(child.id)
      open.push(child)
    }
  }
  return [...found]
}

function existing(
  traces: TraceStore,
  projectId: string,
  condition: string,
  parameters: SqlParameters,
): Promise<Place[]> {
  return traces.rows<Place>(
    `select id, trace_id, parent_id from calls final
      where project_id = {projectId:UUID} and ${condition} and started_at is not null and deleted_at is null`,
    { ...parameters.values, projectId },
  )
}
