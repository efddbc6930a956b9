/** The first start on a new data folder copies the template of the embedded catalog, also after a crash. */
import { once } from "node:events"
import { cp, glob, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { PGlite } from "@electric-sql/pglite"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createApp } from "../../src/app.ts"
import { adminKey, callerOf, testConfig } from "../support/test-app.ts"
import { endServer, startServer } from "../support/server-process.ts"
import { copyCatalogTemplate } from "../support/catalog-template.ts"

let folder: string
beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), "heddle-first-start-"))))
afterEach(() => rm(folder, { recursive: true, force: true }))

const dataDir = () => path.join(folder, "data")

/** A template with a file that marks it. */
async function markedTemplate(): Promise<string> {
  await copyCatalogTemplate(folder)
  const template = path.join(folder, "template")
  await cp(path.join(folder, "catalog"), template, { recursive: true })
  await writeFile(path.join(template, "mark"), "template")
  return template
}

async function startAndMakeModel(catalogTemplate: string | null): Promise<void> {
  const app = await createApp({ ...testConfig(dataDir()), catalogTemplate })
  const admin = callerOf(() => app, adminKey, "local")
  const made = await admin.post("/v1/preview/models", { project: "p", name: "m", base_model: "heddle/tiny" })
  await app.close()
  expect(made.status).toBe(200)
}

test("a new data folder gets a copy of the template, which stays as it was", async () => {
  const template = await markedTemplate()
  const before = await readdir(template)
  await startAndMakeModel(template)
  expect(await readFile(path.join(dataDir(), "catalog/mark"), "utf8")).toBe("template")
  expect(await readdir(template)).toEqual(before)
  const untouched = await PGlite.create({ dataDir: template })
  expect((await untouched.query("select count(*)::int as count from models")).rows).toEqual([{ count: 0 }])
  await untouched.close()
})

test("the server starts without the template too, and leaves nothing beside the catalog", async () => {
  await startAndMakeModel(path.join(folder, "deleted"))
  expect((await readdir(dataDir())).filter((name) => name.startsWith("catalog"))).toEqual(["catalog"])
})

test("a copy that a crash cut short is made anew", async () => {
  const template = await markedTemplate()
  await mkdir(path.join(dataDir(), "catalog.new/base"), { recursive: true })
  await writeFile(path.join(dataDir(), "catalog.new/PG_VERSION"), "18")
  await writeFile(path.join(dataDir(), "catalog.new/stray"), "half")
  await startAndMakeModel(template)
  expect((await readdir(dataDir())).filter((name) => name.startsWith("catalog"))).toEqual(["catalog"])
  expect(await readdir(path.join(dataDir(), "catalog"))).not.toContain("stray")
})

test("a template that cannot be copied leaves no part of a catalog", async () => {
  const template = await markedTemplate()
  const socket = createServer().listen(path.join(template, "zz.sock"))
  await once(socket, "listening")
  await expect(startAndMakeModel(template)).rejects.toThrow("zz.sock")
  socket.close()
  expect((await readdir(dataDir())).filter((name) => name.startsWith("catalog"))).toEqual([])
})

/** Starts the server and ends it as soon as it is ready. */
async function startAndStop(): Promise<void> {
  await endServer(await startServer(dataDir(), { HEDDLE_LOG: "silent", HEDDLE_ENGINE: "none" }), "SIGTERM")
}

/** The folders of the parts of the table of calls. */
async function calls(traces: string): Promise<string[]> {
  const files = await Array.fromAsync(glob(path.join(traces, "store/*/*/calls_v2.sql")))
  const [definition = expect.unreachable()] = files
  const [id = expect.unreachable()] = /[0-9a-f-]{36}/.exec(await readFile(definition, "utf8")) ?? []
  return Array.fromAsync(glob(path.join(traces, "store", id.slice(0, 3), id, "all_*")))
}

/** Parts are written once, so they are closed to changes. */
async function rewrite(file: string, change: (bytes: Buffer) => Uint8Array): Promise<void> {
  const bytes = await readFile(file)
  await rm(file)
  await writeFile(file, change(bytes))
}

/** Empties the definition of a table, as chDB does on a full disk. */
async function damageTraces(): Promise<void> {
  const store = path.join(dataDir(), "traces", "store")
  const files = await readdir(store, { recursive: true })
  await writeFile(path.join(store, files.find((name) => name.endsWith("token_ledger.sql")) ?? expect.unreachable()), "")
}

test("traces of a first start that did not come to its end are made anew; those that were opened once are kept and named", async () => {
  await copyCatalogTemplate(dataDir())
  await startAndStop()
  await damageTraces()
  const traces = path.join(dataDir(), "traces")
  const before = await readdir(traces, { recursive: true })
  await expect(startAndStop()).rejects.toThrow(`the trace store in ${traces} cannot be opened`)
  expect(await readdir(traces, { recursive: true })).toEqual(expect.arrayContaining(before))
  await writeFile(path.join(traces, "never-opened"), "")
  await startAndStop()
  expect(await readdir(traces)).not.toContain("never-opened")
  await damageTraces()
  await expect(startAndStop()).rejects.toThrow("cannot be opened")
})

test("traces of which a part is cut off are told as damaged until somebody gives their rows up", async () => {
  await copyCatalogTemplate(dataDir())
  const count = async () => {
    const server = await startServer(dataDir(), { HEDDLE_LOG: "silent", HEDDLE_ENGINE: "none" })
    const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" }
    const ask = async (url: string, body: object) =>
      (await fetch(server.url + url, { method: "POST", headers, body: JSON.stringify(body) })).json()
    const start = {
      project_id: "local/cut",
      op_name: "o",
      started_at: "2026-01-01T00:00:00Z",
      attributes: {},
      inputs: {},
    }
    await ask("/call/start", { start })
    const { count: found } = (await ask("/calls/query_stats", { project_id: "local/cut" })) as { count: number }
    await endServer(server, "SIGTERM")
    return found
  }
  expect(await count()).toBe(1)
  const traces = path.join(dataDir(), "traces")
  const parts = await calls(traces)
  await Promise.all(parts.map((part) => rewrite(path.join(part, "data.bin"), (bytes) => bytes.subarray(0, 20))))
  const told = `the trace store in ${traces} is damaged: rows of calls_v2 cannot be read. Put a backup of the data folder in its place`
  await expect(count()).rejects.toThrow(told)
  await expect(count()).rejects.toThrow("To go on without these rows, remove ")
  for (const part of parts) {
    const detached = path.join(path.dirname(part), "detached", `broken-on-start_${path.basename(part)}`)
    await rm(detached, { recursive: true })
  }
  expect(await count()).toBe(1)
})

test.each([
  ["without the file that names its version", (catalog: string) => rm(path.join(catalog, "PG_VERSION")), "PG_VERSION"],
  [
    "whose control file is empty",
    (catalog: string) => writeFile(path.join(catalog, "global/pg_control"), ""),
    "PGlite",
  ],
])("a catalog %s is told as damaged, and nothing is begun in its place", async (_, damage, why) => {
  await copyCatalogTemplate(dataDir())
  await startAndStop()
  const catalog = path.join(dataDir(), "catalog")
  await damage(catalog)
  // Which process opened it last stands there as well.
  const names = async () => (await readdir(catalog, { recursive: true })).filter((name) => name !== "postmaster.pid")
  const before = await names()
  const told = new RegExp(
    `the catalog in ${catalog} cannot be opened: .*${why}.* Put a backup of the data folder in its place`,
  )
  await expect(startAndStop()).rejects.toThrow(told)
  expect(await names()).toEqual(before)
})

test("an existing catalog is kept", async () => {
  await startAndMakeModel(await markedTemplate())
  const app = await createApp({ ...testConfig(dataDir()), catalogTemplate: path.join(folder, "template") })
  const again = await callerOf(() => app, adminKey, "local").post("/v1/preview/models", {
    project: "p",
    name: "m",
    base_model: "heddle/tiny",
  })
  await app.close()
  expect(again.status).toBe(409)
})
