/** The embedded stores of a data folder move into PostgreSQL and ClickHouse, by the command of docs/guide/deploying.md. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdir, rename, rm } from "node:fs/promises"
import path from "node:path"
import { sql } from "kysely"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createApp } from "../../src/app.ts"
import { openCatalog } from "../../src/storage/catalog/open-catalog.ts"
import type { Stores } from "../../src/storage/open-stores.ts"
import { openTraces } from "../../src/storage/traces/open-traces.ts"
import { sendSpans } from "../support/agent-spans.ts"
import { uuid } from "../support/completed-call.ts"
import { inClosedStores, type StoreAddresses } from "../support/closed-stores.ts"
import { newClickHouseUrl } from "../support/clickhouse-database.ts"
import { evaluationCaller } from "../support/evaluation-app.ts"
import { type ExecutionApp, openExecutionApp } from "../support/execution-app.ts"
import { fillTeam, type TeamWorld } from "../support/isolation/team-world.ts"
import { createDatabase, newPostgresUrl } from "../support/postgres-database.ts"
import { runProgram } from "../support/run-program.ts"
import { endServer, startServer } from "../support/server-process.ts"

const command = path.resolve(import.meta.dirname, "../../src/move-stores.ts")
const embedded = { postgresUrl: null, clickhouseUrl: null }
const serverOf = (name: string) => process.env[`HEDDLE_TEST_${name}_URL`]
const hasServers = serverOf("POSTGRES") !== undefined && serverOf("CLICKHOUSE") !== undefined

let opened: ExecutionApp
let world: TeamWorld
let dataDir: string
beforeAll(async () => {
  opened = await openExecutionApp(embedded)
  dataDir = opened.config.dataDir
  world = await fillTeam(opened, opened.acme)
  await fillTeam(opened, opened.rival)
  const { projectId } = world.handles
  // What texts of JSON could lose: what is no number or has no bound, large numbers, signs of both, partial rows, deletions.
  const attributes = { nan: Number.NaN, most: 2n ** 63n - 1n, least: -0.1, text: `'"\\\n\t,é😀` }
  await sendSpans(opened.acme, projectId, { trace: "77", id: "7", at: 1, attributes })
  for (const [id, name] of [
    ["01900000-0000-7000-8000-000000000001", "deleted"],
    ["b7ad6b7169203331", "open"],
  ]) {
    const start = {
      project_id: projectId,
      id,
      trace_id: uuid(1),
      op_name: name,
      started_at: "2026-03-01T00:00:00.123456Z",
    }
    await must(opened.acme.post("/call/start", { start: { ...start, attributes: {}, inputs: { text: `'"\\\n` } } }))
  }
  await must(
    opened.acme.post("/calls/delete", { project_id: projectId, call_ids: ["01900000-0000-7000-8000-000000000001"] }),
  )
  await opened.app.stores.traces.command(`
    insert into token_prices
      select * replace (toString(generateUUIDv4()) as id, -inf as prompt_token_cost, nan as completion_token_cost)
      from token_prices limit 1`)
  await opened.app.close()
}, 300_000)
afterAll(() => rm(dataDir, { recursive: true, force: true }))

async function must(answer: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await answer
  if (status !== 200) throw new Error(`${status} ${text}`)
}

const settingsOf = ({ postgresUrl, clickhouseUrl }: StoreAddresses) => ({
  ...(postgresUrl === null ? {} : { HEDDLE_POSTGRES_URL: postgresUrl }),
  ...(clickhouseUrl === null ? {} : { HEDDLE_CLICKHOUSE_URL: clickhouseUrl }),
})

/** Runs the command; rejects with what it wrote when it fails. */
const move = (addresses: StoreAddresses) =>
  runProgram(process.execPath, [command, "--data-dir", dataDir], {
    cwd: dataDir,
    env: { ...process.env, ...settingsOf(addresses) },
  })

const inStores = <T>(addresses: StoreAddresses, read: (stores: Stores) => Promise<T>) =>
  inClosedStores(dataDir, addresses, read)

/** Every row of every table, as the stores write it. */
async function everything({ catalog, traces }: Pick<Stores, "catalog" | "traces">): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE' and table_name not like 'kysely%'`.execute(
    catalog,
  )
  for (const { name } of tables.rows) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(catalog)
    found[name] = rows.map(({ row }) => row).toSorted()
  }
  const stored = await traces.rows<{ table: string }>(
    "select table from system.columns where database = currentDatabase() and name = 'project_id'",
  )
  for (const { table } of stored) {
    const rows = await traces.rows<{ row: string }>(`select toString(tuple(*)) as row from ${table} final`)
    found[`traces ${table}`] = rows.map(({ row }) => row).toSorted()
  }
  return found
}

const filled = (found: Record<string, string[]>) => Object.keys(found).filter((name) => found[name]?.length !== 0)

test("without an address of a server, nothing is tried", async () => {
  await expect(move(embedded)).rejects.toThrow(
    "no server is named: set HEDDLE_POSTGRES_URL for the catalog, HEDDLE_CLICKHOUSE_URL for the traces",
  )
})

test("the stores of a server that runs are not touched", async () => {
  const server = await startServer(dataDir, { HEDDLE_ENGINE: "none", HEDDLE_LOG: "silent" })
  const addresses = { postgresUrl: "postgres://127.0.0.1:1/none", clickhouseUrl: null }
  await expect(move(addresses)).rejects.toThrow(/in use by another Heddle server \(process \d+\)/)
  await endServer(server, "SIGTERM")
})

test("a server that does not answer leaves all as it was", async () => {
  const before = await inStores(embedded, everything)
  await expect(move({ postgresUrl: "postgres://127.0.0.1:1/none", clickhouseUrl: null })).rejects.toThrow(
    "PostgreSQL at 127.0.0.1:1/none (HEDDLE_POSTGRES_URL) cannot be used",
  )
  await expect(move({ postgresUrl: null, clickhouseUrl: "http://127.0.0.1:1/none" })).rejects.toThrow(
    "the ClickHouse server at 127.0.0.1:1 (HEDDLE_CLICKHOUSE_URL) cannot be used",
  )
  expect(await inStores(embedded, everything)).toEqual(before)
})

describe.skipIf(!hasServers)("into servers", () => {
  let before: Record<string, string[]>
  beforeAll(async () => {
    before = await inStores(embedded, everything)
    expect(filled(before).length).toBeGreaterThan(35)
    expect(before["traces token_prices"]?.join()).toContain(",-inf,nan,")
  })

  test("a copy that fails is taken back, and the folder is as it was", async () => {
    const addresses = { postgresUrl: await newPostgresUrl(), clickhouseUrl: newClickHouseUrl() }
    await inCatalog(addresses, "alter table users add constraint nobody check (false)")
    await expect(move(addresses)).rejects.toThrow(/The stores did not move: .*violates check constraint "nobody"/)
    await inCatalog(addresses, "alter table users drop constraint nobody")
    expect(filled(await inServers(addresses))).toEqual([])
    expect(await inStores(embedded, everything)).toEqual(before)
    // And again, into the same databases.
    await inCatalog(addresses, "alter table api_keys add constraint nobody check (false)")
    await expect(move(addresses)).rejects.toThrow(/violates check constraint "nobody"/)
  })

  /** Sends the command `signal` when it has copied the traces and waits for the catalog; returns what it wrote. */
  async function moveUntil(signal: NodeJS.Signals, addresses: StoreAddresses): Promise<string> {
    const { postgresUrl } = addresses
    const catalog = await openCatalog({ postgresUrl, folder: dataDir, template: null })
    const child = spawn(process.execPath, [command, "--data-dir", dataDir], {
      cwd: dataDir,
      env: { ...process.env, ...settingsOf(addresses) },
      stdio: ["ignore", "pipe", "pipe"],
    })
    const ended = once(child, "close")
    let said = ""
    const copied = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          said += text
          if (said.includes("The traces: ")) resolve()
        })
      }
    })
    await catalog.transaction().execute(async (transaction) => {
      await sql`lock table users in exclusive mode`.execute(transaction)
      await Promise.race([copied, ended])
      child.kill(signal)
      if (signal === "SIGKILL") await ended
    })
    await ended
    await catalog.destroy()
    return said
  }

  test("a move that is stopped takes back what it has copied; one that is killed is begun anew by the next", async () => {
    const addresses = { postgresUrl: await newPostgresUrl(), clickhouseUrl: newClickHouseUrl() }
    expect(await moveUntil("SIGTERM", addresses)).toMatch(/The stores did not move: SIGTERM stopped the move\n$/)
    expect(filled(await inServers(addresses))).toEqual([])

    expect(await moveUntil("SIGKILL", addresses)).not.toContain("moved into")
    expect(filled(await inServers(addresses))).toContain("traces calls_v2")
    expect(await readdir(dataDir)).toEqual(expect.arrayContaining(["catalog", "traces"]))
    await expect(inStores({ ...addresses, postgresUrl: null }, everything)).rejects.toThrow(
      "HEDDLE_CLICKHOUSE_URL names a database into which a move was cut off, so that it has only a part of the traces: " +
        'run "npm run move-stores" again with the same settings, which begins anew',
    )
    expect(await move(addresses)).toContain("The traces moved into ClickHouse")
    expect(await inStores(addresses, everything)).toEqual(before)
    await Promise.all(["catalog", "traces"].map((name) => rename(inFolder(`${name}-moved`), inFolder(name))))
  })

  test("a database with rows of another folder stays as it is", async () => {
    const addresses = { postgresUrl: await newPostgresUrl(), clickhouseUrl: newClickHouseUrl() }
    await inCatalog(addresses, "insert into catalog_home (data_folder) values ('another')")
    await expect(move(addresses)).rejects.toThrow(
      "the PostgreSQL database that HEDDLE_POSTGRES_URL names has rows already, in catalog_home: name one that is empty",
    )
    expect(await inStores(embedded, everything)).toEqual(before)
  })

  test("every row of both stores is there afterwards, in databases without tables until then", async () => {
    const addresses = {
      postgresUrl: await createDatabase(serverOf("POSTGRES") ?? ""),
      clickhouseUrl: newClickHouseUrl(),
    }
    await expect(inStores(addresses, everything)).rejects.toThrow(
      `HEDDLE_POSTGRES_URL names a PostgreSQL database that is empty, and the data folder ${dataDir} has a folder catalog ` +
        'with what was stored until now. Move it with "npm run move-stores"; to begin with nothing, take that folder away',
    )
    await expect(inStores({ ...addresses, postgresUrl: null }, everything)).rejects.toThrow(
      "HEDDLE_CLICKHOUSE_URL names a ClickHouse database that is empty, and the data folder",
    )
    const said = await move(addresses)
    expect(said).toMatch(/^calls_v2: \d+ rows$/m)
    expect(said).toContain("The catalog moved into PostgreSQL: from now on start the server with HEDDLE_POSTGRES_URL.")
    expect(said).toContain("The traces moved into ClickHouse: from now on start the server with HEDDLE_CLICKHOUSE_URL.")
    expect(await inStores(addresses, everything)).toEqual(before)
    expect(await readdir(dataDir)).toEqual(expect.arrayContaining(["catalog-moved", "traces-moved"]))

    // A start that forgets them would begin with nothing.
    await expect(inStores(embedded, everything)).rejects.toThrow(
      `the catalog of the data folder ${dataDir} moved into a PostgreSQL server: set HEDDLE_POSTGRES_URL`,
    )
    await expect(inStores({ ...addresses, clickhouseUrl: null }, everything)).rejects.toThrow(
      `the traces of the data folder ${dataDir} moved into a ClickHouse server: set HEDDLE_CLICKHOUSE_URL`,
    )
    await expect(move(addresses)).rejects.toThrow("there is nothing to move")

    const moved = await createApp({ ...opened.config, ...addresses })
    const acme = evaluationCaller(() => moved, opened.acme)
    const { projectId, callId, jobId } = world.handles
    const read = await acme.post("/call/read", { project_id: projectId, id: callId })
    expect(read.body).toMatchObject({ call: { id: callId } })
    // What counts up goes on behind what was there.
    const events = await acme.get(`/v1/preview/training-jobs/${jobId}/events`)
    expect(events.status).toBe(200)
    const made = { project_id: projectId, object_id: "after-the-move", val: 1 }
    expect((await acme.post("/obj/create", { obj: made })).status).toBe(200)
    await moved.close()

    await Promise.all(["catalog", "traces"].map((name) => rename(inFolder(`${name}-moved`), inFolder(name))))
    expect(await inStores(embedded, everything)).toEqual(before)
  })
})

const inFolder = (name: string) => path.join(dataDir, name)

async function inCatalog({ postgresUrl }: StoreAddresses, statement: string): Promise<void> {
  const catalog = await openCatalog({ postgresUrl, folder: dataDir, template: null })
  await sql.raw(statement).execute(catalog)
  await catalog.destroy()
}

/** {@link everything} that two servers hold. */
async function inServers({ postgresUrl, clickhouseUrl }: StoreAddresses): Promise<Record<string, string[]>> {
  const catalog = await openCatalog({ postgresUrl, folder: dataDir, template: null })
  const traces = await openTraces({ clickhouseUrl, folder: dataDir })
  const found = await everything({ catalog, traces })
  await Promise.all([catalog.destroy(), traces.close()])
  return found
}
