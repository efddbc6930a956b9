/** The catalog's rules on PGlite, and on the PostgreSQL server of `HEDDLE_TEST_POSTGRES_URL`. */
import { mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { sql } from "kysely"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createUser, ensureAdmin, findUserByName } from "../../src/storage/catalog/accounts/accounts.ts"
import { findKeyOwner, hashOfKey, revokeApiKey, storeApiKey } from "../../src/storage/catalog/accounts/api-keys.ts"
import {
  forgetBlob,
  isBlobNeeded,
  isBlobReferenced,
  spentBlobs,
} from "../../src/storage/catalog/files/blob-references.ts"
import { deleteCheckpoints, listCheckpoints } from "../../src/storage/catalog/training/checkpoints.ts"
import { createModel, deleteModel, findModel } from "../../src/storage/catalog/training/models.ts"
import { type CatalogDatabase, openCatalog } from "../../src/storage/catalog/open-catalog.ts"
import { ensureProject } from "../../src/storage/catalog/accounts/projects.ts"
import { addStoredBytes, storedBytes } from "../../src/storage/catalog/inference/stored-usage.ts"
import { createJob, findJob } from "../../src/storage/catalog/training/training-jobs.ts"
import { createTrajectoryLog } from "../../src/storage/catalog/training/trajectory-logs.ts"
import { createUpload, listUploads, type UploadRecord } from "../../src/storage/catalog/files/uploads.ts"
import { bootstrap, makeFirstKey } from "../../src/platform/sign-in/bootstrap.ts"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { createDatabase } from "../support/postgres-database.ts"
import { addTenant, openTestCatalog, type TestCatalog, type TestTenant } from "../support/test-catalog.ts"

const postgres = process.env["HEDDLE_TEST_POSTGRES_URL"]
const stores = [
  { name: "PGlite", url: null },
  ...(postgres === undefined ? [] : [{ name: "PostgreSQL", url: postgres }]),
]

describe.each(stores)("on $name", ({ url }) => {
  let catalog: TestCatalog
  let database: CatalogDatabase
  let acme: TestTenant
  let rival: TestTenant
  beforeAll(async () => {
    catalog = await openTestCatalog(url)
    database = catalog.database
    acme = await addTenant(database, "acme")
    rival = await addTenant(database, "rival")
  })
  afterAll(() => catalog.close())

  const newModel = (name: string) =>
    createModel(database, { projectId: acme.projectId, name, baseModel: "heddle/tiny", basePath: null })

  const newJob = (modelId: string, failure: string | null = null) =>
    createJob(database, {
      modelId,
      projectId: acme.projectId,
      userId: acme.userId,
      config: { kind: "sft", engine: { batch_size: 2, learning_rate: 1, assistant_turns: "all" }, kl_reference: null },
      requestedConfig: { text: "zero \u0000 and half \ud800" },
      dataPath: "blobs/x",
      dataSha256: "x",
      dataBytes: 1,
      warnings: [],
      failure,
    })

  test("a row that is deleted is looked for by an index in every table that may name it", async () => {
    // Users and entities are never deleted.
    const { rows } = await sql<{ name: string }>`
      select c.conrelid::regclass || '.' || a.attname as name
      from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
      where c.contype = 'f' and c.confrelid not in ('users'::regclass, 'entities'::regclass)
        and not exists (select 1 from pg_index i
          where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1] and i.indpred is null)`.execute(database)
    expect(rows).toEqual([])
  })

  test("a query beside an open transaction does not take part in it", async () => {
    const begun = Promise.withResolvers<void>()
    const rolledBack = database
      .transaction()
      .execute(async (transaction) => {
        await transaction.insertInto("entities").values({ name: "undone" }).execute()
        begun.resolve()
        await new Promise((resolve) => setTimeout(resolve, 50))
        throw new Error("roll back")
      })
      .catch((error: Error) => error.message)
    await begun.promise
    const beside = database.insertInto("entities").values({ name: "kept" }).execute()
    expect(await rolledBack).toBe("roll back")
    await beside
    const rows = await database.selectFrom("entities").select("name").where("name", "in", ["undone", "kept"]).execute()
    expect(rows).toEqual([{ name: "kept" }])
  })

  test("fifty transactions at once all commit", async () => {
    await Promise.all(Array.from({ length: 50 }, (_, index) => newModel(`at-once-${index}`)))
    const rows = await database.selectFrom("models").select("id").where("name", "like", "at-once-%").execute()
    expect(rows).toHaveLength(50)
  })

  test("a model comes with its step 0 or not at all; a live name is taken once", async () => {
    const models = await Promise.all(Array.from({ length: 10 }, () => newModel("single")))
    const [model, ...others] = models.filter((each) => each !== null)
    expect(others).toEqual([])
    const checkpoints = await listCheckpoints(database, model?.id ?? "", { afterStep: null, order: "asc", limit: 5 })
    expect(checkpoints).toMatchObject([{ step: 0, metrics: {}, path: null, sizeBytes: 0 }])
  })

  test("tenancy: a model or job of another entity is not found, and not deleted", async () => {
    const model = await newModel("private")
    const id = model?.id ?? ""
    const job = await newJob(id)
    expect(await findModel(database, [rival.entityId], id)).toBeNull()
    expect(await findJob(database, [rival.entityId], job?.id ?? "")).toBeNull()
    expect(await deleteModel(database, [rival.entityId], id)).toBeNull()
    expect(await findModel(database, [acme.entityId], id)).toMatchObject({ id, entity: "acme" })
  })

  test("deleting a model twice counts the same checkpoints, and no more than were live", async () => {
    const model = await newModel("doomed")
    const id = model?.id ?? ""
    for (const step of [1, 2]) {
      await database
        .insertInto("checkpoints")
        .values({ model_id: id, step, metrics: "{}", path: null, size_bytes: 0 })
        .execute()
    }
    await deleteCheckpoints(database, id, [1])
    // What was deleted with the model is told by the time, to the millisecond.
    await sleep(2)
    const project = { entity: "acme", project: "demo", projectId: acme.projectId }
    const deleted = { id, ...project, name: "doomed", checkpoints: 2, bytes: 0 }
    expect(await deleteModel(database, [acme.entityId], id)).toEqual({ ...deleted, isNew: true })
    expect(await deleteModel(database, [acme.entityId], id)).toEqual({ ...deleted, isNew: false })
    expect(await newJob(id)).toBeNull()
  })

  test("a job keeps what the client sent, U+0000 and half a surrogate pair included", async () => {
    const model = await newModel("texts")
    const job = await newJob(model?.id ?? "")
    const row = await database
      .selectFrom("training_jobs")
      .select("requested_config")
      .where("id", "=", job?.id ?? "")
      .executeTakeFirstOrThrow()
    expect(row.requested_config).toEqual({ text: "zero \u0000 and half \ud800" })
  })

  test("a job stored as failed has its one event", async () => {
    const model = await newModel("failing")
    const job = await newJob(model?.id ?? "", "line 3 is bad")
    expect(job).toMatchObject({ status: "failed", errorMessage: "line 3 is bad" })
    const events = await database
      .selectFrom("training_job_events")
      .select(["sequence", "type", "data"])
      .where("job_id", "=", job?.id ?? "")
      .execute()
    expect(events).toEqual([{ sequence: 0, type: "training_failed", data: { error_message: "line 3 is bad" } }])
  })

  test("a revoked key is no key; storing it again brings it back", async () => {
    const key = "k".repeat(48)
    const record = await storeApiKey(database, { userId: acme.userId, name: "n", key })
    expect(await findKeyOwner(database, hashOfKey(key))).toMatchObject({ userId: acme.userId })
    expect(await revokeApiKey(database, record.id, [rival.userId])).toBeNull()
    expect(await revokeApiKey(database, record.id, [acme.userId])).toMatchObject({ id: record.id, name: "n" })
    expect(await findKeyOwner(database, hashOfKey(key))).toBeNull()
    await storeApiKey(database, { userId: acme.userId, name: "n", key })
    expect(await findKeyOwner(database, hashOfKey(key))).not.toBeNull()
  })

  test("bootstrap makes one key once; a key that is given works beside it, and a new entity becomes the default", async () => {
    await bootstrap(database, "local", null)
    const made = await makeFirstKey(database)
    expect(made?.key).toMatch(/^[A-Za-z0-9]{48}$/)
    expect(await makeFirstKey(database)).toBeNull()
    await bootstrap(database, "lab", "g".repeat(40))
    expect(await makeFirstKey(database)).toBeNull()
    for (const key of [made?.key ?? "", "g".repeat(40)])
      expect(await findKeyOwner(database, hashOfKey(key))).not.toBeNull()
    const admin = await findUserByName(database, "admin")
    expect(admin).toMatchObject({ isAdmin: true, defaultEntity: { name: "lab" } })
    expect(admin?.entities.map((entity) => entity.name)).toEqual(["lab", "local"])
    await ensureAdmin(database, "admin", "local")
  })

  test("a user gets an entity of the same name, unless somebody has it", async () => {
    expect(await createUser(database, { username: "ada", isAdmin: false, entityIds: [acme.entityId] })).not.toBeNull()
    expect((await findUserByName(database, "ada"))?.entities.map((entity) => entity.name)).toEqual(["acme", "ada"])
    expect(await createUser(database, { username: "ada", isAdmin: false, entityIds: [] })).toBeNull()
    expect(await createUser(database, { username: "kept", isAdmin: false, entityIds: [] })).toBeNull()
    expect(await findUserByName(database, "kept")).toBeNull()
  })

  test("projects are made once, however many ask", async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => ensureProject(database, acme.entityId, "shared")))
    expect(new Set(ids).size).toBe(1)
  })

  test("counts that several servers add at the same time add up", async () => {
    const team = await addTenant(database, "counted")
    const other = await addTenant(database, "counted-too")
    const add = () =>
      addStoredBytes(
        database,
        new Map([
          [team.projectId, 5],
          [other.projectId, 7],
        ]),
        new Map([[team.entityId, -2]]),
      )
    await Promise.all(Array.from({ length: 20 }, add))
    expect([await storedBytes(database, team.entityId), await storedBytes(database, other.entityId)]).toEqual([60, 140])
  })

  test("uploads page both ways without gap or repeat", async () => {
    const upload = { entityId: rival.entityId, sha256: "s", sizeBytes: 1, purpose: "fine-tune" }
    for (let index = 0; index < 7; index++) await createUpload(database, { ...upload, filename: `${index}` })
    for (const order of ["asc", "desc"] as const) {
      const names: string[] = []
      let after: UploadRecord | null = null
      for (;;) {
        const page: UploadRecord[] = await listUploads(database, [rival.entityId], {
          purpose: null,
          after,
          order,
          limit: 3,
        })
        names.push(...page.map((each) => each.filename))
        after = page.at(-1) ?? null
        if (after === null) break
      }
      const expected = ["0", "1", "2", "3", "4", "5", "6"]
      expect(names).toEqual(order === "asc" ? expected : expected.toReversed())
    }
  })

  describe("blobs", () => {
    const past = new Date(Date.now() - 60_000)
    const future = new Date(Date.now() + 60_000)
    const needed = (sha256: string, before = future) => isBlobNeeded(database, sha256, before)
    const spent = async (sha256: string, before = future) => (await spentBlobs(database, before)).includes(sha256)

    test("a job needs its data while it is open, and a while after", async () => {
      const job = await newJob((await newModel("blobs-job"))?.id ?? "")
      const id = job?.id ?? ""
      const update = (values: { data_sha256?: string; status?: "failed"; ended_at?: Date }) =>
        database.updateTable("training_jobs").set(values).where("id", "=", id).execute()
      await update({ data_sha256: "job" })
      expect([await needed("job"), await spent("job")]).toEqual([true, false])
      await update({ status: "failed", ended_at: new Date() })
      expect([await needed("job", past), await spent("job", past)]).toEqual([true, false])
      expect([await needed("job"), await spent("job")]).toEqual([false, true])
      await forgetBlob(database, "job", future)
      expect([await isBlobReferenced(database, "job"), await spent("job")]).toEqual([false, false])
      expect(await findJob(database, [acme.entityId], id)).not.toBeNull()
    })

    test("a log needs its data while its model lives; an upload always", async () => {
      const modelId = (await newModel("blobs-log"))?.id ?? ""
      const log = { modelId, projectId: acme.projectId, split: "val", dataSha256: "log", sizeBytes: 1, metrics: {} }
      await createTrajectoryLog(database, log)
      expect([await needed("log"), await spent("log")]).toEqual([true, false])
      await deleteModel(database, [acme.entityId], modelId)
      expect([await needed("log", past), await needed("log"), await spent("log")]).toEqual([true, false, true])
      const upload = { entityId: acme.entityId, filename: "f", sizeBytes: 1, purpose: "fine-tune" }
      await createUpload(database, { ...upload, sha256: "log" })
      expect(await needed("log")).toBe(true)
    })

    test("a project's file needs its content", async () => {
      const file = { project_id: acme.projectId, digest: "d", sha256: "file", size_bytes: 1 }
      await database.insertInto("project_files").values(file).execute()
      expect([await needed("file"), await isBlobReferenced(database, "file")]).toEqual([true, true])
    })
  })
})

test.runIf(postgres !== undefined)("connections that PostgreSQL closes while they are idle are made anew", async () => {
  const { database, close } = await openTestCatalog()
  await Promise.all(Array.from({ length: 4 }, () => sql`select pg_sleep(0.05)`.execute(database)))
  const client = new pg.Client({ connectionString: postgres })
  await client.connect()
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(database)
  await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [rows[0]?.name])
  await client.end()
  // By then the broken connections are noticed; an error event without a listener would end the process.
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect((await sql`select 1 as one`.execute(database)).rows).toEqual([{ one: 1 }])
  await close()
})

test.runIf(postgres !== undefined)("a PostgreSQL user who may not make tables is told so", async () => {
  const url = new URL(await createDatabase(postgres!))
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  const user = `heddle_guest_${process.pid}_${Date.now()}`
  await client.query(`create role ${user} login password 'guest'`)
  await client.query("revoke create on schema public from public")
  await client.end()
  url.username = user
  url.password = "guest"
  await expect(openCatalog({ postgresUrl: url.href, folder: "", template: null })).rejects.toThrow(
    "catalog migration failed (none): permission denied for schema public. Let the user of HEDDLE_POSTGRES_URL make tables",
  )
})

test("a PostgreSQL server that is not there is named, without its password", async () => {
  const opened = openCatalog({ postgresUrl: "postgres://me:secret@127.0.0.1:9/heddle", folder: "", template: null })
  await expect(opened).rejects.toThrow(
    "PostgreSQL at 127.0.0.1:9/heddle (HEDDLE_POSTGRES_URL) cannot be used: connect ECONNREFUSED 127.0.0.1:9",
  )
})

test("the folder of the catalog, and of the template it is made from, may be a link", async () => {
  const parent = await mkdtemp(path.join(tmpdir(), "heddle-linked-"))
  await copyCatalogTemplate(parent)
  await symlink(path.join(parent, "catalog"), path.join(parent, "link"))
  const fromTemplate = { postgresUrl: null, folder: path.join(parent, "made"), template: path.join(parent, "link") }
  const made = await openCatalog(fromTemplate)
  await addTenant(made, "acme")
  await made.destroy()
  const linked = await openCatalog({ postgresUrl: null, folder: path.join(parent, "link"), template: null })
  expect(await findUserByName(linked, "acme")).toBeNull()
  await linked.destroy()
  await rm(parent, { recursive: true, force: true })
})

test("a catalog of a later version is refused", async () => {
  const folder = path.join(await mkdtemp(path.join(tmpdir(), "heddle-later-")), "catalog")
  await copyCatalogTemplate(path.dirname(folder))
  const location = { postgresUrl: null, folder, template: null }
  const database = await openCatalog(location)
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(database)
  await database.destroy()
  await expect(openCatalog(location)).rejects.toThrow(
    "the catalog was written by a later version of Heddle (it has the migration 9999-later). Start that version, " +
      "or put a backup from before the upgrade in its place",
  )
  await rm(path.dirname(folder), { recursive: true, force: true })
})
