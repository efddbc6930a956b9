/**
 * Places move from the table `call_places` among the rows of `calls`, and `odd_json`, which the store
 * computed, becomes a plain column.
 */
import type { TraceStore } from "../store/trace-store.ts"
import type { TraceMigration } from "./migrate-traces.ts"

export const placesAmongCalls: TraceMigration = {
  name: "places among calls",
  async run(traces) {
    if (await isComputed(traces)) await traces.command("alter table calls modify column odd_json remove materialized")
    if (!(await hasPlaces(traces))) return
    await traces.command(
      `insert into calls (project_id, id) select ${keySpace("' time'")}, concat(toString(started_at), ' ', id)
        from call_places where trace_id = ''`,
    )
    await traces.command(
      `insert into calls (project_id, id) select ${keySpace("' trace ', trace_id")}, id
        from call_places where trace_id != ''`,
    )
    await traces.command("drop table if exists call_places")
  },
}

/** As call-places.ts makes it. */
function keySpace(name: string): string {
  return `toUUID(substring(lower(hex(SHA256(concat(toString(project_id), ${name})))), 1, 32))`
}

async function isComputed(traces: TraceStore): Promise<boolean> {
  const rows = await traces.rows(
    `select 1 as one from system.columns where database = currentDatabase() and table = 'calls'
      and name = 'odd_json' and default_kind = 'MATERIALIZED'`,
  )
  return rows.length > 0
}

async function hasPlaces(traces: TraceStore): Promise<boolean> {
  const rows = await traces.rows(
    "select 1 as one from system.tables where database = currentDatabase() and name = 'call_places'",
  )
  return rows.length > 0
}
