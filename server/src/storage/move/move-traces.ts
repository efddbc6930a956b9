/** Copies all rows of one trace store into another, which is empty: both have the tables of this version. */
import path from "node:path"
import type { Readable } from "node:stream"
import { openTraces } from "../traces/open-traces.ts"
import type { TraceStore } from "../traces/store/trace-store.ts"
import { embeddedTraces, type Move, type MoveSettings } from "./move.ts"

/** Bytes of one insert, at least. Each insert makes a part of the table, and few large ones are merged with less work. */
const insertBytes = 16 * 1024 ** 2
/** The longest count of the rows of a project, in seconds. */
const countSeconds = 60

/**
 * Is in the database while rows are copied into it, as ClickHouse has no transaction: a copy that was cut off looks like
 * a store that somebody has filled.
 */
const unfinishedTable = "unfinished_move"

/** Whether a copy into this store was begun and never finished. */
export async function isUnfinished(traces: TraceStore): Promise<boolean> {
  const named = { name: unfinishedTable }
  const found = "select 1 as one from system.tables where database = currentDatabase() and name = {name:String}"
  return (await traces.rows(found, named)).length > 0
}

/** Both are brought up to this version. */
export async function openTracesMove(settings: MoveSettings): Promise<Move> {
  const { dataDir, clickhouseUrl, limits } = settings
  const folder = path.join(dataDir, embeddedTraces.folder)
  const source = await openTraces({ clickhouseUrl: null, folder, limits })
  try {
    const target = await openTraces({ clickhouseUrl, folder, limits })
    return {
      filled: async () => {
        if (await isUnfinished(target)) await empty(target)
        return filledTraceTables(target)
      },
      copy: () => moveTraces(source, target, settings),
      undo: () => empty(target),
      finish: () => target.command(`drop table if exists ${unfinishedTable}`),
      close: async () => {
        await source.close()
        await target.close()
      },
    }
  } catch (error) {
    await source.close()
    throw error
  }
}

/** Names of the tables that belong to projects: the others say which migrations ran. */
async function tablesOf(traces: TraceStore): Promise<string[]> {
  const rows = await traces.rows<{ name: string }>(
    `select name from system.tables where database = currentDatabase() and engine like '%MergeTree' and name in (
      select table from system.columns where database = currentDatabase() and name = 'project_id'
    ) order by name`,
  )
  return rows.map(({ name }) => name)
}

/** Names of tables that hold rows. */
export async function filledTraceTables(traces: TraceStore): Promise<string[]> {
  const filled: string[] = []
  for (const table of await tablesOf(traces)) {
    if ((await traces.rows(`select 1 as one from ${table} limit 1`)).length > 0) filled.push(table)
  }
  return filled
}

/** Returns the number of rows. */
async function moveTraces(source: TraceStore, target: TraceStore, { say, stopped }: MoveSettings): Promise<number> {
  await target.command(`create table if not exists ${unfinishedTable} (one UInt8) engine = MergeTree order by one`)
  let moved = 0
  for (const table of await tablesOf(source)) {
    const rows = await moveTable(source, target, table, stopped)
    if (rows > 0) say(`${table}: ${rows} rows`)
    moved += rows
  }
  return moved
}

/** Rows are read as merges would leave them (`final`), so the order in which they are written means nothing. */
async function moveTable(source: TraceStore, target: TraceStore, table: string, stopped: AbortSignal): Promise<number> {
  const projects = await source.rows<{ project_id: string }>(`select distinct project_id from ${table}`)
  let moved = 0
  for (const { project_id: projectId } of projects) {
    const select = `select * from ${table} final where project_id = {projectId:UUID}`
    const printed = await source.print(select, { projectId }, "JSONEachRow")
    for await (const lines of wholeLines(printed)) {
      stopped.throwIfAborted()
      await target.insert(table, lines)
    }
    const [there, here] = await Promise.all([countOf(source, table, projectId), countOf(target, table, projectId)])
    if (there !== here) throw new Error(`of ${there} rows of ${table} only ${here} arrived`)
    moved += here
  }
  return moved
}

async function countOf(traces: TraceStore, table: string, projectId: string): Promise<number> {
  const [row] = await traces.rows<{ rows: string }>(
    `select count() as rows from ${table} final where project_id = {projectId:UUID}`,
    { projectId },
    { seconds: countSeconds },
  )
  return Number(row?.rows)
}

/** The lines of a stream, many together. */
async function* wholeLines(stream: Readable): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf("\n") + 1
    size += chunk.length
    if (size < insertBytes || end === 0) {
      held.push(chunk)
      continue
    }
    yield Buffer.concat([...held, chunk.subarray(0, end)])
    held = [chunk.subarray(end)]
    size = chunk.length - end
  }
  if (size > 0) yield Buffer.concat(held)
}

async function empty(traces: TraceStore): Promise<void> {
  for (const table of await tablesOf(traces)) await traces.command(`truncate table ${table}`)
  await traces.command(`drop table if exists ${unfinishedTable}`)
}
