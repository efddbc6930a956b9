/**
 * The whole server with two engines on other machines: both chat and train, and when one goes the other goes on with what
 * it can (laws 7 and 9).
 */
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { readMetrics } from "../support/metrics.ts"
import { RemoteEngineProcess } from "../support/remote-engine.ts"
import { adapterOf, chat, ended, openServer, patience, reached, readJob, startJob } from "../support/long-training.ts"
import { type Caller, openTestApp, type TestApp } from "../support/test-app.ts"
import { newModel } from "../support/training-app.ts"

const failOverMs = 20_000

let engines: [RemoteEngineProcess, RemoteEngineProcess]
let opened: TestApp
beforeAll(async () => {
  engines = await Promise.all([RemoteEngineProcess.open(), RemoteEngineProcess.open()])
  opened = await openTestApp({ engine: engines[0].settings({ failOverMs }, [engines[1]]) })
  await vi.waitUntil(async () => (await up()).join() === "1,1", patience)
}, 300_000)
afterAll(async () => {
  await opened.close()
  await Promise.all(engines.map((engine) => engine.close()))
})

/** A figure of each engine. */
async function figures(name: string): Promise<number[]> {
  const metrics = await readMetrics(opened.admin)
  return engines.map(({ network }) => metrics.get(`heddle_engine_${name}{engine="${network.url}"}`) ?? -1)
}

const up = () => figures("up")

const stepOf = (name: string) => `wandb-artifact:///acme/tests/${name}:step1`

const questions = Array.from({ length: 12 }, (_, number) => `${number} + 4 = ?`)

async function twoJobs(): Promise<{ model: string; name: string; job: string; engine: number }[]> {
  const models = [await newModel(opened.acme), await newModel(opened.acme)]
  const begun = []
  for (const { id, name } of models) {
    const job = await startJob(opened.acme, id)
    await reached(opened.acme, job, 1)
    begun.push({ model: id, name, job, engine: await homeOf(job) })
  }
  return begun
}

async function homeOf(job: string): Promise<number> {
  const home = await readFile(path.join(opened.config.dataDir, "jobs", job, "engine"), "utf8")
  return engines.findIndex(({ network }) => network.url === home)
}

async function restart(engine: RemoteEngineProcess): Promise<void> {
  await engine.start()
  await vi.waitUntil(async () => (await up()).join() === "1,1", patience)
}

test(
  "two jobs train side by side; what one engine made the other one serves at once",
  { timeout: 900_000 },
  async () => {
    let { jobs, told } = await trainedTogether()
    // A job may begin and end between two heartbeats.
    for (let tries = 1; tries < mostTries && told.join() !== "1,1"; tries++) ({ jobs, told } = await trainedTogether())
    expect(told).toEqual([1, 1])
    expect(new Set(jobs.map(({ engine }) => engine))).toEqual(new Set([0, 1]))
    expect((await readMetrics(opened.admin)).get(baseLoaded(0))).toBe(1)
    for (const { job } of jobs) await ended(opened.acme, job)
    expect(await adapterOf(opened, jobs[0]?.model ?? "")).toBe(await adapterOf(opened, jobs[1]?.model ?? ""))
    for (const { model, name, engine } of jobs) {
      for (const question of questions) expect((await chat(opened.acme, stepOf(name), question)).status).toBe(200)
      const other = engines[1 - engine]?.folder ?? ""
      expect(await readdir(path.join(other, "data/blobs"))).toContain(await weightsOf(model))
    }
  },
)

const mostTries = 5

/** Two jobs that ended, and how many the heartbeats of each engine told of at most. */
async function trainedTogether() {
  const jobs = await twoJobs()
  const told = [0, 0]
  const read = () => Promise.all(jobs.map(({ job }) => readJob(opened.acme, job)))
  await vi.waitUntil(async () => {
    for (const [place, count] of (await figures("jobs")).entries()) told[place] = Math.max(told[place] ?? 0, count)
    return (await read()).every(({ ended_at }) => ended_at !== null)
  }, patience)
  const times = await read()
  const lastStart = Math.max(...times.map(({ started_at }) => Date.parse(started_at ?? "")))
  expect(lastStart).toBeLessThan(Math.min(...times.map(({ ended_at }) => Date.parse(ended_at ?? ""))))
  return { jobs, told }
}

const baseLoaded = (place: 0 | 1) =>
  `heddle_engine_base_loaded{engine="${engines[place].network.url}",base="heddle/tiny"}`

/** SHA-256 of a model's first weights, by which an engine that was sent them calls their file. */
async function weightsOf(model: string): Promise<string> {
  const folder = path.join(opened.config.dataDir, "checkpoints", model, "step_000001")
  const digest = createHash("sha256")
  return digest.update(await readFile(path.join(folder, "adapter_model.safetensors"))).digest("hex")
}

test("chats go on while an engine is killed in the middle of streams", { timeout: 900_000 }, async () => {
  try {
    let texts = await streamsWhileKilled()
    for (let tries = 1; tries < mostKills && !texts.some(isBroken); tries++) {
      // A heartbeat may be older than the streams that it tells of: they had ended when the engine was killed.
      await restart(engines[0])
      texts = await streamsWhileKilled()
    }
    const whole = texts.filter((text) => text.includes("[DONE]"))
    const broken = texts.filter(isBroken)
    expect(whole.length).toBeGreaterThan(0)
    expect(broken.length).toBeGreaterThan(0)
    expect(whole.length + broken.length).toBe(texts.length)
    const check = await opened.acme.get("/v1/system-check")
    expect(check).toMatchObject({
      status: 200,
      body: { gpu_queue: { success: true, error: null }, engines: [{ success: false }, { success: true }] },
    })
    expect(JSON.stringify(check.body)).toContain(`cannot reach the engine at ${engines[0].network.url}`)
  } finally {
    await restart(engines[0])
  }
})

const mostKills = 5

const isBroken = (text: string) => text.includes('"error"')

/** The texts of all streams; chats that come after the kill are answered. */
async function streamsWhileKilled(): Promise<string[]> {
  const texts: string[] = []
  let isKilled = false
  // A stream can be over before the next heartbeat says that it runs, so each question is asked until the engine is gone.
  const streams = questions.map(async (question) => {
    while (!isKilled) {
      const { body } = await opened.acme.post("/v1/chat/completions", {
        model: "heddle/tiny",
        messages: [{ role: "user", content: question }],
        max_tokens: 600,
        ignore_eos: true,
        stream: true,
      })
      texts.push(body as string)
    }
  })
  await vi.waitUntil(async () => (await figures("chats_running")).every((running) => running > 0), patience)
  await engines[0].end("SIGKILL")
  isKilled = true
  const after = await Promise.all(questions.map((question) => chat(opened.acme, "heddle/tiny", question)))
  expect(after.map(({ status }) => status)).toEqual(questions.map(() => 200))
  await Promise.all(streams)
  return texts
}

test(
  "law 7: kill -9 of one job's engine; the job goes on there, the other job notices nothing",
  {
    timeout: 900_000,
  },
  async () => {
    const jobs = await twoJobs()
    const [own, other] = jobs
    if (own === undefined || other === undefined) throw new Error("two jobs run")
    const killed = engines[own.engine]
    await reached(opened.acme, own.job, 5)
    await killed?.end("SIGKILL")
    await vi.waitUntil(async () => (await up())[own.engine] === 0, patience)
    expect((await chat(opened.acme, "heddle/tiny")).status).toBe(200)
    if (killed !== undefined) await restart(killed)
    for (const { job } of jobs) await ended(opened.acme, job)
    expect(await adapterOf(opened, own.model)).toBe(await adapterOf(opened, other.model))
  },
)

test(
  "law 7: an engine stays away; its job begins again on the other one, and no event comes twice",
  {
    timeout: 900_000,
  },
  async () => {
    const [own, other] = await twoJobs()
    if (own === undefined || other === undefined) throw new Error("two jobs run")
    await reached(opened.acme, own.job, 5)
    await engines[own.engine]?.end("SIGKILL")
    await vi.waitUntil(async () => (await homeOf(own.job)) === other.engine, patience)
    expect(await readJob(opened.acme, own.job)).toMatchObject({ status: "running" })
    for (const { job } of [own, other]) await ended(opened.acme, job)
    // That of the job that nothing happened to.
    expect(await adapterOf(opened, own.model)).toBe(await adapterOf(opened, other.model))
    const back = engines[own.engine]
    if (back !== undefined) await restart(back)
  },
)

test(
  "law 9: an engine with another token is left out, and says why; the others serve",
  { timeout: 300_000 },
  async () => {
    const stranger = await RemoteEngineProcess.open({ token: "another_token_0123456789_0123456789_0123" })
    const app = await openServer(engines[0].environment({}, [stranger]))
    try {
      await vi.waitUntil(async () => (await statusOf(app.acme)) === 200, patience)
      const refused = await vi.waitUntil(async () => {
        const { status, body } = await app.acme.get("/v1/system-check")
        return status === 200 && JSON.stringify(body).includes("refuses the token in HEDDLE_ENGINE_TOKEN_FILE") && body
      }, patience)
      expect(refused).toMatchObject({ gpu_queue: { success: true }, engines: [{ success: true }, { success: false }] })
      for (const question of questions) expect((await chat(app.acme, "heddle/tiny", question)).status).toBe(200)
    } finally {
      await app.close()
      await stranger.close()
    }
  },
)

const statusOf = async (caller: Caller) => (await chat(caller, "heddle/tiny")).status

test("without any engine chats are refused at once, and a job waits", { timeout: 300_000 }, async () => {
  await Promise.all(engines.map((engine) => engine.end("SIGKILL")))
  const refused = await vi.waitUntil(async () => {
    const answer = await chat(opened.acme, "heddle/tiny")
    return answer.status === 503 && answer
  }, patience)
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0)
  await vi.waitUntil(async () => (await up()).join() === "0,0", patience)
  const check = await opened.acme.get("/v1/system-check")
  expect(check.status).toBe(503)
  for (const { network } of engines) expect(JSON.stringify(check.body)).toContain(network.url)
  const { id } = await newModel(opened.acme)
  const job = await startJob(opened.acme, id)
  expect(await readJob(opened.acme, job)).toMatchObject({ status: "queued", ended_at: null })
  await engines[1].start()
  await ended(opened.acme, job)
})
