/**
 * Does for the embedded catalog what processes in the background do on a PostgreSQL server. PGlite has none: its write-ahead
 * log would grow until the server stops, and be read anew at the start after a kill; the room of rows that were changed or
 * deleted would never be used again; and no table be analyzed.
 */
import { sql } from "kysely"
import type { Log } from "../../log.ts"
import type { CatalogDatabase } from "./open-catalog.ts"

/** As often as `autovacuum_naptime` by default. */
const everyMs = 60_000

export class CatalogUpkeep {
  readonly #database: CatalogDatabase
  readonly #log: Log
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(database: CatalogDatabase, log: Log) {
    this.#database = database
    this.#log = log
  }

  start(): void {
    this.#timer = setInterval(() => this.#begin(), everyMs).unref()
  }

  /** Waits for the statement that runs. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#running
  }

  #begin(): void {
    this.#running = this.#running
      .then(() => keepUp(this.#database, this.#closing.signal))
      .catch((error: unknown) => {
        this.#log.error({ err: error }, "the catalog could not be tidied; the next try is in a minute")
      })
  }
}

/** Works in small steps, since nothing else of the catalog is answered during one. */
async function keepUp(database: CatalogDatabase, signal: AbortSignal): Promise<void> {
  for (const { name, is_spent, is_stale } of await changedTables(database)) {
    const table = sql.table(name)
    if (is_spent && !signal.aborted) await sql`vacuum ${table}`.execute(database)
    if (is_stale && !signal.aborted) await sql`analyze ${table}`.execute(database)
  }
  // Last: the others write to the log too.
  if (!signal.aborted) await cutLog(database)
}

/** A start after a kill reads so much in a third of a second. */
const longestLogBytes = 64 * 1024 * 1024

/** Takes 20 to 50 ms: no more than the page cache has to be written. */
async function cutLog(database: CatalogDatabase): Promise<void> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::int8 as bytes from pg_control_checkpoint()`.execute(
    database,
  )
  if ((rows[0]?.bytes ?? 0) > longestLogBytes) await sql`checkpoint`.execute(database)
}

interface ChangedTable {
  name: string
  /** Holds so many dead rows that it is vacuumed, which takes about 250 ms for 120 MB. */
  is_spent: boolean
  /** Differs so much from what the planner knows that it is analyzed, which takes 90 ms at most. */
  is_stale: boolean
}

/**
 * As PostgreSQL's own settings have it: 50 rows and a fifth of all are dead, or 50 and a tenth differ from what was analyzed.
 * Long values are rows of a table beside. Counts end with the process, so what was never analyzed is told by its size too.
 */
async function changedTables(database: CatalogDatabase): Promise<ChangedTable[]> {
  // A server counts between two statements of a client; PGlite's only session has no such pause.
  await sql`select pg_stat_force_next_flush()`.execute(database)
  const { rows } = await sql<ChangedTable>`
    select * from (
      select s.relname as name,
        s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
          or coalesce(long.n_dead_tup > 50 + 0.2 * greatest(l.reltuples, 0), false) as is_spent,
        s.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0)
          or (c.reltuples < 0 and pg_relation_size(c.oid) > 0) as is_stale
      from pg_stat_user_tables s
      join pg_class c on c.oid = s.relid
      left join pg_class l on l.oid = c.reltoastrelid
      left join pg_stat_all_tables long on long.relid = l.oid
    ) as counted
    where is_spent or is_stale
    order by name`.execute(database)
  return rows
}
