/** A server whose engine trains in two processes, one of which is killed: what jobs and chats notice of it. */
import { readdir, readFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { chat, openServer, readAdapter, readJob, type ServerByItself, startJob } from "../support/long-training.ts"
import { childrenOf } from "../support/server-process.ts"
import { newModel } from "../support/training-app.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")

let opened: ServerByItself
beforeAll(async () => {
  opened = await openServer({ HEDDLE_PYTHON: python, HEDDLE_ENGINE_TRAINERS: "2" })
}, 60_000)
afterAll(() => opened.close())

async function start(): Promise<{ model: string; job: string }> {
  const { id } = await newModel(opened.acme)
  return { model: id, job: await startJob(opened.acme, id, 300, { grad_accumulation_sequences: 4 }) }
}

const read = (job: string) => readJob(opened.acme, job)

const untilDone = (job: string) =>
  expect.poll(async () => (await read(job)).status, { timeout: 120_000, interval: 20 }).toBe("succeeded")

/** Process ids of the engine's workers. */
async function workers(): Promise<number[]> {
  const found: number[] = []
  for (const engine of await childrenOf(opened.server)) {
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
    const whole = await start()
    await untilDone(whole.job)
    const [worker] = await workers()
    if (worker === undefined) throw new Error("the worker has ended")
    expect(await processorTicks(worker)).toBeGreaterThan(0)

    const killed = await start()
    let done = 0
    const step = async () => (done = (await read(killed.job)).gradient_steps)
    await expect.poll(step, { timeout: 60_000, interval: 10 }).toBeGreaterThan(2)
    process.kill(worker, "SIGKILL")
    expect((await chat(opened.acme, "heddle/tiny")).status).toBe(200)
    await untilDone(killed.job)

    const { dataDir } = opened.config
    expect((await readAdapter(dataDir, killed.model)).equals(await readAdapter(dataDir, whole.model))).toBe(true)
    const [one, other] = await Promise.all([whole.job, killed.job].map(read))
    expect(other?.gradient_steps).toBe(one?.gradient_steps)
    expect(one?.gradient_steps).toBeGreaterThan(done)
    await expect
      .poll(async () => (await workers()).filter((pid) => pid !== worker), { timeout: 60_000 })
      .toHaveLength(1)
  },
)
