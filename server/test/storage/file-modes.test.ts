/** Only the user who runs the server may read its data folder. */
import { once } from "node:events"
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { call, launchServer } from "../support/server-process.ts"

let folder: string
let dataDir: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-modes-"))
  // The folder around it is open to readers, as home folders often are.
  await chmod(folder, 0o755)
  dataDir = path.join(folder, "data")
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Starts a server, stores something in every store, and stops it. */
async function serve(env: NodeJS.ProcessEnv = {}): Promise<void> {
  const { child, url } = launchServer(dataDir, { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal", ...env })
  const server = { process: child, url: await url }
  const started = await call(server, "POST", "/call/start", {
    start: { project_id: "local/p", op_name: "op", started_at: "2026-01-01T00:00:00Z", attributes: {}, inputs: {} },
  })
  const form = new FormData()
  form.append("purpose", "fine-tune")
  form.append("file", new Blob(["{}"]), "data.jsonl")
  const authorization = "Bearer admin_key_of_the_tests_0123456789_0123456789"
  const uploaded = await fetch(`${server.url}/v1/files`, { method: "POST", body: form, headers: { authorization } })
  child.kill("SIGTERM")
  await once(child, "exit")
  expect([started.status, uploaded.status]).toEqual([200, 200])
}

async function modeOf(name: string): Promise<string> {
  return ((await stat(path.join(dataDir, name))).mode & 0o7777).toString(8)
}

/** Every entry of the data folder with its mode, without links, which have none. */
async function modes(): Promise<[string, string][]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => path.relative(dataDir, path.join(entry.parentPath, entry.name)))
  return Promise.all(names.map(async (name): Promise<[string, string]> => [name, await modeOf(name)]))
}

const open = (all: [string, string][]) => all.filter(([, mode]) => !["700", "600"].includes(mode))

test("security 5.2: in a new data folder everything is for one user alone, whatever umask the server was started with", async () => {
  await mkdir(path.join(folder, "template"))
  await copyCatalogTemplate(path.join(folder, "template"))
  const template = path.join(folder, "template", "catalog")
  // The set-up makes a closed template; an operator's own may have any mode.
  expect((await stat(path.join(template, "PG_VERSION"))).mode & 0o777).toBe(0o600)
  await chmod(path.join(template, "PG_VERSION"), 0o666)
  await serve({ HEDDLE_CATALOG_TEMPLATE: template })
  const all = await modes()
  expect(all.map(([name]) => name)).toEqual(
    expect.arrayContaining(["lock.db", "server-secret", "blobs/sha256", "traces", "catalog/PG_VERSION"]),
  )
  expect(await modeOf(".")).toBe("700")
  expect(await modeOf("catalog/PG_VERSION")).toBe("600")
  // Files that PGlite makes while it runs are open, but their folder is closed.
  expect(open(all).filter(([name]) => !name.startsWith("catalog/"))).toEqual([])
  expect(open(all.filter(([name]) => name === "catalog"))).toEqual([])
})

test("security 5.2: a data folder that an earlier version left open is closed at the start", async () => {
  await copyCatalogTemplate(await made(dataDir))
  await serve()
  for (const [name, mode] of await modes()) await chmod(path.join(dataDir, name), mode === "700" ? 0o755 : 0o666)
  await chmod(dataDir, 0o755)
  await serve()
  expect(await modeOf(".")).toBe("700")
  const top = await Promise.all((await readdir(dataDir)).map(async (name) => [name, await modeOf(name)]))
  expect(Object.fromEntries(top)).toEqual({
    "arrived-calls": "700",
    blobs: "700",
    catalog: "700",
    "lock.db": "600",
    "server-secret": "600",
    traces: "700",
  })
})

test("a folder that is shared on purpose, as /tmp is, stays so; what the server keeps in it is closed", async () => {
  await copyCatalogTemplate(await made(dataDir))
  await chmod(dataDir, 0o1777)
  await writeFile(path.join(dataDir, "notes.txt"), "", { mode: 0o644 })
  await serve()
  expect([await modeOf("."), await modeOf("notes.txt")]).toEqual(["1777", "644"])
  expect([await modeOf("catalog"), await modeOf("traces"), await modeOf("lock.db")]).toEqual(["700", "700", "600"])
})

async function made(name: string): Promise<string> {
  await mkdir(name)
  return name
}
