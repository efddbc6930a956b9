/** A server that is killed while it deletes a project leaves the whole project or, in the end, nothing of it. */
import { once } from "node:events"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Stores } from "../../src/storage/open-stores.ts"
import { createApp } from "../../src/app.ts"
import { inClosedStores } from "../support/closed-stores.ts"
import { idsOfProject, rowsNaming } from "../support/project-state.ts"
import { call, newStores, type RunningServer, startServer } from "../support/server-process.ts"
import { adminKey, callerOf, testConfig } from "../support/test-app.ts"
import { groupsOf } from "../support/training-app.ts"

let dataDir: string
let settings: NodeJS.ProcessEnv
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-delete-crash-"))
  settings = await newStores(dataDir)
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

/** Without an engine, so that jobs are stored and wait. */
const env = { HEDDLE_PYTHON: "/bin/false", HEDDLE_LOG: "fatal" }
const start = () => startServer(dataDir, { ...env, ...settings })
const projectId = "local/doomed"

/** Addresses of the same stores, for a server in this process. */
const addresses = () => ({
  postgresUrl: settings["HEDDLE_POSTGRES_URL"] ?? null,
  clickhouseUrl: settings["HEDDLE_CLICKHOUSE_URL"] ?? null,
})

async function must(server: RunningServer, url: string, body: object): Promise<{ id: string }> {
  const answer = await call(server, "POST", url, body)
  expect([answer.status, answer.body]).toEqual([200, answer.body])
  return answer.body as { id: string }
}

async function fill(server: RunningServer, project_id: string): Promise<string> {
  const [entity, project = ""] = project_id.split("/")
  const { id } = await must(server, "/v1/projects", { entity, name: project })
  const model = await must(server, "/v1/preview/models", { project, name: "m", base_model: "heddle/tiny" })
  await must(server, "/v1/preview/training-jobs", { model_id: model.id, trajectory_groups: groupsOf([0, 1]) })
  for (const object_id of ["one", "two"]) await must(server, "/obj/create", { obj: { project_id, object_id, val: 1 } })
  await must(server, "/table/create", { table: { project_id, rows: [{ row: project }] } })
  await must(server, "/cost/create", { project_id, costs: { m: { prompt_token_cost: 1, completion_token_cost: 2 } } })
  const started = { project_id, op_name: "f", started_at: "2026-03-01T00:00:00Z", attributes: {}, inputs: {} }
  await must(server, "/call/start", { start: started })
  return id
}

async function killed(server: RunningServer): Promise<void> {
  server.process.kill("SIGKILL")
  await once(server.process, "exit")
}

async function stopped(server: RunningServer): Promise<void> {
  server.process.kill("SIGTERM")
  expect(await once(server.process, "exit")).toEqual([0, null])
}

const inStores = <T>(read: (stores: Stores) => Promise<T>) => inClosedStores(dataDir, addresses(), read)

test.each([0, 40, 400])(
  "kill -9 %i ms after the request: the next start ends it, and nothing of another project goes",
  { timeout: 300_000 },
  async (ms) => {
    const first = await start()
    const keptId = await fill(first, `local/kept-${ms}`)
    const id = await fill(first, projectId)
    await stopped(first)
    const [ids, keptIds] = await inStores((stores) =>
      Promise.all([idsOfProject(stores, id), idsOfProject(stores, keptId)]),
    )
    const keptRows = await inStores((stores) => rowsNaming(stores, keptIds))
    expect(Object.keys(keptRows).length).toBeGreaterThan(6)

    const second = await start()
    const answer = call(second, "DELETE", `/v1/projects/${projectId}`).then(
      ({ status }) => status,
      () => null,
    )
    await sleep(ms)
    await killed(second)
    const acknowledged = await answer

    const third = await createApp({ ...testConfig(dataDir), ...addresses() })
    try {
      await third.server.listen()
      const admin = callerOf(() => third, adminKey, "local")
      const standing = await admin.post("/project/stats", { project_id: projectId })
      // The project is whole or gone, and it is gone if the client got the answer.
      if (acknowledged === 200) expect(standing.status).toBe(403)
      if (standing.status === 200) expect((await admin.delete(`/v1/projects/${projectId}`)).status).toBe(200)
      expect((await admin.delete(`/v1/projects/${projectId}`)).status).toBe(404)
      await expect.poll(() => rowsNaming(third.stores, ids), { timeout: 120_000, interval: 200 }).toEqual({})
      expect(await rowsNaming(third.stores, keptIds)).toEqual(keptRows)
    } finally {
      await third.close()
    }
    expect(await readdir(path.join(dataDir, "blobs", "tmp"))).toEqual([])
  },
)
