/** Law 1: SIGKILL at any moment loses nothing that was acknowledged, and leaves nothing half done. */
import { once } from "node:events"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { call, launchServer, newStores, type RunningServer, startServer } from "../support/server-process.ts"
import { groupsOf } from "../support/training-app.ts"

const rounds = process.env["HEDDLE_SLOW_TESTS"] === undefined ? 2 : 10

let dataDir: string
let stores: NodeJS.ProcessEnv
/** The server that was started after the last kill; the next test uses it. */
let running: RunningServer | null = null
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-crash-"))
  stores = await newStores(dataDir)
})
afterAll(async () => {
  running?.process.kill("SIGKILL")
  await rm(dataDir, { recursive: true, force: true })
})

/** Without an engine, so that jobs are stored and wait. */
const env = { HEDDLE_PYTHON: "/bin/false", HEDDLE_LOG: "fatal" }
const startReady = () => startServer(dataDir, { ...env, ...stores })

async function post(server: RunningServer, url: string, body: object): Promise<{ id: string }> {
  const answer = await call(server, "POST", url, body)
  expect(answer.status).toBe(200)
  return answer.body as { id: string }
}

async function get(server: RunningServer, url: string): Promise<number> {
  return (await call(server, "GET", url)).status
}

/** Makes models and jobs until the server is killed; keeps the ids of acknowledged ones. */
async function write(
  server: RunningServer,
  round: number,
  writer: number,
  acknowledged: { models: string[]; jobs: string[] },
) {
  for (let count = 0; ; count++) {
    try {
      const name = `m-${round}-${writer}-${count}`
      const model = await post(server, "/v1/preview/models", { project: "p", name, base_model: "heddle/tiny" })
      acknowledged.models.push(model.id)
      const body = { model_id: model.id, trajectory_groups: groupsOf([round, writer, count]) }
      acknowledged.jobs.push((await post(server, "/v1/preview/training-jobs", body)).id)
    } catch (error) {
      if (!server.process.killed) throw error
      return
    }
  }
}

test(
  `kill -9 during creates, ${rounds} times: every acknowledged model and job is there, no temporary file is left`,
  { timeout: 300_000 },
  async () => {
    const acknowledged = { models: [] as string[], jobs: [] as string[] }
    for (let round = 0; round < rounds; round++) {
      const server = await startReady()
      const writers = [0, 1, 2].map((writer) => write(server, round, writer, acknowledged))
      const before = acknowledged.jobs.length
      await expect.poll(() => acknowledged.jobs.length, { timeout: 120_000 }).toBeGreaterThan(before + 3 + round)
      server.process.kill("SIGKILL")
      await once(server.process, "exit")
      await Promise.all(writers)
    }
    const server = await startReady()
    for (const id of acknowledged.models) expect(await get(server, `/v1/preview/models/${id}/checkpoints`)).toBe(200)
    for (const id of acknowledged.jobs) expect(await get(server, `/v1/preview/training-jobs/${id}`)).toBe(200)
    expect(await readdir(path.join(dataDir, "blobs", "tmp"))).toEqual([])
    running = server
  },
)

test("a second server on the same folder is refused with the reason, and does the first no harm", async () => {
  const first = running ?? (await startReady())
  const second = launchServer(dataDir, { ...env, ...stores })
  await expect(second.url).rejects.toThrow(`is in use by another Heddle server (process ${first.process.pid})`)
  expect(await get(first, "/v1/health")).toBe(200)
  first.process.kill("SIGTERM")
  expect(await once(first.process, "exit")).toEqual([0, null])
})

test("a bad HEDDLE_ADMIN_KEY refuses to start and says why", async () => {
  const refused = launchServer(dataDir, { ...env, ...stores, HEDDLE_ADMIN_KEY: "short" })
  const closed = once(refused.child, "close")
  await expect(refused.url).rejects.toThrow(
    "HEDDLE_ADMIN_KEY cannot be used: it has 5 characters, and at least 40 are needed",
  )
  expect(await closed).toEqual([1, null])
})
