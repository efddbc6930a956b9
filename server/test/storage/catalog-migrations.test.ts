/** What later migrations make of a catalog that an earlier version wrote. */
import { readdir } from "node:fs/promises"
import { PGlite } from "@electric-sql/pglite"
import { Kysely, PGliteDialect, sql } from "kysely"
import { afterEach, beforeEach, expect, test } from "vitest"
import { findUserByName } from "../../src/storage/catalog/accounts/accounts.ts"
import type { CatalogDatabase } from "../../src/storage/catalog/open-catalog.ts"

const folder = new URL("../../src/storage/catalog/migrations/", import.meta.url)
let database: Kysely<unknown>
beforeEach(() => {
  database = new Kysely({ dialect: new PGliteDialect({ pglite: new PGlite() }) })
})
afterEach(() => database.destroy())

/** Runs the migrations with these numbers, the last included. */
async function migrate(from: number, to: number): Promise<void> {
  for (const name of (await readdir(folder)).toSorted()) {
    const number = Number(name.slice(0, 4))
    if (number < from || number > to) continue
    const { up } = (await import(new URL(name, folder).href)) as { up: (db: Kysely<unknown>) => Promise<void> }
    await up(database)
  }
}

const hash = sql`md5(random()::text)`

test("given a catalog of the first day, uploads get the order that they are listed in", async () => {
  await migrate(1, 26)
  await sql`alter table uploads drop column sequence`.execute(database)
  await sql`insert into entities (name) values ('acme')`.execute(database)
  for (const name of ["first", "second"]) {
    await sql`insert into uploads (entity_id, filename, sha256, size_bytes, purpose)
      select id, ${name}, ${hash}, 1, 'fine-tune' from entities`.execute(database)
  }
  await migrate(27, 27)
  const { rows } = await sql<{ filename: string }>`select filename from uploads order by sequence`.execute(database)
  expect(rows.map(({ filename }) => filename)).toEqual(["first", "second"])
})

test("given invitations, sessions and sign-in links that have ended, those that have not stay", async () => {
  await migrate(1, 26)
  await sql`insert into entities (name) values ('acme')`.execute(database)
  await sql`insert into users (username, default_entity_id, is_admin) select name, id, false from entities`.execute(
    database,
  )
  await sql`insert into api_keys (user_id, name, sha256, hint) select id, 'one', ${hash}, 'hint' from users`.execute(
    database,
  )
  const later = sql`now() + interval '1 day'`
  for (const [expires, accepted, revoked] of [
    [later, null, null],
    [later, sql`now()`, null],
    [later, null, sql`now()`],
    [sql`now() - interval '1 day'`, null, null],
  ]) {
    await sql`insert into invitations (sha256, entity_id, role, invited_by, expires_at, accepted_at, revoked_at)
      select ${hash}, default_entity_id, 'member', id, ${expires}, ${accepted}, ${revoked} from users`.execute(database)
  }
  for (const ended of [null, sql`now()`]) {
    await sql`insert into sessions (sha256, user_id, api_key_id, user_agent, ended_at)
      select ${hash}, user_id, id, '', ${ended} from api_keys`.execute(database)
    await sql`insert into sign_in_tokens (sha256, user_id, api_key_id, used_at)
      select ${hash}, user_id, id, ${ended} from api_keys`.execute(database)
  }
  await migrate(27, 27)
  const counts = await sql`select (select count(*)::int from invitations) as invitations,
    (select count(*)::int from sessions) as sessions, (select count(*)::int from sign_in_tokens) as links`.execute(
    database,
  )
  expect(counts.rows).toEqual([{ invitations: 1, sessions: 1, links: 1 }])
})

test("given a catalog from before roles, members write as before and everybody decides about the own entity", async () => {
  await migrate(1, 16)
  for (const statement of [
    sql`insert into entities (name) values ('ada'), ('shared')`,
    sql`insert into users (username, default_entity_id, is_admin) select 'ada', id, false from entities where name = 'ada'`,
    sql`insert into memberships (user_id, entity_id) select u.id, e.id from users u, entities e`,
    sql`insert into api_keys (user_id, name, sha256, hint) select id, 'old', ${hash}, '0000' from users`,
  ]) {
    await statement.execute(database)
  }
  await migrate(17, 28)
  const catalog = database as CatalogDatabase
  expect((await findUserByName(catalog, "ada"))?.entities).toMatchObject([
    { name: "ada", role: "admin" },
    { name: "shared", role: "member" },
  ])
  expect(await catalog.selectFrom("api_keys").select("scope").execute()).toEqual([{ scope: "all" }])
})

test("given texts that were not counted, and links that were deleted, texts are counted and those links have no metadata", async () => {
  await migrate(1, 27)
  for (const statement of [
    sql`insert into entities (name) values ('acme')`,
    sql`insert into users (username, default_entity_id, is_admin) select 'ada', id, false from entities`,
    sql`insert into all_projects (entity_id, name) select id, 'p' from entities`,
    sql`insert into runs (project_id, name, user_id, display_name, config, notes, tags, size_bytes)
      select p.id, 'r', u.id, 'shown', '{"a":1}', 'nö', '{a,b}', 9 from all_projects p, users u`,
    sql`insert into artifact_collections (project_id, kind, type, name) select id, 'sequence', 'dataset', 'd' from all_projects`,
    sql`insert into artifacts (project_id, collection_id, state, version, digest, description, tags, user_id, stored_bytes)
      select c.project_id, c.id, state, version, 'x', 'four', '{}', u.id, bytes from artifact_collections c, users u,
        (values ('committed', 0, 10), ('pending', null, 0)) as given (state, version, bytes)`,
    sql`insert into dataset_sources (project_id, id, dataset_object_id, row_digest, source_kind, source_id, source_trace_id,
        source_display_name, source_started_at, link_metadata, added_by, created_at, updated_at, deleted_at)
      select id, gen_random_uuid(), 'd', 'r', 'call', 's', 't', '', '', '{}', 'u', now(), now(), deleted
      from all_projects, (values (null::timestamptz), (now())) as given (deleted)`,
  ]) {
    await statement.execute(database)
  }
  await migrate(28, 28)
  const runs = await sql<{ size_bytes: number }>`select size_bytes::int from runs`.execute(database)
  // The config, an empty summary, `shown`, `nö` and {a,b}.
  expect(runs.rows).toEqual([{ size_bytes: 7 + 2 + 5 + 3 + 5 }])
  const artifacts = await sql`select state, stored_bytes::int from artifacts order by state`.execute(database)
  expect(artifacts.rows).toEqual([
    { state: "committed", stored_bytes: 10 + 4 + 2 },
    { state: "pending", stored_bytes: 0 },
  ])
  const links = await sql`select link_metadata from dataset_sources order by deleted_at nulls first`.execute(database)
  expect(links.rows).toEqual([{ link_metadata: "{}" }, { link_metadata: null }])
})
