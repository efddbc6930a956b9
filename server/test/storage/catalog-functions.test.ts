/** A start replaces functions of the catalog that are not of its own version. */
import { sql } from "kysely"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type CatalogDatabase, type CatalogLocation, openCatalog } from "../../src/storage/catalog/open-catalog.ts"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { newPostgresUrl } from "../support/postgres-database.ts"

let folder: string
let location: CatalogLocation
let database: CatalogDatabase
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-functions-"))
  const postgresUrl = await newPostgresUrl()
  if (postgresUrl === null) await copyCatalogTemplate(folder)
  location = { postgresUrl, folder: path.join(folder, "catalog"), template: null }
  database = await openCatalog(location)
})
afterAll(async () => {
  await database.destroy()
  await rm(folder, { recursive: true, force: true })
})

const sources = sql<{ name: string; source: string; comment: string | null }>`
  select proname as name, prosrc as source, obj_description(oid, 'pg_proc') as comment from pg_proc
  where proname like 'annotation\\_%' order by proname`

async function restart(): Promise<void> {
  await database.destroy()
  database = await openCatalog(location)
}

async function stale(): Promise<void> {
  await sql`create or replace function annotation_free(queue_ uuid, items_ uuid[]) returns void language plpgsql as
    'begin raise exception ''stale''; end'`.execute(database)
}

test("a start replaces functions that a store has from before they were kept apart from migrations", async () => {
  const { rows: before } = await sources.execute(database)
  expect(before.map(({ name }) => name)).toEqual([
    "annotation_event",
    "annotation_free",
    "annotation_lease",
    "annotation_lock",
    "annotation_next",
    "annotation_take",
  ])
  await stale()
  await sql`comment on function annotation_event(uuid, uuid, uuid, text, text, jsonb) is null`.execute(database)
  await restart()
  expect((await sources.execute(database)).rows).toEqual(before)
})

test("a start replaces functions of another version, which their comment names", async () => {
  const { rows: before } = await sources.execute(database)
  await stale()
  await sql`comment on function annotation_event(uuid, uuid, uuid, text, text, jsonb) is 'another'`.execute(database)
  await restart()
  expect((await sources.execute(database)).rows).toEqual(before)
})

test("a start leaves functions of its own version alone", async () => {
  await stale()
  await restart()
  const { rows } = await sources.execute(database)
  expect(rows.find(({ name }) => name === "annotation_free")?.source).toBe("begin raise exception 'stale'; end")
})

test("servers that start together put them there once", async () => {
  await sql`comment on function annotation_event(uuid, uuid, uuid, text, text, jsonb) is null`.execute(database)
  if (location.postgresUrl === null) await restart()
  else await Promise.all([1, 2, 3].map(async () => (await openCatalog(location)).destroy()))
  const { rows } = await sources.execute(database)
  expect(rows.find(({ name }) => name === "annotation_free")?.source).not.toContain("stale")
  expect(rows.find(({ name }) => name === "annotation_event")?.comment).toMatch(/^[0-9a-f]{64}$/)
})
