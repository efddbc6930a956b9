/** How far the calls of an earlier table are copied: kept in the store, so that another start goes on from there. */
import type { TraceStore } from "../store/trace-store.ts"

/** A row of the earlier table: all in the order of `(project_id, id)` up to it are copied. */
export interface CopyBound {
  project_id: string
  id: string
}

export interface CopyProgress {
  /** null: nothing is copied. */
  after: CopyBound | null
  /** Rows. */
  copied: number
  /** The last block of rows that was there at the beginning. */
  lastBlock: string
  keep: (after: CopyBound, copied: number) => Promise<void>
}

/** The first time, notes the last block of `table`. */
export async function readCopyProgress(
  traces: TraceStore,
  progressTable: string,
  table: string,
): Promise<CopyProgress> {
  await traces.command(
    `create table if not exists ${progressTable} (
      copied UInt64, project_id UUID, id String, last_block Int64
    ) engine = MergeTree order by copied`,
  )
  const read = () =>
    traces.rows<CopyBound & { copied: string; last_block: string }>(
      `select project_id, id, copied, last_block from ${progressTable} order by copied desc limit 1`,
    )
  let [row] = await read()
  if (row === undefined) {
    await traces.command(
      `insert into ${progressTable} (copied, last_block) select 0, max(max_block_number) from system.parts
        where database = currentDatabase() and table = '${table}' and active`,
    )
    ;[row] = await read()
  }
  const { project_id = "", id = "", copied = "0", last_block = "0" } = row ?? {}
  return {
    after: id === "" ? null : { project_id, id },
    copied: Number(copied),
    lastBlock: last_block,
    keep: (after, rows) => traces.insert(progressTable, JSON.stringify({ ...after, copied: rows, last_block })),
  }
}
