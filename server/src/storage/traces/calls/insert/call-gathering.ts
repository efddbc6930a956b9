/** Brings the rows of a call that are stored under several sort times together under the first of them. */
import type { TraceStore } from "../../store/trace-store.ts"
import { namedAtOnce } from "../../query/named-at-once.ts"
import { callsFinal, callsTable } from "../calls-tables.ts"

/** The `deleted_at` of rows that were gathered: no read shows them, and they are not gathered again, over newer ones. */
export const gathered = "1970-01-01 00:00:00.000"

/** SQL: the first sort time of the row's call. */
const first = "transform(id, {ids:Array(String)}, {firsts:Array(Int64)}, toInt64(0))"

/** By the id of the call, its sort times; the rows come under the first. To do it again changes nothing. */
export async function gatherRows(
  traces: TraceStore,
  projectId: string,
  sortTimes: ReadonlyMap<string, readonly number[]>,
): Promise<void> {
  const all = [...sortTimes].map(([id, [earliest = 0, ...others]]) => ({ id, earliest, others }))
  for (const some of namedAtOnce(all)) {
    await traces.command(
      `insert into ${callsTable} select * replace (${first} as sort_time)
        from (
          select * from ${callsFinal}
          where project_id = {projectId:UUID} and sort_time in {others:Array(Int64)} and id in {ids:Array(String)}
            and sort_time != ${first}
            and isNull(nullIf(deleted_at, {gathered:DateTime64(3, 'UTC')})) = isNull(deleted_at)
        )`,
      {
        projectId,
        ids: some.map(({ id }) => id),
        firsts: some.map(({ earliest }) => earliest),
        others: [...new Set(some.flatMap(({ others }) => others))],
        gathered,
      },
    )
    const marks = some.flatMap(({ id, others }) =>
      others.map((sort_time) => `${JSON.stringify({ project_id: projectId, id, sort_time, deleted_at: gathered })}\n`),
    )
    await traces.insert(callsTable, marks.join(""))
  }
}
