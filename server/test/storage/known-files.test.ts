/** A start with a catalog that does not know the files of the data folder, which it would remove, or its calls. */
import { glob, mkdtemp, rename, rm, utimes } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, test } from "vitest"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { createDatabase } from "../support/postgres-database.ts"
import { endServer, type RunningServer, startServer } from "../support/server-process.ts"
import { adminKey } from "../support/test-app.ts"

const postgres = process.env["HEDDLE_TEST_POSTGRES_URL"]
const quiet = { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal" }

async function whileStarted(dataDir: string, postgresUrl: string | null, use: (url: string) => Promise<void>) {
  const env = postgresUrl === null ? quiet : { ...quiet, HEDDLE_POSTGRES_URL: postgresUrl }
  const server = await startServer(dataDir, env)
  await use(server.url)
  await endServer(server, "SIGTERM")
}

async function upload(url: RunningServer["url"]): Promise<void> {
  const form = new FormData()
  form.set("file", new Blob(["kept"]), "rows.jsonl")
  const headers = { authorization: `Bearer ${adminKey}` }
  expect((await fetch(`${url}/v1/files`, { method: "POST", headers, body: form })).status).toBe(200)
}

async function files(dataDir: string): Promise<string[]> {
  return Array.fromAsync(glob(path.join(dataDir, "blobs/sha256/*/*")))
}

test("a folder with files is not started with an embedded catalog that is new", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-known-"))
  const catalog = path.join(dataDir, "catalog")
  await copyCatalogTemplate(dataDir)
  await whileStarted(dataDir, null, upload)
  const stored = await files(dataDir)
  expect(stored).toHaveLength(1)
  // Older than what a request in progress may be about.
  for (const file of stored) await utimes(file, 0, 0)
  await rename(catalog, `${catalog}-away`)
  await copyCatalogTemplate(dataDir)
  await expect(whileStarted(dataDir, null, async () => undefined)).rejects.toThrow(
    `the data folder ${dataDir} has files, and the catalog in it is empty, so all of them would be removed. ` +
      "If it is in a PostgreSQL server, set HEDDLE_POSTGRES_URL",
  )
  expect(await files(dataDir)).toEqual(stored)
  await rm(catalog, { recursive: true })
  await rename(`${catalog}-away`, catalog)
  await whileStarted(dataDir, null, async () => undefined)
  await rm(dataDir, { recursive: true })
})

test("nor is one with calls", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-known-"))
  await copyCatalogTemplate(dataDir)
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" }
  const ask = async (url: string, body: object) =>
    (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json()
  const start = {
    project_id: "local/kept",
    op_name: "kept",
    started_at: "2026-01-01T00:00:00Z",
    attributes: {},
    inputs: {},
  }
  await whileStarted(dataDir, null, async (url) => void (await ask(`${url}/call/start`, { start })))
  const catalog = path.join(dataDir, "catalog")
  await rename(catalog, `${catalog}-away`)
  await copyCatalogTemplate(dataDir)
  await expect(whileStarted(dataDir, null, async () => undefined)).rejects.toThrow(
    `the data folder ${dataDir} has calls or their like, and the catalog in it is empty, so nobody would see them. ` +
      "If it is in a PostgreSQL server, set HEDDLE_POSTGRES_URL; if not, put a backup in the folder's place",
  )
  await rm(catalog, { recursive: true })
  await rename(`${catalog}-away`, catalog)
  await whileStarted(dataDir, null, async (url) => {
    expect(await ask(`${url}/calls/query_stats`, { project_id: "local/kept" })).toMatchObject({ count: 1 })
  })
  await rm(dataDir, { recursive: true })
})

test.runIf(postgres !== undefined)("nor with an empty database, where another one knows them", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-known-"))
  const own = await createDatabase(postgres!)
  await whileStarted(dataDir, own, upload)
  const stored = await files(dataDir)
  for (const file of stored) await utimes(file, 0, 0)
  await expect(whileStarted(dataDir, await createDatabase(postgres!), async () => undefined)).rejects.toThrow(
    "the database of HEDDLE_POSTGRES_URL is empty, so all of them would be removed",
  )
  await expect(whileStarted(dataDir, null, async () => undefined)).rejects.toThrow("set HEDDLE_POSTGRES_URL")
  expect(await files(dataDir)).toEqual(stored)
  await whileStarted(dataDir, own, async () => undefined)
  await rm(dataDir, { recursive: true })
})
