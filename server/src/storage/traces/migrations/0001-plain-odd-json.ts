/** `odd_json`, which the store computed, becomes a plain column: whoever makes a row knows it, for less. */
import type { TraceStore } from "../store/trace-store.ts"
import type { TraceMigration } from "./migrate-traces.ts"

export const plainOddJson: TraceMigration = {
  name: "plain odd_json",
  async run(traces) {
    if (await isComputed(traces)) await traces.command("alter table calls modify column odd_json remove materialized")
  },
}

async function isComputed(traces: TraceStore): Promise<boolean> {
  const rows = await traces.rows(
    `select 1 as one from system.columns where database = currentDatabase() and table = 'calls'
      and name = 'odd_json' and default_kind = 'MATERIALIZED'`,
  )
  return rows.length > 0
}
