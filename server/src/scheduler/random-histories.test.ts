/**
 * Random histories of jobs, cancels, pauses, engine deaths, server restarts and model deletions against what must
 * hold after each (training-api 3.1 and 4.2). `HEDDLE_TEST_HISTORIES` sets how many.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { writeFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { addJob, addModel, addTenant, openTestCatalog, type TestCatalog } from "../../test/support/test-catalog.ts"
import { SupervisedEngine } from "../engines/engine-process.ts"
import { EngineFailure, type EngineParams } from "../engines/engine.ts"
import { FakeEngine, type FakeCall, writeFakeCheckpoint } from "../engines/fake-engine.ts"
import { cancelJob, pauseJob, resumeJob } from "../storage/catalog/training/job-progress.ts"
import { moveFor } from "./job-states.ts"
import { Scheduler } from "./scheduler.ts"

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
const histories = Number(process.env["HEDDLE_TEST_HISTORIES"] ?? 2)
const operations = 25
const gradientSteps = 3

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await writeFile(path.join(catalog.dataDir, "data.jsonl"), "{}\n")
})
afterAll(() => catalog.close())

/** mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

class World {
  readonly random: () => number
  readonly fake: FakeEngine
  readonly engine: SupervisedEngine
  readonly models: string[] = []
  readonly deleted = new Set<string>()
  readonly jobs: string[] = []
  /** Jobs whose data is bad: they fail whenever they run to their end. */
  readonly bad = new Set<string>()
  /** Jobs of which a cancel was acknowledged. */
  readonly cancelled = new Set<string>()
  readonly active = new Map<string, number>()
  overlaps = 0
  #scheduler: Scheduler | null = null
  #servers = 0

  constructor(seed: number) {
    this.random = randomOf(seed)
    this.fake = new FakeEngine({ train: (params, call) => this.#train(params, call) })
    this.engine = new SupervisedEngine({ launch: this.fake.launch, log: silent, backOffMs: () => 0 })
  }

  async startServer(): Promise<void> {
    const { database, dataDir } = catalog
    this.#scheduler = new Scheduler({
      database,
      dataDir,
      engine: this.engine,
      traces: null,
      findLedgerEntries: () => Promise.resolve([]),
      log: silent,
      owner: `server-${this.#servers++}`,
      exclusive: true,
      retryPauseMs: 1,
      // Deaths are many here and must not be what ends a job.
      maximumAttempts: 1_000,
    })
    await this.#scheduler.start()
  }

  async restartServer(): Promise<void> {
    await this.#scheduler?.close()
    await this.startServer()
  }

  async close(): Promise<void> {
    await this.#scheduler?.close()
    await this.engine.close()
  }

  async submit(): Promise<void> {
    const modelId = this.#pick(this.models.filter((model) => !this.deleted.has(model)))
    if (modelId === undefined) return
    const id = await addJob(catalog.database, { modelId })
    this.jobs.push(id)
    if (this.random() < 0.2) this.bad.add(id)
    this.#scheduler?.wake()
  }

  async cancel(): Promise<void> {
    const id = this.#pick(this.jobs)
    if (id === undefined) return
    const done = await cancelJob(catalog.database, moveFor("cancel"), id, "cancelled by ada")
    if (done !== null) this.cancelled.add(id)
    this.#scheduler?.wake()
  }

  async pause(): Promise<void> {
    const id = this.#pick(this.jobs)
    if (id === undefined) return
    await pauseJob(catalog.database, moveFor("pause"), id)
    this.#scheduler?.wake()
  }

  async resume(): Promise<void> {
    for (const id of this.jobs) await resumeJob(catalog.database, moveFor("resume"), id)
    this.#scheduler?.wake()
  }

  async deleteModel(): Promise<void> {
    const modelId = this.#pick(this.models)
    if (modelId === undefined || this.deleted.size >= 2) return
    this.deleted.add(modelId)
    await catalog.database.updateTable("models").set({ deleted_at: new Date() }).where("id", "=", modelId).execute()
    this.#scheduler?.wake()
  }

  #pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.random() * items.length)]
  }

  async #train(params: EngineParams<"train">, call: FakeCall) {
    const model = params.output.key.split("@", 1)[0] ?? ""
    this.active.set(model, (this.active.get(model) ?? 0) + 1)
    if ((this.active.get(model) ?? 0) > 1) this.overlaps += 1
    try {
      call.emit("training_started", { num_sequences: gradientSteps })
      for (let number = 1; number <= gradientSteps; number++) {
        // At once, as a killed process ends: the next one may begin the job again before this pause is over.
        await sleep(this.random() * 20, undefined, { signal: call.cancelled }).catch(() => {
          throw new EngineFailure("cancelled", "cancelled")
        })
        call.emit("gradient_step", { number, metrics: { policy_loss: number } })
      }
      if (this.bad.has(params.job_id)) throw new EngineFailure("invalid", "bad data")
      return await writeFakeCheckpoint(params, gradientSteps)
    } finally {
      this.active.set(model, (this.active.get(model) ?? 1) - 1)
    }
  }
}

async function play(world: World): Promise<void> {
  const actions = [
    { weight: 6, run: () => world.submit() },
    { weight: 2, run: () => Promise.resolve(world.fake.die()) },
    { weight: 1, run: () => world.restartServer() },
    { weight: 0.5, run: () => world.deleteModel() },
    { weight: 1.5, run: () => world.cancel() },
    { weight: 2, run: () => world.pause() },
    { weight: 0.5, run: () => world.resume() },
    { weight: 3, run: () => sleep(30) },
  ]
  const total = actions.reduce((sum, action) => sum + action.weight, 0)
  for (let operation = 0; operation < operations; operation++) {
    let place = world.random() * total
    const action = actions.find((each) => (place -= each.weight) < 0)
    await action?.run()
  }
}

const rowsOf = (jobs: readonly string[]) =>
  catalog.database.selectFrom("training_jobs").selectAll().where("id", "in", jobs).orderBy("sequence").execute()

async function checkJob(world: World, job: Awaited<ReturnType<typeof rowsOf>>[number]): Promise<void> {
  const events = await catalog.database
    .selectFrom("training_job_events")
    .select(["sequence", "type"])
    .where("job_id", "=", job.id)
    .orderBy("sequence")
    .execute()
  expect(events.map((event) => event.sequence)).toEqual(events.map((_event, place) => place))
  const types = events.map((event) => event.type)
  const terminal = job.status === "succeeded" ? "training_ended" : "training_failed"
  expect(types.filter((type) => type === "training_ended" || type === "training_failed")).toEqual([terminal])
  expect(types.at(-1)).toBe(terminal)
  if (types.length > 1) expect(types[0]).toBe("training_started")
  if (job.status === "succeeded") expect(types).toHaveLength(gradientSteps + 2)
  if (world.cancelled.has(job.id)) expect(job.status).toBe("cancelled")
  else if (!world.deleted.has(job.model_id)) expect(job.status).toBe(world.bad.has(job.id) ? "failed" : "succeeded")
}

test.each(Array.from({ length: histories }, (_, seed) => seed + 1))(
  "history %i",
  async (seed) => {
    const world = new World(seed)
    const tenant = await addTenant(catalog.database, `tenant${seed}`)
    for (const name of ["a", "b", "c"]) world.models.push(await addModel(catalog.database, tenant.projectId, name))
    await world.startServer()
    await play(world)
    await world.resume()
    const open = async () =>
      (await rowsOf(world.jobs)).filter((job) => job.status === "queued" || job.status === "running").length
    await expect.poll(open, { timeout: 100_000, interval: 200 }).toBe(0)
    await world.close()

    expect(world.overlaps).toBe(0)
    const jobs = await rowsOf(world.jobs)
    expect(jobs.length).toBeGreaterThan(5)
    for (const job of jobs) await checkJob(world, job)
    for (const modelId of world.models) {
      const made = await catalog.database
        .selectFrom("checkpoints")
        .select(["step", "job_id"])
        .where("model_id", "=", modelId)
        .where("step", ">", 0)
        .orderBy("step")
        .execute()
      const succeeded = jobs.filter((job) => job.model_id === modelId && job.status === "succeeded")
      expect(made).toEqual(succeeded.map((job, place) => ({ step: place + 1, job_id: job.id })))
    }
  },
  120_000,
)
