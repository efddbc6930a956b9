/** A server whose engine trains in two processes, one of which is killed: what jobs and chats notice of it. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { listedJob } from "../../src/wire/training/job.ts"
import { call, childrenOf, endServer, newStores, type RunningServer, startServer } from "../support/server-process.ts"
import { sampledTrajectory } from "../support/training-app.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")
const jobsPath = "/v1/preview/training-jobs"

let dataDir: string
let server: RunningServer
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-trainers-"))
  const env = { HEDDLE_PYTHON: python, HEDDLE_LOG: "fatal", HEDDLE_ENGINE_TRAINERS: "2" }
  server = await startServer(dataDir, { ...env, ...(await newStores(dataDir)) })
}, 60_000)
afterAll(async () => {
  await endServer(server, "SIGTERM")
  await rm(dataDir, { recursive: true, force: true })
})

const readJob = async (id: string) => listedJob.parse((await call(server, "GET", `${jobsPath}/${id}`)).body)

const groups = Array.from({ length: 300 }, (_, group) => ({
  trajectories: [0, 1].map((reward) => sampledTrajectory(reward, 8 + ((group + reward) % 9))),
}))

async function startJob(name: string): Promise<{ model: string; job: string }> {
  const made = await call(server, "POST", "/v1/preview/models", { project: "p", name, base_model: "heddle/tiny" })
  const { id: model } = made.body as { id: string }
  const experimental_config = {
    learning_rate: 0.001,
    packed_sequence_length: 64,
    logprob_calculation_chunk_size: 64,
    grad_accumulation_sequences: 4,
  }
  const job = await call(server, "POST", jobsPath, { model_id: model, trajectory_groups: groups, experimental_config })
  expect(job.status).toBe(200)
  return { model, job: (job.body as { id: string }).id }
}

const untilDone = (job: string) =>
  expect.poll(async () => (await readJob(job)).status, { timeout: 120_000, interval: 20 }).toBe("succeeded")

const adapterOf = (model: string) =>
  readFile(path.join(dataDir, "checkpoints", model, "step_000001", "adapter_model.safetensors"))

/** Process ids of the engine's workers. */
async function workers(): Promise<number[]> {
  const found: number[] = []
  for (const engine of await childrenOf(server)) {
    for (const thread of await readdir(`/proc/${engine}/task`)) {
      const children = await readFile(`/proc/${engine}/task/${thread}/children`, "utf8").catch(() => "")
      found.push(...children.split(" ").filter(Boolean).map(Number))
    }
  }
  const commands = await Promise.all(found.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")))
  return found.filter((_, index) => commands[index]?.includes("heddle_engine.training.workers"))
}

async function processorTicks(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ")
  return Number(fields[11]) + Number(fields[12])
}

test(
  "law 7: a job whose worker is killed ends with the same adapter, byte for byte, and chats go on",
  { timeout: 300_000 },
  async () => {
    await expect.poll(workers, { timeout: 60_000 }).toHaveLength(1)
    const whole = await startJob("whole")
    await untilDone(whole.job)
    const [worker] = await workers()
    if (worker === undefined) throw new Error("the worker has ended")
    expect(await processorTicks(worker)).toBeGreaterThan(0)

    const killed = await startJob("killed")
    let done = 0
    const step = async () => (done = (await readJob(killed.job)).gradient_steps)
    await expect.poll(step, { timeout: 60_000, interval: 10 }).toBeGreaterThan(2)
    process.kill(worker, "SIGKILL")
    const body = { model: "heddle/tiny", messages: [{ role: "user", content: "one" }], max_tokens: 2 }
    expect((await call(server, "POST", "/v1/chat/completions", body)).status).toBe(200)
    await untilDone(killed.job)

    expect((await adapterOf(killed.model)).equals(await adapterOf(whole.model))).toBe(true)
    const [one, other] = await Promise.all([whole.job, killed.job].map(readJob))
    expect(other?.gradient_steps).toBe(one?.gradient_steps)
    expect(one?.gradient_steps).toBeGreaterThan(done)
    await expect
      .poll(async () => (await workers()).filter((pid) => pid !== worker), { timeout: 60_000 })
      .toHaveLength(1)
  },
)
