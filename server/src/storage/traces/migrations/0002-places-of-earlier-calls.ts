/** Stores of before there were places get those of their calls; without them no list would show a call. */
import type { TraceMigration } from "./migrate-traces.ts"

/** A place stays when its call is started again, so only of calls that never had places one is older than all places. */
const projectsWithoutPlaces = `select project_id from (
    select project_id, assumeNotNull(started_at) as at, 1 as is_call from calls where started_at is not null
    union all
    select project_id, started_at as at, 0 as is_call from call_places where trace_id = ''
  ) group by project_id
  having countIf(is_call = 1) > 0
    and (countIf(is_call = 0) = 0 or minIf(at, is_call = 1) < minIf(at, is_call = 0))`

export const placesOfEarlierCalls: TraceMigration = {
  name: "places of earlier calls",
  run: (traces) =>
    traces.command(
      `insert into call_places (project_id, trace_id, started_at, id)
        select project_id, arrayJoin(['', assumeNotNull(trace_id)]), assumeNotNull(started_at), id from calls
        where started_at is not null and trace_id is not null and project_id in (${projectsWithoutPlaces})`,
    ),
}
