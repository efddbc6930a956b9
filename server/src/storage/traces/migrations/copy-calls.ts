/** Copies calls of a table in the order of their ids into the one in the order of time, a stretch of ids at a time. */
import type { Log } from "../../../log.ts"
import { placesOfRowSql } from "../calls/insert/call-places.ts"
import { callPlacesTable, callsTable } from "../calls/calls-tables.ts"
import { holdsSortTimeSql, sortTimeInIdSql, unknownSortTime } from "../calls/insert/sort-time.ts"
import { needsLessMemory } from "../store/store-failure.ts"
import type { TraceStore } from "../store/trace-store.ts"
import type { CopyBound, CopyProgress } from "./copy-progress.ts"

/** Rows that one statement copies. */
const stretchRows = 20_000
const reportEveryMs = 10_000

/** To go on from an earlier copy, or only calls of which rows were written behind a block. */
type Which = Pick<CopyProgress, "after" | "copied" | "keep"> | { writtenAfter: string }

/** A stretch may be copied again: the same rows make the same calls. */
export async function copyCalls(traces: TraceStore, log: Log, table: string, which: Which): Promise<void> {
  const isRest = "writtenAfter" in which
  const wanted = isRest ? inLaterBlocks(table, which.writtenAfter) : "true"
  const columns = await sharedColumns(traces, table)
  const rows = await countRows(traces, table)
  let after = isRest ? null : which.after
  let copied = isRest ? 0 : which.copied
  let size = stretchRows
  let reportedAt = performance.now()
  for (;;) {
    const until = await boundBehind(traces, table, wanted, after, size)
    try {
      await copyStretch(traces, table, wanted, columns, after, until)
    } catch (error) {
      // Rows may be megabytes each: fewer at once need less memory.
      if (!needsLessMemory(error) || size === 1) throw error
      size = Math.ceil(size / 8)
      continue
    }
    if (until === null) return
    copied += size
    after = until
    size = Math.min(stretchRows, size * 2)
    if (!isRest) await which.keep(until, copied)
    if (performance.now() - reportedAt < reportEveryMs) continue
    reportedAt = performance.now()
    log.info({ copied, rows }, `traces: ${copied} of about ${rows} rows of calls are copied into the order of time`)
  }
}

/** SQL: of a row that was written behind the block. */
function inLaterBlocks(table: string, block: string): string {
  return `_part in (
    select name from system.parts
    where database = currentDatabase() and table = '${table}' and active and max_block_number > ${block}
  )`
}

/** SQL: of a row behind the bound. */
function behind(bound: CopyBound | null): string {
  if (bound === null) return "true"
  return "(project_id > {after_project:UUID} or (project_id = {after_project:UUID} and id > {after_id:String}))"
}

/** SQL: of a row up to the bound. */
function upTo(bound: CopyBound | null): string {
  if (bound === null) return "true"
  return "(project_id < {until_project:UUID} or (project_id = {until_project:UUID} and id <= {until_id:String}))"
}

/** Where a stretch of `size` rows ends; null: fewer are left. */
async function boundBehind(
  traces: TraceStore,
  table: string,
  wanted: string,
  after: CopyBound | null,
  size: number,
): Promise<CopyBound | null> {
  const [row] = await traces.rows<CopyBound>(
    `select project_id, id from ${table} where ${behind(after)} and ${wanted}
      order by project_id, id limit 1 offset ${size - 1}`,
    after === null ? {} : { after_project: after.project_id, after_id: after.id },
  )
  return row ?? null
}

/** Nothing shows a call without a start; its end waits for it. */
const sortTimeSql = `multiIf(${holdsSortTimeSql}, ${sortTimeInIdSql},
  isNotNull(started_at), toUnixTimestamp64Milli(assumeNotNull(started_at)), toInt64(${unknownSortTime}))`

/** Rows are as large as clients made them: few are held at a time. */
const copySettings =
  "settings max_memory_usage = 1073741824, max_block_size = 4096, min_insert_block_size_bytes = 67108864"

async function copyStretch(
  traces: TraceStore,
  table: string,
  wanted: string,
  columns: readonly string[],
  after: CopyBound | null,
  until: CopyBound | null,
): Promise<void> {
  const parameters = {
    ...(after === null ? {} : { after_project: after.project_id, after_id: after.id }),
    ...(until === null ? {} : { until_project: until.project_id, until_id: until.id }),
  }
  const range = `${behind(after)} and ${upTo(until)}`
  const only =
    wanted === "true"
      ? ""
      : `and (project_id, id) in (select project_id, id from ${table} where ${range} and ${wanted})`
  const source = `from ${table} final where ${range} ${only}`
  await traces.command(
    `insert into ${callsTable} (sort_time, ${columns.join(", ")})
      select ${sortTimeSql}, ${columns.join(", ")} ${source} ${copySettings}`,
    parameters,
    true,
  )
  await traces.command(
    `insert into ${callPlacesTable} (kind, project_id, key, started_at, id, sort_time)
      select place.1, project_id, place.2, place.3, place.4, sort_time from (
        select project_id, ${sortTimeSql} as sort_time, arrayJoin(${placesOfRowSql}) as place ${source}
      ) ${copySettings}`,
    parameters,
    true,
  )
}

/** Those that both tables have. */
async function sharedColumns(traces: TraceStore, table: string): Promise<string[]> {
  const rows = await traces.rows<{ name: string }>(
    `select name from system.columns where database = currentDatabase() and table in {tables:Array(String)}
      group by name having count() = 2 order by name`,
    { tables: [table, callsTable] },
  )
  return rows.map(({ name }) => name)
}

async function countRows(traces: TraceStore, table: string): Promise<number> {
  const [row] = await traces.rows<{ rows: number }>(
    `select toFloat64(sum(rows)) as rows from system.parts
      where database = currentDatabase() and table = {table:String} and active`,
    { table },
  )
  return row?.rows ?? 0
}
