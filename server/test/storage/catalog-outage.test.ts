/**
 * PostgreSQL goes away under the running server and comes back: law 1, law 7, security 5.3. A proxy is the network
 * between them. PGlite cannot go away, so without PostgreSQL nothing is tested.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import pg from "pg"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { SupervisedEngine } from "../../src/engines/engine-process.ts"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { Scheduler, type SchedulerOptions } from "../../src/scheduler/scheduler.ts"
import { type CatalogDatabase, openCatalog } from "../../src/storage/catalog/open-catalog.ts"
import { defaultLimits } from "../../src/limits.ts"
import { PostgresConnections } from "../../src/storage/catalog/postgres-connections.ts"
import { Reachability } from "../../src/storage/reachability.ts"
import { catalogQueue } from "../../src/storage/store-queues.ts"
import { createDatabase } from "../support/postgres-database.ts"
import { launchServer } from "../support/server-process.ts"
import { addJob, addModel, addTenant as addCatalogTenant } from "../support/test-catalog.ts"
import { TcpProxy } from "../support/tcp-proxy.ts"
import { adminKey } from "../support/test-app.ts"
import { groupsOf, newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

const postgres = process.env["HEDDLE_TEST_POSTGRES_URL"]
const soon = { timeout: 20_000, interval: 50 }

describe.skipIf(postgres === undefined)("a catalog that goes away", () => {
  let databaseUrl: string
  let proxy: TcpProxy
  /** A connection around the proxy, which reads what is really stored. */
  let direct: pg.Client
  let opened: TrainingApp
  beforeAll(async () => {
    databaseUrl = await createDatabase(postgres as string)
    proxy = await TcpProxy.open(databaseUrl)
    direct = new pg.Client({ connectionString: databaseUrl })
    await direct.connect()
    opened = await openTrainingApp({ postgresUrl: proxy.url })
  })
  afterEach(async () => {
    proxy.mend()
    await expect.poll(async () => (await ask("GET", "/v1/health")).status, soon).toBe(200)
  })
  afterAll(async () => {
    await opened.close()
    await direct.end()
    await proxy.close()
  })

  const ask = async (method: "GET" | "POST", url: string, body?: object, key = opened.acme.key) => {
    const answer = await opened.app.server.inject({
      method,
      url,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<unknown>() }
  }

  const message = "the catalog (PostgreSQL) cannot be reached; try again a little later"
  const unknownKey = "a_key_that_no_server_has_seen_0123456789_0123456789"
  const requests = [
    ["GET", "/v1/preview/models/0198c5a0-0000-7000-8000-000000000000/checkpoints", undefined, { detail: message }],
    [
      "POST",
      "/v1/chat/completions",
      { model: "wandb-artifact:///acme/tests/none", messages: [{ role: "user", content: "hi" }] },
      { error: { message, type: "server_error", param: null, code: "catalog_unavailable" } },
    ],
    [
      "POST",
      "/obj/read",
      { project_id: "acme/p", object_id: "o", digest: "d" },
      { reason: message, error_type: "catalog_unavailable" },
    ],
    ["POST", "/call/start", { start: {} }, { reason: message, error_type: "catalog_unavailable" }],
    [
      "POST",
      "/graphql",
      { query: "{ viewer { username } }" },
      { errors: [{ message, extensions: { code: "CATALOG_UNAVAILABLE" } }] },
    ],
    ["POST", "/otel/v1/traces", { resourceSpans: [] }, { code: 14, message }],
  ] as const

  test("a key that must be looked up: 503 with Retry-After in every dialect; afterwards all is as before", async () => {
    proxy.cut()
    for (const [method, url, body, expected] of requests) {
      const answer = await ask(method, url, body, unknownKey)
      expect([url, answer.status, answer.headers["retry-after"]]).toEqual([url, 503, "2"])
      expect(answer.body).toMatchObject(expected)
    }
    proxy.mend()
    for (const [method, url, body] of requests) expect((await ask(method, url, body, unknownKey)).status).toBe(401)
    expect((await ask("GET", "/v1/models")).status).toBe(200)
  })

  test("a key that is known for a moment: the work behind it is answered 503", async () => {
    expect((await ask("GET", "/v1/models")).status).toBe(200)
    proxy.cut()
    const model = await ask("POST", "/v1/preview/models", { project: "p", name: "m", base_model: "heddle/tiny" })
    expect([model.status, model.body]).toEqual([503, { detail: message }])
    const read = await ask("POST", "/calls/stream_query", { project_id: "acme/p" })
    expect([read.status, read.body]).toEqual([503, { reason: message, error_type: "catalog_unavailable" }])
  })

  test("training-api 1.5: the ready checks say so; a network that swallows everything is found out", async () => {
    expect([(await ask("GET", "/health")).status, (await ask("GET", "/v1/health")).status]).toEqual([200, 200])
    proxy.cut()
    expect(await ask("GET", "/health")).toMatchObject({ status: 503, body: { error: { code: "catalog_unavailable" } } })
    expect(await ask("GET", "/v1/health")).toMatchObject({ status: 503, body: { detail: message } })
    expect(await ask("GET", "/v1/system-check")).toMatchObject({ status: 503, body: { api: true, database: false } })
    proxy.mend()
    expect((await ask("GET", "/v1/health")).status).toBe(200)
    proxy.silence()
    expect(await ask("GET", "/v1/health")).toMatchObject({
      status: 503,
      body: { detail: "the stores did not answer within 3 s" },
    })
    proxy.mend()
    await expect.poll(async () => (await ask("GET", "/v1/health")).status, soon).toBe(200)
  })

  test("an administrator who ends every session hurts what runs at that moment, and nothing after it", async () => {
    const { catalog } = opened.app.stores
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const cut = catalog.transaction().execute(async (transaction) => {
      await transaction.insertInto("entities").values({ name: "never-committed" }).execute()
      begun.resolve()
      await ended.promise
      await transaction.selectFrom("entities").select("id").execute()
    })
    const refused = expect(cut).rejects.toMatchObject({ code: "catalog_unavailable", status: 503 })
    await begun.promise
    await direct.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    )
    await new Promise((resolve) => setTimeout(resolve, 200))
    ended.resolve()
    await refused
    expect((await ask("GET", "/v1/models")).status).toBe(200)
    const { rows } = await direct.query("select 1 from entities where name = 'never-committed'")
    expect(rows).toEqual([])
  })

  test("a commit whose answer is lost: the client is told to look, and the job is there once and runs once", async () => {
    const { id } = await newModel(opened.acme)
    const before = opened.fake.calls.filter(({ method }) => method === "train").length
    proxy.cutAfter("commit")
    const job = await ask("POST", "/v1/preview/training-jobs", { model_id: id, trajectory_groups: groupsOf([0, 1]) })
    expect([job.status, job.headers["x-should-retry"], job.headers["retry-after"]]).toEqual([503, "false", "2"])
    expect(job.body).toEqual({ detail: expect.stringMatching(/nobody knows whether it was. Look whether it is there/) })
    proxy.mend()
    const statuses = async () =>
      (await direct.query<{ status: string }>("select status from training_jobs where model_id = $1", [id])).rows
    await expect.poll(statuses, soon).toEqual([{ status: "succeeded" }])
    expect(opened.fake.calls.filter(({ method }) => method === "train")).toHaveLength(before + 1)
    expect((await ask("GET", `/v1/preview/models/${id}/checkpoints`)).body).toMatchObject({
      data: [{ step: 0 }, { step: 1 }],
    })
  })

  test("a claim whose answer is lost: the job runs once, and does not wait for its lease to run out", async () => {
    const { id } = await newModel(opened.acme)
    const before = opened.fake.calls.filter(({ method }) => method === "train").length
    const usual = opened.fake.handlers.train
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    opened.fake.handlers.train = async (params, call) => {
      begun.resolve()
      await end.promise
      return usual?.(params, call)
    }
    const job = { model_id: id, trajectory_groups: groupsOf([0, 1]) }
    expect((await ask("POST", "/v1/preview/training-jobs", job)).status).toBe(200)
    await begun.promise
    // It waits for the first job; the claim that takes it is the one whose answer is lost.
    expect((await ask("POST", "/v1/preview/training-jobs", job)).status).toBe(200)
    const jobs = async () =>
      (
        await direct.query<{ status: string }>(
          "select status from training_jobs where model_id = $1 order by sequence",
          [id],
        )
      ).rows.map(({ status }) => status)
    // The request woke the scheduler, whose claim finds nothing yet.
    await new Promise((resolve) => setTimeout(resolve, 200))
    proxy.cutAfter("skip locked")
    end.resolve()
    await expect.poll(async () => (await ask("GET", "/v1/health")).status, soon).toBe(503)
    proxy.mend()
    await expect.poll(jobs, soon).toEqual(["succeeded", "succeeded"])
    expect(opened.fake.calls.filter(({ method }) => method === "train")).toHaveLength(before + 2)
    if (usual !== undefined) opened.fake.handlers.train = usual
  })

  describe("chat", () => {
    const model = "heddle/tiny"
    const messages = [{ role: "user", content: "hi" }]
    const usage = async () =>
      (await direct.query<{ output_tokens: number }>("select output_tokens from completion_usage")).rows.length
    const usualChat = new FakeEngine().handlers.chat

    /** Makes the engine answer chats only after the catalog has gone away. */
    function answersWhileAway(): void {
      opened.fake.handlers.chat = (params, call) => {
        proxy.cut()
        return usualChat?.(params, call)
      }
    }
    afterEach(() => (opened.fake.handlers.chat = usualChat as never))

    test("a chat sampled meanwhile is answered 503, and counted once when the catalog is back", async () => {
      expect((await ask("POST", "/v1/chat/completions", { model, messages })).status).toBe(200)
      const before = await usage()
      answersWhileAway()
      const answer = await ask("POST", "/v1/chat/completions", { model, messages })
      expect(answer).toMatchObject({ status: 503, body: { error: { code: "catalog_unavailable" } } })
      expect(await usage()).toBe(before)
      proxy.mend()
      await expect.poll(usage, soon).toBe(before + 1)
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(await usage()).toBe(before + 1)
    }, 40_000)

    test("when the catalog is back within seconds, every chat gets its answer", async () => {
      expect((await ask("POST", "/v1/chat/completions", { model, messages })).status).toBe(200)
      const before = await usage()
      answersWhileAway()
      setTimeout(() => proxy.mend(), 1_000)
      expect((await ask("POST", "/v1/chat/completions", { model, messages })).status).toBe(200)
      expect(await usage()).toBe(before + 1)
    })

    test("inference-api 6: a stream ends with the error, not with [DONE]", async () => {
      expect((await ask("POST", "/v1/chat/completions", { model, messages })).status).toBe(200)
      answersWhileAway()
      const { payload, statusCode } = await opened.app.server.inject({
        method: "POST",
        url: "/v1/chat/completions",
        headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/json" },
        payload: JSON.stringify({ model, messages, stream: true }),
      })
      expect(statusCode).toBe(200)
      const events = payload.split("\n\n").filter((line) => line.startsWith("data: "))
      expect(JSON.parse((events.at(-1) as string).slice("data: ".length))).toMatchObject({
        error: { code: "catalog_unavailable", message },
      })
      expect(payload).not.toContain("[DONE]")
    })
  })

  test("a query that nobody answers any more ends at its limit, and its connection with it", async () => {
    const connections = new PostgresConnections(
      { connectionString: proxy.url },
      new Reachability("it", null),
      catalogQueue(defaultLimits, false),
    )
    connections.limitQueries(300)
    const lent = await connections.connect()
    await lent.query("select 1", [])
    proxy.silence()
    await expect(lent.query("select 1", [])).rejects.toMatchObject({ code: "catalog_unavailable" })
    lent.release()
    proxy.mend()
    const next = await connections.connect()
    expect((await next.query("select 2 as two", [])).rows).toEqual([{ two: 2 }])
    next.release()
    await connections.end()
  })

  test("too many connections are an absence too", async () => {
    const role = `limited_${process.pid}`
    await direct.query(`create role ${role} login password 'limited' connection limit 0`)
    const url = new URL(databaseUrl)
    url.username = role
    url.password = "limited"
    await expect(openCatalog({ postgresUrl: url.href, folder: "", template: null })).rejects.toThrow(
      /cannot be used: too many connections for role/,
    )
    await direct.query(`drop role ${role}`)
  })

  test("the log says it once, and the process goes on", async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-outage-"))
    const own = await TcpProxy.open(await createDatabase(postgres as string))
    const { child, url, lines } = launchServer(dataDir, {
      HEDDLE_POSTGRES_URL: own.url,
      HEDDLE_ENGINE: "none",
      HEDDLE_LOG: "info",
    })
    try {
      const address = await url
      const headers = { authorization: `Bearer ${adminKey}` }
      const status = async () => (await fetch(`${address}/v1/organization/users`, { headers })).status
      expect(await status()).toBe(200)
      own.cut()
      const asked = own.asked
      const answers = await Promise.all(Array.from({ length: 100 }, status))
      expect(new Set(answers)).toEqual(new Set([503]))
      await new Promise((resolve) => setTimeout(resolve, 4_000))
      // A hundred requests and the server's loops try about once a second each, not thousands of times.
      expect(own.asked - asked).toBeLessThan(130)
      own.mend()
      await expect.poll(status, soon).toBe(200)
      const told = () => lines.filter((line) => line.includes("reached"))
      await expect.poll(() => told().length, soon).toBe(2)
      expect(told()[0]).toContain("the catalog (PostgreSQL) cannot be reached")
      expect(told()[1]).toContain("the catalog (PostgreSQL) is reached again")
      expect(lines.filter((line) => line.includes('"level":50'))).toHaveLength(1)
      expect(child.exitCode).toBeNull()
    } finally {
      child.kill("SIGTERM")
      if (child.exitCode === null) await once(child, "exit")
      await own.close()
      await rm(dataDir, { recursive: true, force: true })
    }
  })
})

describe.skipIf(postgres === undefined)("training-api 3.1: a job over an absence of the catalog", () => {
  let proxy: TcpProxy
  let database: CatalogDatabase
  let direct: CatalogDatabase
  let dataDir: string
  beforeAll(async () => {
    const url = await createDatabase(postgres as string)
    dataDir = await mkdtemp(path.join(tmpdir(), "heddle-outage-"))
    await writeFile(path.join(dataDir, "data.jsonl"), "{}\n{}\n{}\n")
    direct = await openCatalog({ postgresUrl: url, folder: "", template: null })
    proxy = await TcpProxy.open(url)
    database = await openCatalog({ postgresUrl: proxy.url, folder: "", template: null })
  })
  afterAll(async () => {
    await database.destroy()
    await direct.destroy()
    await proxy.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  async function runThrough(fake: FakeEngine, options: Partial<SchedulerOptions> = {}) {
    const logged: string[] = []
    const log = { info: () => undefined, warn: () => undefined, error: (_: object, text: string) => logged.push(text) }
    const engine = new SupervisedEngine({ launch: fake.launch, log, backOffMs: () => 0 })
    const scheduler = new Scheduler({
      database,
      engine,
      dataDir,
      log,
      owner: "one",
      exclusive: false,
      retryPauseMs: 1,
      leaseSeconds: 3,
      traces: null,
      findLedgerEntries: () => Promise.resolve([]),
      ...options,
    })
    await engine.ready(5000)
    await scheduler.start()
    // The scheduler looks again at once, and often, so that a fault right after the absence shows.
    const looking = setInterval(() => scheduler.wake(), 20)
    const close = async () => {
      clearInterval(looking)
      await scheduler.close()
      await engine.close()
    }
    return { logged, close }
  }

  test("longer than its lease: it goes on where it is, once, and no attempt is used up", async () => {
    const tenant = await addCatalogTenant(direct, "longer")
    const modelId = await addModel(direct, tenant.projectId, "m")
    const fake = new FakeEngine()
    const train = fake.handlers.train
    fake.handlers.train = async (params, call) => {
      proxy.cut()
      // The network is back between two renewals of the lease.
      setTimeout(() => proxy.mend(), 4_500)
      return train?.(params, call)
    }
    const id = await addJob(direct, { modelId })
    const { logged, close } = await runThrough(fake)
    const status = async () =>
      direct.selectFrom("training_jobs").select(["status", "attempts"]).where("id", "=", id).executeTakeFirst()
    await expect.poll(status, soon).toEqual({ status: "succeeded", attempts: 1 })
    const events = await direct.selectFrom("training_job_events").select("type").where("job_id", "=", id).execute()
    expect(events.map(({ type }) => type).toSorted()).toEqual([
      "gradient_step",
      "gradient_step",
      "gradient_step",
      "training_ended",
      "training_started",
    ])
    expect(fake.calls.filter(({ method }) => method === "train")).toHaveLength(1)
    expect(logged).toEqual([])
    await close()
  })

  test("at the commit that ends it: it has ended once, with one checkpoint", async () => {
    const tenant = await addCatalogTenant(direct, "commit")
    const modelId = await addModel(direct, tenant.projectId, "m")
    const fake = new FakeEngine()
    const id = await addJob(direct, { modelId })
    proxy.cutAfter("commit")
    const { close } = await runThrough(fake)
    const status = async () =>
      (await direct.selectFrom("training_jobs").select("status").where("id", "=", id).executeTakeFirst())?.status
    await expect.poll(status, soon).toBe("succeeded")
    setTimeout(() => proxy.mend(), 500)
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    const steps = await direct
      .selectFrom("checkpoints")
      .select("step")
      .where("model_id", "=", modelId)
      .orderBy("step")
      .execute()
    expect(steps.map(({ step }) => step)).toEqual([0, 1])
    expect(fake.calls.filter(({ method }) => method === "train")).toHaveLength(1)
    await close()
  })
})
