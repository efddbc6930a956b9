/** The first start on a new data folder copies the template of the embedded catalog, also after a crash. */
import { once } from "node:events"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { PGlite } from "@electric-sql/pglite"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createApp } from "../../src/app.ts"
import { adminKey, callerOf, testConfig } from "../support/test-app.ts"
import { launchServer } from "../support/server-process.ts"
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

test("traces that a first start on a full disk left broken are named, with the way out", async () => {
  const start = () => launchServer(dataDir(), { HEDDLE_LOG: "silent", HEDDLE_ENGINE: "none" })
  const first = start()
  await first.url
  first.child.kill("SIGTERM")
  await once(first.child, "exit")
  const traces = path.join(dataDir(), "traces")
  const files = await readdir(path.join(traces, "store"), { recursive: true })
  const definition = files.find((name) => name.endsWith("token_ledger.sql")) ?? expect.unreachable()
  await writeFile(path.join(traces, "store", definition), "")
  const message = new RegExp(`the trace store in ${traces} cannot be opened: .* delete it and start again`)
  await expect(start().url).rejects.toThrow(message)
  await rm(traces, { recursive: true })
  const again = start()
  await again.url
  again.child.kill("SIGTERM")
  await once(again.child, "exit")
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
