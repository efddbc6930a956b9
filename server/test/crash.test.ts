/** Law 1: kill -9 at any moment loses nothing that was acknowledged, and leaves nothing half done. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, expect, test } from "vitest"
import { copyCatalogTemplate } from "./support/catalog-template.ts"
import { adminKey, groupsOf } from "./support/training-app.ts"

const main = path.resolve(import.meta.dirname, "../src/main.ts")
const rounds = process.env["HEDDLE_SLOW_TESTS"] === undefined ? 2 : 10

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-crash-"))
  await copyCatalogTemplate(dataDir)
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

interface Running {
  process: ChildProcess
  url: string
}

function start(): { child: ChildProcess; output: string[]; url: Promise<string> } {
  const env = { ...process.env, HEDDLE_ADMIN_KEY: adminKey, HEDDLE_PYTHON: "/bin/false", HEDDLE_LOG: "fatal" }
  const child = spawn(process.execPath, [main, "--port", "0", "--data-dir", dataDir], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  })
  const output: string[] = []
  createInterface({ input: child.stderr }).on("line", (line) => output.push(line))
  const url = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = /ready at (\S+)/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once("exit", () => reject(new Error(output.join("\n"))))
  })
  return { child, output, url }
}

async function startReady(): Promise<Running> {
  const { child, url } = start()
  return { process: child, url: await url }
}

async function post(server: Running, url: string, body: object): Promise<{ id: string }> {
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" }
  const answer = await fetch(server.url + url, { method: "POST", headers, body: JSON.stringify(body) })
  expect(answer.status).toBe(200)
  return (await answer.json()) as { id: string }
}

async function get(server: Running, url: string): Promise<number> {
  const answer = await fetch(server.url + url, { headers: { authorization: `Bearer ${adminKey}` } })
  return answer.status
}

/** Makes models and jobs until the server is gone; keeps what was acknowledged. */
async function write(
  server: Running,
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
    server.process.kill("SIGTERM")
    expect(await once(server.process, "exit")).toEqual([0, null])
  },
)

test("a second server on the same folder is refused with the reason, and does the first no harm", async () => {
  const first = await startReady()
  const second = start()
  await expect(second.url).rejects.toThrow(`is in use by another Heddle server (process ${first.process.pid})`)
  expect(await get(first, "/v1/health")).toBe(200)
  first.process.kill("SIGTERM")
  expect(await once(first.process, "exit")).toEqual([0, null])
})

test("a bad HEDDLE_ADMIN_KEY refuses to start and says why", async () => {
  const env = { ...process.env, HEDDLE_ADMIN_KEY: "short", HEDDLE_ENGINE: "none" }
  const child = spawn(process.execPath, [main, "--port", "0", "--data-dir", dataDir], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on("line", (line) => lines.push(line))
  const [code] = (await once(child, "close")) as [number]
  expect(code).toBe(1)
  expect(lines.join("\n")).toContain("HEDDLE_ADMIN_KEY cannot be used: it has 5 characters, and at least 40 are needed")
})
