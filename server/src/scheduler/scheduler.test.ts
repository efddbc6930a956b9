import { createHash } from "node:crypto"
import { access, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { sql } from "kysely"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import {
  addCheckpoint,
  addJob,
  addModel,
  addProject,
  addTenant,
  deleteStep,
  manifestSha256,
  openTestCatalog,
  type TestCatalog,
  type TestTenant,
} from "../../test/support/test-catalog.ts"
import { SupervisedEngine } from "../engines/engine-process.ts"
import { EngineFailure } from "../engines/engine.ts"
import { HeddleError } from "../errors.ts"
import { removeOptimizerState } from "../storage/catalog/training/checkpoints.ts"
import { cancelJob } from "../storage/catalog/training/job-progress.ts"
import { FakeEngine, untilCancelled, writeFakeCheckpoint } from "../engines/fake-engine.ts"
import { moveFor } from "./job-states.ts"
import { optimizerFile } from "./optimizer-states.ts"
import { Scheduler, type SchedulerOptions } from "./scheduler.ts"

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
let catalog: TestCatalog
let tenant: TestTenant
let models = 0
let stops: (() => Promise<void>)[] = []

beforeAll(async () => {
  catalog = await openTestCatalog()
  tenant = await addTenant(catalog.database, "acme")
  await writeFile(path.join(catalog.dataDir, "data.jsonl"), "{}\n{}\n{}\n")
  await writeFile(path.join(catalog.dataDir, "empty.jsonl"), "")
})
afterAll(() => catalog.close())
afterEach(async () => {
  for (const stop of stops) await stop()
  stops = []
})

async function start(fake: FakeEngine, options: Partial<SchedulerOptions> = {}) {
  const engine = new SupervisedEngine({ launch: fake.launch, log: silent, backOffMs: () => 0 })
  const { database, dataDir } = catalog
  const scheduler = new Scheduler({
    database,
    engine,
    dataDir,
    log: silent,
    owner: "one",
    exclusive: true,
    retryPauseMs: 1,
    traces: null,
    findLedgerEntries: () => Promise.resolve([]),
    ...options,
  })
  stops.push(async () => {
    await scheduler.close()
    await engine.close()
  })
  await engine.ready(5000)
  await scheduler.start()
  return { scheduler, engine }
}

const newModel = (projectId = tenant.projectId) => addModel(catalog.database, projectId, `m${models++}`)

function job(id: string) {
  return catalog.database.selectFrom("training_jobs").selectAll().where("id", "=", id).executeTakeFirstOrThrow()
}

function events(jobId: string) {
  return catalog.database
    .selectFrom("training_job_events")
    .select(["sequence", "type", "data"])
    .where("job_id", "=", jobId)
    .orderBy("sequence")
    .execute()
}

async function ended(id: string, status: string) {
  await expect.poll(async () => (await job(id)).status, { timeout: 40_000, interval: 50 }).toBe(status)
  return job(id)
}

const steps = (modelId: string) =>
  catalog.database
    .selectFrom("checkpoints")
    .select(["step", "path", "metrics", "job_id"])
    .where("model_id", "=", modelId)
    .orderBy("step")
    .execute()

describe("a job that succeeds", () => {
  test("training-api 3.1: started, one event per gradient step, ended last; then step + 1 is listed", async () => {
    const modelId = await newModel()
    const { scheduler } = await start(new FakeEngine())
    const id = await addJob(catalog.database, { modelId })
    scheduler.wake()
    const done = await ended(id, "succeeded")
    expect(await events(id)).toEqual([
      { sequence: 0, type: "training_started", data: { num_sequences: 3 } },
      { sequence: 1, type: "gradient_step", data: { policy_loss: 1, learning_rate: 5e-6 } },
      { sequence: 2, type: "gradient_step", data: { policy_loss: 0.5, learning_rate: 5e-6 } },
      { sequence: 3, type: "gradient_step", data: { policy_loss: 1 / 3, learning_rate: 5e-6 } },
      { sequence: 4, type: "training_ended", data: {} },
    ])
    const made = (await steps(modelId))[1]
    expect(made).toEqual({
      step: 1,
      path: `checkpoints/${modelId}/step_000001`,
      metrics: { "data/turns_choice_ids": 3, "train/reward": 0.5 },
      job_id: id,
    })
    expect(done).toMatchObject({ output_step: 1, lease_owner: null, error_message: null })
    const workFolder = () =>
      access(path.join(catalog.dataDir, "jobs", id)).catch((error: NodeJS.ErrnoException) => error.code)
    await expect.poll(workFolder, { timeout: 20_000 }).toBe("ENOENT")
  })

  test("training-api 3.1 rule 5: no trainable data still makes the next step", async () => {
    const modelId = await newModel()
    const { scheduler } = await start(new FakeEngine())
    const id = await addJob(catalog.database, { modelId, dataPath: "empty.jsonl" })
    scheduler.wake()
    await ended(id, "succeeded")
    expect((await events(id)).map((event) => event.type)).toEqual(["training_started", "training_ended"])
    expect((await steps(modelId)).map((checkpoint) => checkpoint.step)).toEqual([0, 1])
  })

  test("training-api 4.2: starts from the newest live checkpoint; step numbers are not used again", async () => {
    const modelId = await newModel()
    await mkdir(path.join(catalog.dataDir, "checkpoints/one"), { recursive: true })
    await addCheckpoint(catalog.database, modelId, 1, "checkpoints/one")
    await addCheckpoint(catalog.database, modelId, 2, "checkpoints/two")
    await deleteStep(catalog.database, modelId, 2)
    const fake = new FakeEngine()
    const { scheduler } = await start(fake)
    await addJob(catalog.database, { modelId, klReference: { lag: 5 } })
    const second = await addJob(catalog.database, { modelId, klReference: { step: 1 } })
    scheduler.wake()
    await ended(second, "succeeded")
    const [first, next] = fake.calls.filter((call) => call.method === "train").map((call) => call.params)
    expect(first).toMatchObject({
      start: { key: `${modelId}@1#${manifestSha256}` },
      reference: null,
      output: { key: `${modelId}@3` },
      lora: { rank: 8, alpha: 16, seed: 3407 },
    })
    expect(next).toMatchObject({
      start: { key: expect.stringMatching(`^${modelId}@3#[0-9a-f]{64}$`) },
      reference: { key: `${modelId}@1#${manifestSha256}` },
      output: { key: `${modelId}@4` },
    })
  })
})

test("engine 5.4: choices that carry a ledger key are trained on what the ledger holds, within their project", async () => {
  const modelId = await newModel()
  // Raw in JSON strings; some readers of lines end one there.
  const content = "one\u2028two\u2029three\u0085four"
  const choice = (ledger_key: string | null) => ({
    message: { role: "assistant", content },
    finish_reason: "stop",
    token_ids: null,
    prompt_token_ids: null,
    logprobs: null,
    ledger_key,
    ledger: null,
  })
  const line = (...keys: (string | null)[]) =>
    JSON.stringify({
      group: 0,
      index: 0,
      reward: 1,
      histories: [{ items: keys.map((key) => ({ choice: choice(key) })), tools: null }],
    })
  const untouched = line(null)
  await writeFile(path.join(catalog.dataDir, "keys.jsonl"), `${line("known:0", "unknown:0")}\n${untouched}\n`)
  const entry = {
    ledger_key: "known:0",
    prompt_token_ids: [1, 2],
    token_ids: [3],
    logprobs: [-0.1234567890123],
  }
  const asked: unknown[] = []
  const trained = Promise.withResolvers<string>()
  const fake = new FakeEngine({
    train: async (params) => {
      const text = await readFile(params.data.path, "utf8")
      expect(createHash("sha256").update(text).digest("hex")).toBe(params.data.sha256)
      trained.resolve(text)
      return writeFakeCheckpoint(params, 0)
    },
  })
  const findLedgerEntries = (projectId: string, keys: readonly string[]) => {
    asked.push([projectId, keys])
    return Promise.resolve([entry])
  }
  const { scheduler } = await start(fake, { findLedgerEntries })
  const id = await addJob(catalog.database, { modelId, dataPath: "keys.jsonl" })
  scheduler.wake()
  await ended(id, "succeeded")
  const [first, second] = (await trained.promise).split("\n")
  const items = JSON.parse(first ?? "").histories[0].items
  expect(items[0].choice.message.content).toBe(content)
  expect(items[0].choice.ledger).toEqual({
    prompt_token_ids: [1, 2],
    token_ids: [3],
    logprobs: [-0.1234567890123],
  })
  expect(items[1].choice.ledger).toBeNull()
  expect(second).toBe(untouched)
  expect(asked).toEqual([[tenant.projectId, ["known:0", "unknown:0"]]])
})

describe("states of optimizers", () => {
  /** As the engine leaves a checkpoint. */
  const withOptimizer = new FakeEngine({
    train: async (params) => {
      const result = await writeFakeCheckpoint(params, 0)
      await writeFile(path.join(params.output.path, optimizerFile), "m".repeat(100))
      return { ...result, size_bytes: 150 }
    },
  })
  const stored = (modelId: string) =>
    catalog.database
      .selectFrom("checkpoints")
      .select(["step", "size_bytes"])
      .where("model_id", "=", modelId)
      .where("deleted_at", "is", null)
      .where("step", ">", 0)
      .orderBy("step")
      .execute()
  const fileOf = (modelId: string, step: number) =>
    path.join(catalog.dataDir, `checkpoints/${modelId}/step_00000${step}`, optimizerFile)
  const isThere = (file: string) =>
    access(file).then(
      () => true,
      () => false,
    )

  test("training-api 7.6: the newest checkpoints keep theirs; a job that starts from an older one says so", async () => {
    const modelId = await newModel()
    const { scheduler } = await start(withOptimizer, { keptOptimizerStates: 2 })
    const trainOnce = async () => {
      const id = await addJob(catalog.database, { modelId })
      scheduler.wake()
      return ended(id, "succeeded")
    }
    for (let step = 1; step <= 4; step++) expect((await trainOnce()).warnings).toEqual([])
    const sizes = async () => (await stored(modelId)).map(({ step, size_bytes }) => [step, size_bytes])
    await expect.poll(sizes, { timeout: 20_000 }).toEqual([
      [1, 50],
      [2, 50],
      [3, 150],
      [4, 150],
    ])
    const files = () => Promise.all([1, 2, 3, 4].map((step) => isThere(fileOf(modelId, step))))
    await expect.poll(files, { timeout: 20_000 }).toEqual([false, false, true, true])
    expect(await isThere(path.join(path.dirname(fileOf(modelId, 1)), "adapter_model.safetensors"))).toBe(true)

    await deleteStep(catalog.database, modelId, 4)
    expect((await trainOnce()).warnings).toEqual([])
    for (const step of [5, 3]) await deleteStep(catalog.database, modelId, step)
    expect((await trainOnce()).warnings).toEqual([
      "step 2, from which this job starts, no longer has its optimizer's state, which only a model's newest checkpoints keep; the optimizer starts afresh",
    ])
  })

  test("a start removes what a kill left between the note and the file", async () => {
    const modelId = await newModel()
    const first = await start(withOptimizer)
    for (const _ of [1, 2]) {
      const id = await addJob(catalog.database, { modelId })
      first.scheduler.wake()
      await ended(id, "succeeded")
    }
    const [older] = await catalog.database
      .selectFrom("checkpoints")
      .select("id")
      .where("model_id", "=", modelId)
      .where("step", "=", 1)
      .execute()
    await removeOptimizerState(catalog.database, older?.id ?? "", 100)
    expect(await isThere(fileOf(modelId, 1))).toBe(true)
    await start(new FakeEngine(), { concurrency: 0 })
    expect(await Promise.all([1, 2].map((step) => isThere(fileOf(modelId, step))))).toEqual([false, true])
  })
})

describe("order", () => {
  test("training-api 4.2: jobs of one model run one at a time in creation order, those of others beside them", async () => {
    const slow = await newModel()
    const quick = await newModel()
    const release = Promise.withResolvers<void>()
    const order: string[] = []
    const fake = new FakeEngine({
      train: async (params) => {
        order.push(params.job_id)
        if (params.output.key.startsWith(slow)) await release.promise
        return writeFakeCheckpoint(params, 0)
      },
    })
    const { scheduler } = await start(fake)
    const first = await addJob(catalog.database, { modelId: slow })
    const second = await addJob(catalog.database, { modelId: slow })
    const beside = await addJob(catalog.database, { modelId: quick })
    scheduler.wake()
    await ended(beside, "succeeded")
    expect((await job(second)).status).toBe("queued")
    release.resolve()
    await ended(second, "succeeded")
    expect(order.filter((id) => id !== beside)).toEqual([first, second])
  })

  test("a project with a long queue does not keep another project waiting", async () => {
    const busy = await Promise.all([newModel(), newModel(), newModel()])
    const other = await newModel(await addProject(catalog.database, tenant.entityId, "other"))
    const fake = new FakeEngine()
    const queued = []
    for (const modelId of busy) queued.push(await addJob(catalog.database, { modelId }))
    const late = await addJob(catalog.database, { modelId: other })
    await start(fake, { concurrency: 1 })
    await Promise.all([...queued, late].map((id) => ended(id, "succeeded")))
    const order = fake.calls
      .filter((call) => call.method === "train")
      .map((call) => (call.params as { job_id: string }).job_id)
    expect(order.indexOf(late)).toBeLessThan(2)
  })
})

describe("faults", () => {
  test("training-api 9.5: an engine killed in mid-job resumes it; repeated events are stored once", async () => {
    const modelId = await newModel()
    const fake = new FakeEngine()
    let lives = 0
    fake.handlers.train = async (params, call) => {
      lives += 1
      call.emit("training_started", { num_sequences: 3 })
      for (const number of [1, 2, 3]) {
        call.emit("gradient_step", { number, metrics: { policy_loss: number } })
        if (lives === number) {
          await expect
            .poll(async () => (await events(params.job_id)).length, {
              timeout: 20_000,
              interval: 20,
            })
            .toBe(number + 1)
          if (lives < 3) fake.die()
        }
      }
      return writeFakeCheckpoint(params, 3)
    }
    const { scheduler } = await start(fake)
    const id = await addJob(catalog.database, { modelId })
    scheduler.wake()
    await ended(id, "succeeded")
    expect((await events(id)).map((event) => [event.sequence, event.type])).toEqual([
      [0, "training_started"],
      [1, "gradient_step"],
      [2, "gradient_step"],
      [3, "gradient_step"],
      [4, "training_ended"],
    ])
    expect(fake.launches).toBe(3)
  })

  test("training-api 3.1 rule 6: an engine that dies each time without progress ends the job", async () => {
    const modelId = await newModel()
    const fake = new FakeEngine()
    fake.handlers.train = () => {
      fake.die()
      return new Promise(() => undefined)
    }
    const { scheduler } = await start(fake, { maximumAttempts: 3 })
    const id = await addJob(catalog.database, { modelId })
    scheduler.wake()
    const { error_message } = await ended(id, "failed")
    expect(error_message).toMatch(/^the engine was lost 3 times without progress; last: /)
    expect(await events(id)).toEqual([{ sequence: 0, type: "training_failed", data: { error_message } }])
    expect((await steps(modelId)).map((checkpoint) => checkpoint.step)).toEqual([0])
  })

  test("training-api 3.1 rule 6: a job that the catalog cannot record for a while ends when it can", async () => {
    const { database } = catalog
    await sql`create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'No space left on device' using errcode = '53100'; end $$`.execute(database)
    const complaints: string[] = []
    const log = { ...silent, error: (_: object, message: string) => complaints.push(message) }
    const { scheduler } = await start(new FakeEngine(), { log })
    const id = await addJob(database, { modelId: await newModel() })
    await sql`create trigger full_events before insert on training_job_events execute function no_room()`.execute(
      database,
    )
    await sql`create trigger full_jobs before update on training_jobs
      for each row when (new.status = 'queued') execute function no_room()`.execute(database)
    scheduler.wake()
    await expect.poll(() => complaints, { timeout: 20_000 }).not.toEqual([])
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await job(id)).status).toBe("running")
    await sql`drop trigger full_events on training_job_events`.execute(database)
    await sql`drop trigger full_jobs on training_jobs`.execute(database)
    await ended(id, "succeeded")
    expect((await events(id)).at(-1)?.type).toBe("training_ended")
  })

  test("training-api 3.1 rule 6: a job waits for a store that is away, and none of its attempts is used up", async () => {
    const choice = { message: { role: "assistant", content: "x" }, finish_reason: "stop", ledger_key: "known:0" }
    const line = { group: 0, index: 0, reward: 1, histories: [{ items: [{ choice }], tools: null }] }
    await writeFile(path.join(catalog.dataDir, "away.jsonl"), `${JSON.stringify(line)}\n`)
    let asked = 0
    const complaints: string[] = []
    const { scheduler } = await start(new FakeEngine(), {
      maximumAttempts: 2,
      log: { ...silent, error: (_, message) => complaints.push(message) },
      findLedgerEntries: async () => {
        asked += 1
        if (asked < 4) throw new HeddleError("traces_unavailable", "the trace store cannot be reached")
        return []
      },
    })
    const id = await addJob(catalog.database, { modelId: await newModel(), dataPath: "away.jsonl" })
    scheduler.wake()
    expect(await ended(id, "succeeded")).toMatchObject({ attempts: 1 })
    expect([asked, complaints]).toEqual([4, []])
  })

  test("training-api 3.1 rule 6: a job whose events the catalog refuses each time ends", async () => {
    const fake = new FakeEngine({
      train: (_params, call) => {
        call.emit("training_started", { num_sequences: 2 })
        call.emit("gradient_step", { number: 1.5, metrics: { policy_loss: 1 } })
        return untilCancelled(call)
      },
    })
    const { scheduler } = await start(fake, { maximumAttempts: 2 })
    const id = await addJob(catalog.database, { modelId: await newModel() })
    scheduler.wake()
    const { error_message } = await ended(id, "failed")
    expect(error_message).toMatch(/^the job could not be recorded 2 times without progress; last: .*"1\.5"/)
    expect((await events(id)).at(-1)).toMatchObject({ type: "training_failed", data: { error_message } })
    expect(fake.calls.filter(({ method }) => method === "train")).toHaveLength(2)
  })

  test("training-api 3.1 rule 6: a job whose data is not there ends", async () => {
    const { scheduler } = await start(new FakeEngine(), { maximumAttempts: 2 })
    const id = await addJob(catalog.database, { modelId: await newModel(), dataPath: "blobs/gone.jsonl" })
    scheduler.wake()
    const { error_message } = await ended(id, "failed")
    expect(error_message).toMatch(/^the job could not begin 2 times without progress; last: ENOENT: .*gone\.jsonl/)
    expect((await events(id)).map((event) => event.type)).toEqual(["training_failed"])
  })

  test.each([
    ["disk_full", "/data needs 12 bytes\u0000", "the disk is full: /data needs 12 bytes\ufffd"],
    ["out_of_memory", "tried 2 GiB", "the engine ran out of memory: tried 2 GiB"],
    [
      "invalid",
      "trajectory 3: token id 9999 is not in the vocabulary",
      "trajectory 3: token id 9999 is not in the vocabulary",
    ],
    ["not_found", "no folder /models/gone", "no folder /models/gone"],
  ] as const)("a %s failure ends in one training_failed that says so", async (kind, message, expected) => {
    const modelId = await newModel()
    const fake = new FakeEngine({
      train: (_params, call) => {
        call.emit("training_started", { num_sequences: 2 })
        throw new EngineFailure(kind, message)
      },
    })
    const { scheduler } = await start(fake)
    const id = await addJob(catalog.database, { modelId })
    scheduler.wake()
    await ended(id, "failed")
    expect((await events(id)).map((event) => [event.type, event.data])).toEqual([
      ["training_started", { num_sequences: 2 }],
      ["training_failed", { error_message: expected }],
    ])
  })

  test("training-api 3.1: a metric that is no finite number fails the job instead of the client", async () => {
    const modelId = await newModel()
    const fake = new FakeEngine({
      train: (_params, call) => {
        call.emit("training_started", { num_sequences: 1 })
        call.emit("gradient_step", { number: 1, metrics: { policy_loss: null } })
        return untilCancelled(call)
      },
    })
    const { scheduler } = await start(fake)
    const id = await addJob(catalog.database, { modelId })
    scheduler.wake()
    const { error_message } = await ended(id, "failed")
    expect(error_message).toBe("gradient step 1: the metric policy_loss is null, not a finite number")
  })

  test("training-api 2.2: a KL reference deleted in the meantime fails the job", async () => {
    const modelId = await newModel()
    const { scheduler } = await start(new FakeEngine())
    const id = await addJob(catalog.database, { modelId, klReference: { step: 7 } })
    scheduler.wake()
    expect((await ended(id, "failed")).error_message).toContain("the KL reference, step 7")
  })

  test("deleting the model ends its running and its queued jobs", async () => {
    const modelId = await newModel()
    const fake = new FakeEngine({ train: (_params, call) => untilCancelled(call) })
    const { scheduler } = await start(fake)
    const running = await addJob(catalog.database, { modelId })
    const queued = await addJob(catalog.database, { modelId })
    scheduler.wake()
    await expect.poll(() => fake.calls.at(-1)?.method, { timeout: 20_000 }).toBe("train")
    await catalog.database.updateTable("models").set({ deleted_at: new Date() }).where("id", "=", modelId).execute()
    scheduler.wake()
    for (const id of [running, queued]) {
      await ended(id, "cancelled")
      expect((await events(id)).at(-1)).toMatchObject({
        type: "training_failed",
        data: { error_message: "the model was deleted before the job had ended" },
      })
    }
    await expect.poll(() => fake.calls.some((call) => call.method === "train.cancel"), { timeout: 20_000 }).toBe(true)
  })

  test("a server's restart resumes what it ran, and what a dead server left behind", async () => {
    const modelId = await newModel()
    const hanging = new FakeEngine({ train: (_params, call) => untilCancelled(call) })
    const before = await start(hanging)
    const id = await addJob(catalog.database, { modelId })
    before.scheduler.wake()
    await ended(id, "running")
    await before.scheduler.close()
    expect(await job(id)).toMatchObject({ status: "queued", lease_owner: null, attempts: 0 })

    const orphan = await addJob(catalog.database, { modelId: await newModel() })
    await catalog.database
      .updateTable("training_jobs")
      .set({ status: "running", lease_owner: "dead" })
      .where("id", "=", orphan)
      .execute()
    // The folder that a crash between the engine's rename and the commit leaves behind.
    await mkdir(path.join(catalog.dataDir, `checkpoints/${modelId}/step_000001`), {
      recursive: true,
    })
    await start(new FakeEngine(), { owner: "two" })
    await ended(id, "succeeded")
    await ended(orphan, "succeeded")
  })

  test("a claim that nobody here heard of runs out, however long other jobs run here", async () => {
    const going = Promise.withResolvers<void>()
    const fake = new FakeEngine()
    const usual = fake.handlers.train
    const { scheduler } = await start(fake, { exclusive: false, leaseSeconds: 1 })
    fake.handlers.train = (_params, call) => {
      going.resolve()
      return untilCancelled(call)
    }
    await addJob(catalog.database, { modelId: await newModel() })
    scheduler.wake()
    await going.promise
    if (usual !== undefined) fake.handlers.train = usual
    const unheard = await addJob(catalog.database, { modelId: await newModel() })
    await catalog.database
      .updateTable("training_jobs")
      .set({ status: "running", lease_owner: "one", lease_expires_at: new Date(Date.now() + 1_000) })
      .where("id", "=", unheard)
      .execute()
    await ended(unheard, "succeeded")
  })

  test("a start removes what a crash left of ended jobs and deleted checkpoints, and nothing else", async () => {
    const { database, dataDir } = catalog
    const [live, deleted, unknown] = [await newModel(), await newModel(), crypto.randomUUID()]
    await addCheckpoint(database, live, 1, `checkpoints/${live}/step_000001`)
    await addCheckpoint(database, live, 2, `checkpoints/${live}/step_000002`)
    await deleteStep(database, live, 1)
    await database.updateTable("models").set({ deleted_at: new Date() }).where("id", "=", deleted).execute()
    const [open, over] = [await addJob(database, { modelId: live }), await addJob(database, { modelId: live })]
    await database.updateTable("training_jobs").set({ status: "failed" }).where("id", "=", over).execute()
    const kept = [`checkpoints/${live}/step_000002`, `checkpoints/${live}/step_000003`, `checkpoints/${unknown}`]
    kept.push(`checkpoints/${live}/.step_000003.${open}.tmp`)
    const left = [`checkpoints/${live}/step_000001`, `checkpoints/${deleted}/step_000001`, `jobs/${over}`]
    left.push(`checkpoints/${live}/.step_000003.${over}.tmp`)
    for (const folder of [...kept, ...left, `jobs/${open}`]) {
      await mkdir(path.join(dataDir, folder), { recursive: true })
    }
    await writeFile(path.join(dataDir, `jobs/${over}.data.jsonl.partial`), "half")
    // Not one that trains: the open job stays as it is.
    await start(new FakeEngine(), { concurrency: 0 })
    const isThere = (file: string) =>
      access(path.join(dataDir, file)).then(
        () => file,
        () => null,
      )
    const found = await Promise.all([...kept, ...left, `checkpoints/${deleted}`, `jobs/${open}`].map(isThere))
    expect(found.filter((file) => file !== null)).toEqual([...kept, `jobs/${open}`])
    expect((await readdir(path.join(dataDir, "jobs"))).filter((name) => name.startsWith(over))).toEqual([])
    await database.updateTable("training_jobs").set({ status: "failed" }).where("id", "=", open).execute()
  })

  test("a cancel that another server took stops the job here; until it has stopped, no server begins the next", async () => {
    const modelId = await newModel()
    const begun = Promise.withResolvers<void>()
    const [told, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = new FakeEngine({
      train: async (params, call) => {
        if (params.job_id !== held) return writeFakeCheckpoint(params, 0)
        call.cancelled.addEventListener("abort", () => told.resolve())
        begun.resolve()
        await stopped.promise
        throw new EngineFailure("cancelled", "cancelled")
      },
    })
    const held = await addJob(catalog.database, { modelId })
    const one = await start(slow, { exclusive: false })
    one.scheduler.wake()
    await begun.promise
    const other = new FakeEngine()
    const two = await start(other, { exclusive: false, owner: "two" })
    const next = await addJob(catalog.database, { modelId })
    expect(await cancelJob(catalog.database, moveFor("cancel"), held, "cancelled by ada")).toEqual({ isHeld: true })
    expect(await cancelJob(catalog.database, moveFor("cancel"), held, "again")).toBeNull()
    await told.promise
    // Proof that server two has looked at its queue since.
    const beside = await addJob(catalog.database, { modelId: await newModel() })
    two.scheduler.wake()
    await ended(beside, "succeeded")
    expect(await job(next)).toMatchObject({ status: "queued" })
    expect(await job(held)).toMatchObject({
      status: "cancelled",
      lease_owner: "one",
      error_message: "cancelled by ada",
    })
    stopped.resolve()
    await ended(next, "succeeded")
    await expect.poll(async () => (await job(held)).lease_owner, { timeout: 20_000 }).toBeNull()
    expect((await steps(modelId)).map(({ step, job_id }) => [step, job_id])).toEqual([
      [0, null],
      [1, next],
    ])
  })

  test("a server that comes late to let go of a cancelled job leaves alone what the next job wrote", async () => {
    const modelId = await newModel()
    const [told, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = new FakeEngine({
      train: async (_params, call) => {
        call.cancelled.addEventListener("abort", () => told.resolve())
        await stopped.promise
        throw new EngineFailure("cancelled", "cancelled")
      },
    })
    const held = await addJob(catalog.database, { modelId })
    await start(slow, { exclusive: false })
    await ended(held, "running")
    await cancelJob(catalog.database, moveFor("cancel"), held, "cancelled by ada")
    await told.promise
    const lapsed = { lease_expires_at: new Date(Date.now() - 1000) }
    await catalog.database.updateTable("training_jobs").set(lapsed).where("id", "=", held).execute()
    await start(new FakeEngine(), { exclusive: false, owner: "two" })
    const next = await addJob(catalog.database, { modelId })
    await ended(next, "succeeded")
    stopped.resolve()
    await expect.poll(async () => (await job(held)).lease_owner, { timeout: 20_000 }).toBeNull()
    await access(path.join(catalog.dataDir, `checkpoints/${modelId}/step_000001/adapter_model.safetensors`))
  })

  test("servers that share a catalog take over only expired leases", async () => {
    const held = await addJob(catalog.database, { modelId: await newModel() })
    const expired = await addJob(catalog.database, { modelId: await newModel() })
    const lease = (id: string, seconds: number) =>
      catalog.database
        .updateTable("training_jobs")
        .set({
          status: "running",
          lease_owner: "other",
          lease_expires_at: new Date(Date.now() + seconds * 1000),
        })
        .where("id", "=", id)
        .execute()
    await lease(held, 60)
    await lease(expired, -1)
    await start(new FakeEngine(), { exclusive: false })
    await ended(expired, "succeeded")
    expect((await job(held)).status).toBe("running")
    await catalog.database.updateTable("training_jobs").set({ status: "failed" }).where("id", "=", held).execute()
  })
})
