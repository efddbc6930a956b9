/**
 * Places of calls: by them the newest calls and those of a trace are found. Each start makes two, one
 * by time, without a trace, and one by trace; both in one table, as a part costs 2 to 3 ms however
 * small (2 cores). They are not rows of `calls`, whose parts would then overlap in the order of their
 * keys, so that every read with `final` had to merge all of them.
 *
 * A place is a candidate: what it names is checked in `calls`, as a call may have been started again
 * at another time, or in another trace.
 */
import type { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

/** One JSON Line for each place. @param start none of its values holds anything that JSON escapes. */
export function placeLines(start: { project_id: string; trace_id: string; started_at: string; id: string }): string {
  const place = `"project_id":"${start.project_id}","started_at":"${start.started_at}","id":"${start.id}"}\n`
  return `{${place}{"trace_id":"${start.trace_id}",${place}`
}

/** SQL: a select of the ids of all calls that ever were of one of these traces. */
export function traceCandidates(parameters: SqlParameters, projectId: string, traceIds: readonly string[]): string {
  const project = parameters.bind(projectId, "UUID")
  const traces = parameters.bind(traceIds, "Array(String)")
  return `select id from call_places where project_id = ${project} and trace_id in ${traces}`
}

/** SQL: a select of `id` and `started_at`, the `count` places that are the first or the last by time. */
export function timeCandidates(
  parameters: SqlParameters,
  projectId: string,
  direction: "asc" | "desc",
  count: number,
): string {
  const order = ["project_id", "trace_id", "started_at", "id"].map((column) => `${column} ${direction}`)
  return `select id, started_at from call_places
    where project_id = ${parameters.bind(projectId, "UUID")} and trace_id = ''
    order by ${order.join(", ")} limit ${count}`
}

/**
 * A crash between the two inserts of a request, which then was never answered, may leave calls without
 * places. At the next start they lie in a part that was not merged, or was just now. To add a place
 * that is there changes nothing.
 */
export async function addMissingPlaces(traces: TraceStore): Promise<void> {
  await traces.command(
    `insert into call_places (project_id, trace_id, started_at, id)
      select project_id, arrayJoin(['', assumeNotNull(trace_id)]), assumeNotNull(started_at), id from calls
      where started_at is not null and trace_id is not null and _part in (
        select name from system.parts where database = currentDatabase() and table = 'calls'
          and active and (level = 0 or modification_time > now() - 10)
      )`,
  )
}
