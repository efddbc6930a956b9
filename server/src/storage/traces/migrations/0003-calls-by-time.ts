/**
 * Calls were stored in the order of their ids. They are copied into a table in the order of time (see
 * calls/sort-time.ts), their places are made anew, and the earlier tables are dropped.
 *
 * Where servers share the store, those of the earlier version may go on meanwhile. When nearly all is
 * copied their table gets another name, so that they can write to it no more, and what they wrote since
 * the beginning is copied last.
 */
import { callPlacesTable, callsTable } from "../calls/calls-tables.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { CannotMigrate } from "./cannot-migrate.ts"
import { copyCalls } from "./copy-calls.ts"
import { readCopyProgress } from "./copy-progress.ts"
import type { TraceMigration } from "./migrate-traces.ts"

const openTable = "calls"
const closedTable = "calls_v1"
const placesTable = "call_places"
const progressTable = "calls_copied"
/** In the order in which they are dropped. */
const earlierTables = [openTable, closedTable, placesTable, progressTable]

export const callsByTime: TraceMigration = {
  version: 3,
  name: "calls in the order of time",
  isNeeded: async (traces) => (await existing(traces)).size > 0,
  async run(traces, log) {
    if ((await existing(traces)).has(openTable)) {
      await checkDisk(traces)
      await copyCalls(traces, log, openTable, await readCopyProgress(traces, progressTable, openTable))
      await traces.command(`rename table ${openTable} to ${closedTable}`)
    }
    if ((await existing(traces)).has(closedTable)) {
      const { lastBlock } = await readCopyProgress(traces, progressTable, closedTable)
      await copyCalls(traces, log, closedTable, { writtenAfter: lastBlock })
    }
    for (const table of earlierTables) await traces.command(`drop table if exists ${table}`)
    log.info({}, "traces: all calls are in the order of time")
  },
}

/** Those of the earlier tables that are still there. */
async function existing(traces: TraceStore): Promise<Set<string>> {
  const rows = await traces.rows<{ name: string }>(
    "select name from system.tables where database = currentDatabase() and name in {names:Array(String)}",
    { names: earlierTables },
  )
  return new Set(rows.map(({ name }) => name))
}

/** The copy is about as large; while it is merged, parts of it are there twice. */
const roomForCopy = 1.5

/** @throws {CannotMigrate} */
async function checkDisk(traces: TraceStore): Promise<void> {
  const [disk] = await traces.rows<{ earlier: number; copied: number; free: number }>(
    `select toFloat64(sumIf(bytes_on_disk, table in {earlier:Array(String)})) as earlier,
        toFloat64(sumIf(bytes_on_disk, table in {made:Array(String)})) as copied,
        (select toFloat64(min(free_space)) from system.disks where name = 'default') as free
      from system.parts where database = currentDatabase() and active`,
    { earlier: earlierTables, made: [callsTable, callPlacesTable] },
  )
  if (disk === undefined) return
  const needed = disk.earlier * roomForCopy - disk.copied
  if (needed <= disk.free) return
  throw new CannotMigrate(
    `the calls are copied once, which needs ${gigabytes(needed)} GB on the disk of the trace store, and ` +
      `${gigabytes(disk.free)} GB are free. Nothing was changed; make room and start again`,
  )
}

const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(2)
