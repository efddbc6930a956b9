/** Blobs without a row, because of a crash, are removed once they are old enough, and no others. */
import { once } from "node:events"
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { collectOrphans } from "../../src/storage/blob-collector.ts"
import { call, newStores, type RunningServer, startServer } from "../support/server-process.ts"
import { adminKey } from "../support/test-app.ts"
import { openTrainingApp } from "../support/training-app.ts"

let dataDir: string
let stores: NodeJS.ProcessEnv
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-orphans-"))
  stores = await newStores(dataDir)
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const start = () => startServer(dataDir, { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal", ...stores })

/** Paths of all blobs, by their names. */
async function blobs(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(path.join(folder, "blobs", "sha256"), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return new Map(files.map(({ name, parentPath }) => [name, path.join(parentPath, name)]))
}

const names = async (folder: string) => [...(await blobs(folder)).keys()].toSorted()

async function age(file: string, hours: number): Promise<void> {
  const then = new Date(Date.now() - hours * 3_600_000)
  await utimes(file, then, then)
}

async function upload(server: RunningServer, content: string): Promise<void> {
  const form = new FormData()
  form.set("file", new Blob([content]), "rows.jsonl")
  const headers = { authorization: `Bearer ${adminKey}` }
  await fetch(`${server.url}/v1/files`, { method: "POST", headers, body: form })
}

/** Number of uploads that the server lists. */
async function uploads(server: RunningServer): Promise<number> {
  const { body } = await call(server, "GET", "/v1/files?limit=10000")
  return (body as { data: unknown[] }).data.length
}

test(
  "kill -9 between blob and row: the blob goes a day later, those with a row stay",
  { timeout: 300_000 },
  async () => {
    let server = await start()
    let orphans = 0
    // Not every kill comes between the blob and its row, so there are up to 20.
    for (let round = 0; orphans < 2 && round < 20; round++) {
      const before = (await blobs(dataDir)).size
      const sent = Array.from({ length: 40 }, (_, index) => upload(server, `${round} ${index}`).catch(() => undefined))
      while ((await blobs(dataDir)).size < before + 3) await Promise.race(sent)
      server.process.kill("SIGKILL")
      await once(server.process, "exit")
      await Promise.all(sent)
      server = await start()
      orphans = (await blobs(dataDir)).size - (await uploads(server))
    }
    expect(orphans).toBeGreaterThanOrEqual(2)

    server.process.kill("SIGTERM")
    await once(server.process, "exit")
    const all = await blobs(dataDir)
    for (const file of all.values()) await age(file, 25)
    server = await start()
    const kept = await uploads(server)
    await expect.poll(async () => (await blobs(dataDir)).size, { timeout: 20_000 }).toBe(kept)
    expect(kept).toBe(all.size - orphans)
    server.process.kill("SIGTERM")
    await once(server.process, "exit")
  },
)

test("a young orphan stays, and so do one that a request holds and a file that is no blob", async () => {
  const opened = await openTrainingApp()
  try {
    const { dataDir: folder, blobs: store } = opened.app.stores
    const put = async (text: string, hours: number) => {
      const content = async function* () {
        yield Buffer.from(text)
      }
      const { sha256 } = await store.put(content())
      await age(store.absolutePathOf(sha256), hours)
      return sha256
    }
    const [old, young, held] = [await put("old", 25), await put("young", 23), await put("held", 25)]
    store.release(old)
    store.release(young)
    const stray = path.join(path.dirname(store.absolutePathOf(old)), "notes.txt")
    await writeFile(stray, "of the operator")
    await age(stray, 100)
    const collect = () => collectOrphans(opened.app.stores, new Date(Date.now() - 24 * 3_600_000))
    expect(await collect()).toBe(1)
    expect(await names(folder)).toEqual([young, held, "notes.txt"].toSorted())
    store.release(held)
    expect(await collect()).toBe(1)
    expect(await names(folder)).toEqual([young, "notes.txt"].toSorted())
  } finally {
    await opened.close()
  }
})
