/** The embedded catalog is tidied while the stores are open, as a PostgreSQL server does by itself. */
import { sql } from "kysely"
import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { defaultLimits } from "../../src/limits.ts"
import { openStores, type Stores } from "../../src/storage/open-stores.ts"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { addTenant } from "../support/test-catalog.ts"

const log = { info: () => undefined, warn: () => undefined, error: vi.fn<() => void>() }

let dataDir: string
let stores: Stores
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-upkeep-"))
  await copyCatalogTemplate(dataDir)
  const catalog = { postgresUrl: null, template: null }
  stores = await openStores({ dataDir, catalog, clickhouseUrl: null, log, limits: defaultLimits })
})
afterEach(async () => {
  await stores.close()
  vi.useRealTimers()
  await rm(dataDir, { recursive: true, force: true })
})

/** Lets a minute pass, and waits until the catalog has taken what began then. */
async function aMinute(): Promise<void> {
  vi.advanceTimersByTime(60_000)
  // The session is lent in order of arrival: after as many turns as there are tables nothing of it is left.
  for (let turn = 0; turn < 200; turn++) await sql`select 1`.execute(stores.catalog)
}

/** Rows of the table when it was last analyzed; -1: never. Bytes with its long values and indexes. */
async function known(table: string): Promise<{ rows: number; bytes: number }> {
  const { rows } = await sql<{ rows: number; bytes: number }>`
    select reltuples as rows, pg_total_relation_size(oid) as bytes from pg_class where relname = ${table}`.execute(
    stores.catalog,
  )
  return rows[0] ?? { rows: Number.NaN, bytes: Number.NaN }
}

test("a table is analyzed once it has rows, and again when a tenth of them changed", async () => {
  const add = (count: number) =>
    sql`insert into entities (name)
    select gen_random_uuid()::text from generate_series(1, ${count}::int)`.execute(stores.catalog)
  expect((await known("entities")).rows).toBe(-1)
  await add(1000)
  await aMinute()
  expect((await known("entities")).rows).toBe(1000)
  await add(100)
  await aMinute()
  expect((await known("entities")).rows).toBe(1000)
  await add(100)
  await aMinute()
  expect((await known("entities")).rows).toBe(1200)
  expect(log.error).not.toHaveBeenCalled()
})

test("the room of long values that were replaced is used again", async () => {
  const { projectId, userId } = await addTenant(stores.catalog, "team")
  const run = { project_id: projectId, user_id: userId, name: "r", display_name: "r" }
  await stores.catalog.insertInto("runs").values(run).execute()
  const sizes: number[] = []
  for (let minute = 0; minute < 4; minute++) {
    for (let summary = 0; summary < 100; summary++) {
      const text = JSON.stringify(randomBytes(15_000).toString("base64"))
      await stores.catalog.updateTable("runs").set({ summary: text }).execute()
    }
    await aMinute()
    sizes.push((await known("runs")).bytes)
  }
  expect(sizes[3]).toBeLessThan(1.2 * (sizes[0] as number))
})

test("a start after a kill does not read anew all that was ever written", async () => {
  const unfinished = async () => {
    const { rows } = await sql<{ bytes: number }>`
      select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::int8 as bytes from pg_control_checkpoint()`.execute(
      stores.catalog,
    )
    return rows[0]?.bytes
  }
  await sql`create table filler as select md5(i::text) || repeat('x', 900) as text from generate_series(1, 80000) as i`.execute(
    stores.catalog,
  )
  expect(await unfinished()).toBeGreaterThan(70_000_000)
  await aMinute()
  expect(await unfinished()).toBeLessThan(1_000_000)
})
