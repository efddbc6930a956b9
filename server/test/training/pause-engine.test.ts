/**
 * With the real engine, a job that was paused, and whose server was killed, ends with the adapter of an undisturbed
 * one.
 */
import { once } from "node:events"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { listedJob } from "../../src/wire/training/job.ts"
import { jobsPath, longJob, readAdapter } from "../support/long-training.ts"
import { call, newStores, type RunningServer, startServer } from "../support/server-process.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")

let dataDir: string
let stores: NodeJS.ProcessEnv
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-pause-engine-"))
  stores = await newStores(dataDir)
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const start = () => startServer(dataDir, { HEDDLE_PYTHON: python, HEDDLE_LOG: "fatal", ...stores })
const readJob = async (server: RunningServer, id: string) =>
  listedJob.parse((await call(server, "GET", `${jobsPath}/${id}`)).body)

async function startJob(server: RunningServer, name: string): Promise<{ model: string; job: string }> {
  const made = await call(server, "POST", "/v1/preview/models", { project: "p", name, base_model: "heddle/tiny" })
  const { id: model } = made.body as { id: string }
  // Enough groups that the job does not end before it is paused.
  const job = await call(server, "POST", jobsPath, longJob(model, 150))
  expect(job.status).toBe(200)
  return { model, job: (job.body as { id: string }).id }
}

async function reached(
  server: RunningServer,
  job: string,
  isThere: (job: { gradient_steps: number; status: string }) => boolean,
) {
  await expect.poll(async () => isThere(await readJob(server, job)), { timeout: 120_000, interval: 20 }).toBe(true)
}

const adapterOf = (model: string) => readAdapter(dataDir, model)

test(
  "engine 5.6: paused, killed with its server, resumed, paused and resumed: the adapter is the same, byte for byte",
  { timeout: 400_000 },
  async () => {
    let server = await start()
    const whole = await startJob(server, "whole")
    await reached(server, whole.job, ({ status }) => status === "succeeded")

    const paused = await startJob(server, "paused")
    await reached(server, paused.job, ({ gradient_steps: done }) => done > 2)
    const answer = await call(server, "POST", `${jobsPath}/${paused.job}/pause`)
    expect(answer.body).toMatchObject({ status: "paused" })
    // The engine has stopped once it has written its snapshot.
    const snapshots = () => readdir(path.join(dataDir, "jobs", paused.job)).catch(() => [])
    await expect.poll(async () => (await snapshots()).length, { timeout: 60_000 }).toBeGreaterThan(0)
    server.process.kill("SIGKILL")
    await once(server.process, "exit")

    server = await start()
    const before = await readJob(server, paused.job)
    expect(before.status).toBe("paused")
    expect(before.gradient_steps).toBeGreaterThan(2)
    await call(server, "POST", `${jobsPath}/${paused.job}/resume`)
    await reached(server, paused.job, ({ gradient_steps: done }) => done > before.gradient_steps)
    await call(server, "POST", `${jobsPath}/${paused.job}/pause`)
    await call(server, "POST", `${jobsPath}/${paused.job}/resume`)
    await reached(server, paused.job, ({ status }) => status === "succeeded")

    expect((await adapterOf(paused.model)).equals(await adapterOf(whole.model))).toBe(true)
    const [one, other] = await Promise.all([whole.job, paused.job].map((job) => readJob(server, job)))
    expect(other?.gradient_steps).toBe(one?.gradient_steps)
    server.process.kill("SIGTERM")
    await once(server.process, "exit")
  },
)
