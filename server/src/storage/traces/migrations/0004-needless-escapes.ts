/**
 * Adds the mark of calls whose payloads spell with an escape what they could spell without. Until ClickHouse has computed it
 * for what is stored, in the background, it does so with every search.
 */
import { callsTable, needlessEscapeColumn } from "../calls/calls-tables.ts"
import type { TraceMigration } from "./migrate-traces.ts"

const column = "needless_escape"

export const needlessEscapes: TraceMigration = {
  version: 4,
  name: "a mark of needless escapes",
  async isNeeded(traces) {
    const found = await traces.rows(
      `select 1 from system.columns
        where database = currentDatabase() and table = '${callsTable}' and name = '${column}'`,
    )
    return found.length === 0
  },
  async run(traces) {
    const added = `add column if not exists ${needlessEscapeColumn}`
    await traces.command(`alter table ${callsTable} ${added}, materialize column ${column} settings mutations_sync = 0`)
  },
}
