/**
 * Which calls are in which annotation queue, beside the calls so that a query can name it
 * (evaluation-store-calls 3.6). The items themselves are in the catalog.
 */
import { storedJson } from "../stored-json.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

export const queueCallTables = [
  `create table if not exists annotation_queue_calls (
    project_id UUID,
    queue_id String,
    call_id String,
    version DateTime64(9, 'UTC') default now64(9),
    is_deleted UInt8 default 0
  ) engine = ReplacingMergeTree(version, is_deleted) order by (project_id, queue_id, call_id)`,
]

/** Puts calls into a queue, or takes them out. */
export async function writeQueueCalls(
  traces: TraceStore,
  projectId: string,
  queueId: string,
  callIds: readonly string[],
  { removed } = { removed: false },
): Promise<void> {
  const row = { project_id: projectId, queue_id: queueId, is_deleted: Number(removed) }
  await traces.insert("annotation_queue_calls", callIds.map((call_id) => storedJson({ ...row, call_id })).join("\n"))
}

/** SQL over the columns of `calls`: the ids of the queues that a call is in, an `Array(String)`. */
export function queuesOfCall({ projectId, parameters }: { projectId: string; parameters: SqlParameters }): string {
  const lists = `(select (groupArray(call), groupArray(queues)) from (
    select call_id as call, groupArray(queue_id) as queues from annotation_queue_calls final
    where annotation_queue_calls.project_id = ${parameters.bind(projectId, "UUID")} group by call))`
  const [calls, queues] = [`tupleElement(${lists}, 1)`, `tupleElement(${lists}, 2)`]
  // `transform` looks a call up by hash, but gives no arrays.
  const position = `transform(id, ${calls}, arrayEnumerate(${calls}), toUInt32(0))`
  return `if(${position} = 0, [], arrayElement(${queues}, greatest(${position}, 1)))`
}
