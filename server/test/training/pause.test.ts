/** A paused training job keeps its progress, others run meanwhile, and it ends as if it had never been paused. */
import { once } from "node:events"
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { untilCancelled, writeFakeCheckpoint } from "../../src/engines/fake-engine.ts"
import { auditLogPage } from "../../src/wire/platform/audit-log.ts"
import { checkpointPage } from "../../src/wire/training/checkpoint.ts"
import { eventPage, listedJob } from "../../src/wire/training/job.ts"
import { call, newStores, type RunningServer, startServer } from "../support/server-process.ts"
import { groupsOf, newModel, openTrainingApp, trained, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
let usual: TrainingApp["fake"]["handlers"]["train"]
beforeAll(async () => {
  opened = await openTrainingApp()
  usual = opened.fake.handlers.train
})
afterEach(() => {
  if (usual !== undefined) opened.fake.handlers.train = usual
})
afterAll(() => opened.close())

const jobsPath = "/v1/preview/training-jobs"
const change = (id: string, what: "pause" | "resume" | "cancel") => opened.acme.post(`${jobsPath}/${id}/${what}`)
const readJob = async (id: string) => listedJob.parse((await opened.acme.get(`${jobsPath}/${id}`)).body)

async function startJob(modelId: string): Promise<string> {
  const { body } = await opened.acme.post(jobsPath, { model_id: modelId, trajectory_groups: groupsOf([0, 1]) })
  return (body as { id: string }).id
}

async function reached(id: string, status: string) {
  await expect.poll(async () => (await readJob(id)).status, { timeout: 30_000, interval: 20 }).toBe(status)
}

async function eventsOf(id: string) {
  return eventPage.parse((await opened.acme.get(`${jobsPath}/${id}/events`)).body).data.map(({ type }) => type)
}

async function stepsOf(modelId: string): Promise<number[]> {
  const { body } = await opened.acme.get(`/v1/preview/models/${modelId}/checkpoints`)
  return checkpointPage.parse(body).data.map(({ step }) => step)
}

async function entriesOf(id: string): Promise<string[]> {
  const { body } = await opened.admin.get(`/v1/organization/audit_logs?resource_ids[]=${id}`)
  return auditLogPage.parse(body).data.map(({ type }) => type)
}

const sentOf = (id: string) =>
  opened.fake.calls.flatMap(({ method, params }) => ((params as { job_id?: string }).job_id === id ? [method] : []))

/** Makes the engine stop after two of three steps until it is cancelled, and end the job the next time it begins. */
function staysAtStepTwo(): string[] {
  const begun: string[] = []
  opened.fake.handlers.train = async (params, engineCall) => {
    begun.push(params.job_id)
    engineCall.emit("training_started", { num_sequences: 3 })
    engineCall.emit("gradient_step", { number: 1, metrics: { policy_loss: 1 } })
    engineCall.emit("gradient_step", { number: 2, metrics: { policy_loss: 0.5 } })
    if (begun.filter((id) => id === params.job_id).length === 1) return untilCancelled(engineCall)
    engineCall.emit("gradient_step", { number: 3, metrics: { policy_loss: 0.25 } })
    return writeFakeCheckpoint(params, 3)
  }
  return begun
}

describe("a running job", () => {
  test("training-api 4.2: it stops without an event, goes on from its work folder, and makes the next step", async () => {
    const { id: modelId } = await newModel(opened.acme)
    const begun = staysAtStepTwo()
    const id = await startJob(modelId)
    await expect.poll(() => eventsOf(id), { timeout: 30_000 }).toHaveLength(3)

    const { status, body } = await change(id, "pause")
    expect(status).toBe(200)
    expect(listedJob.strict().parse(body)).toMatchObject({
      id,
      status: "paused",
      paused_at: expect.any(String),
      ended_at: null,
      gradient_steps: 2,
      estimated_seconds_left: null,
    })
    await expect.poll(() => sentOf(id), { timeout: 30_000 }).toEqual(["train", "train.cancel"])
    expect(await readdir(path.join(opened.config.dataDir, "jobs"))).toContain(id)
    // Pausing again changes nothing.
    expect(await change(id, "pause")).toMatchObject({ status: 200, body })
    expect(await eventsOf(id)).toEqual(["training_started", "gradient_step", "gradient_step"])
    expect(await stepsOf(modelId)).toEqual([0])

    expect((await change(id, "resume")).body).toMatchObject({
      status: expect.not.stringMatching("paused"),
      paused_at: null,
    })
    await reached(id, "succeeded")
    expect(begun).toEqual([id, id])
    expect(await eventsOf(id)).toEqual([
      "training_started",
      "gradient_step",
      "gradient_step",
      "gradient_step",
      "training_ended",
    ])
    expect(await stepsOf(modelId)).toEqual([0, 1])
    expect(await entriesOf(id)).toEqual(["training_job.resumed", "training_job.paused"])
  })

  test("training-api 4.2, 4.3: the checkpoints that it began with are deleted meanwhile, and it goes on with their files", async () => {
    const { id: modelId } = await newModel(opened.acme)
    await trained(opened.acme, modelId)
    await trained(opened.acme, modelId)
    const begun = staysAtStepTwo()
    const origins: unknown[] = []
    const { train } = opened.fake.handlers
    opened.fake.handlers.train = async (params, engineCall) => {
      const filesIn = async (folder = "") => (await readdir(folder)).toSorted()
      const { start, reference } = params
      origins.push([start?.key, await filesIn(start?.path), reference?.key, await filesIn(reference?.path)])
      return train?.(params, engineCall)
    }
    const config = { kl_penalty_coef: 0.1, kl_penalty_step_lag: 1 }
    const job = { model_id: modelId, trajectory_groups: groupsOf([0, 1]), experimental_config: config }
    const { id } = (await opened.acme.post(jobsPath, job)).body as { id: string }
    await expect.poll(() => eventsOf(id), { timeout: 30_000 }).toHaveLength(3)
    await change(id, "pause")
    await opened.acme.delete(`/v1/preview/models/${modelId}/checkpoints`, { steps: [1, 2] })
    expect(await stepsOf(modelId)).toEqual([0])
    await change(id, "resume")
    await reached(id, "succeeded")
    const files = ["adapter_config.json", "adapter_model.safetensors", "manifest.json"]
    const key = (step: number) => expect.stringMatching(`^${modelId}@${step}#[0-9a-f]{64}$`)
    const origin = [key(2), files, key(1), files]
    expect([begun, origins]).toEqual([
      [id, id],
      [origin, origin],
    ])
    expect(await stepsOf(modelId)).toEqual([0, 3])
    await expect.poll(() => readdir(path.join(opened.config.dataDir, "jobs"))).not.toContain(id)
  })

  test("jobs of other models run meanwhile in the one free slot, and the model's own next job waits", async () => {
    const [first, other] = [await newModel(opened.acme), await newModel(opened.acme)]
    staysAtStepTwo()
    const id = await startJob(first.id)
    await expect.poll(() => eventsOf(id), { timeout: 30_000 }).toHaveLength(3)
    await change(id, "pause")
    if (usual !== undefined) opened.fake.handlers.train = usual
    const next = await startJob(first.id)
    await reached(await startJob(other.id), "succeeded")
    expect([(await readJob(id)).status, (await readJob(next)).status]).toEqual(["paused", "queued"])
    await change(id, "resume")
    await reached(next, "succeeded")
    expect([(await readJob(id)).output_step, (await readJob(next)).output_step]).toEqual([1, 2])
  })

  test("no checkpoint is imported into its model meanwhile: it makes the step after the one that it began with", async () => {
    const { id: modelId } = await newModel(opened.acme)
    staysAtStepTwo()
    opened.fake.handlers["adapter.import"] = async ({ output }) => {
      await mkdir(output.path)
      return { size_bytes: 1, manifest_sha256: "0".repeat(64) }
    }
    const importAdapter = async () => {
      const { statusCode, body } = await opened.app.server.inject({
        method: "POST",
        url: `/v1/preview/models/${modelId}/checkpoints`,
        headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/x-tar" },
        payload: Buffer.alloc(1024),
      })
      return { status: statusCode, body: JSON.parse(body) as { detail?: string; step?: number } }
    }
    const id = await startJob(modelId)
    await expect.poll(() => eventsOf(id), { timeout: 30_000 }).toHaveLength(3)
    await change(id, "pause")
    const refused = await importAdapter()
    expect(refused.status).toBe(409)
    expect(refused.body.detail).toContain(`is being trained by job ${id}; add a checkpoint when the job has ended`)
    await change(id, "resume")
    await reached(id, "succeeded")
    expect((await importAdapter()).status).toBe(200)
    expect(await stepsOf(modelId)).toEqual([0, 1, 2])
  })

  test("it stays paused over a restart of the server, and goes on after it", async () => {
    const { id: modelId } = await newModel(opened.acme)
    const begun = staysAtStepTwo()
    const id = await startJob(modelId)
    await expect.poll(() => eventsOf(id), { timeout: 30_000 }).toHaveLength(3)
    await change(id, "pause")
    await opened.restart()
    expect(await readJob(id)).toMatchObject({ status: "paused", gradient_steps: 2 })
    await change(id, "resume")
    await reached(id, "succeeded")
    expect(begun).toEqual([id, id])
  })

  test("resumed before the engine has let go of it, it begins again only then", async () => {
    const { id: modelId } = await newModel(opened.acme)
    const [told, stop] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let begun = 0
    let atOnce = 0
    opened.fake.handlers.train = async (params, engineCall) => {
      begun += 1
      expect((atOnce += 1)).toBe(1)
      engineCall.cancelled.addEventListener("abort", () => told.resolve())
      if (begun === 1) await stop.promise
      atOnce -= 1
      return writeFakeCheckpoint(params, 1)
    }
    const id = await startJob(modelId)
    await expect.poll(() => begun, { timeout: 30_000 }).toBe(1)
    await change(id, "pause")
    await told.promise
    await change(id, "resume")
    expect((await readJob(id)).status).toBe("queued")
    stop.resolve()
    await reached(id, "succeeded")
    // A checkpoint that the engine wrote at the last moment is not used; the job goes on from its work folder.
    expect(begun).toBe(2)
    expect(await stepsOf(modelId)).toEqual([0, 1])
  })

  test("a paused job can be cancelled, and a deleted model ends it", async () => {
    const [one, two] = [await newModel(opened.acme), await newModel(opened.acme)]
    staysAtStepTwo()
    const ids = [await startJob(one.id), await startJob(two.id)]
    for (const id of ids) {
      await expect.poll(() => eventsOf(id), { timeout: 30_000 }).toHaveLength(3)
      await change(id, "pause")
    }
    const [cancelled = "", orphan = ""] = ids
    expect((await change(cancelled, "cancel")).body).toMatchObject({ status: "cancelled", paused_at: null })
    await opened.acme.delete(`/v1/preview/models/${two.id}`)
    await reached(orphan, "cancelled")
    const left = async () =>
      (await readdir(path.join(opened.config.dataDir, "jobs"))).filter((name) => ids.includes(name))
    await expect.poll(left, { timeout: 20_000 }).toEqual([])
    expect((await eventsOf(cancelled)).at(-1)).toBe("training_failed")
  })

  test("paused jobs are listed by their status", async () => {
    const { id: modelId } = await newModel(opened.acme)
    staysAtStepTwo()
    const id = await startJob(modelId)
    await expect.poll(() => eventsOf(id), { timeout: 30_000 }).toHaveLength(3)
    await change(id, "pause")
    const listed = await opened.acme.get(`${jobsPath}?status=paused&model_id=${modelId}`)
    expect((listed.body as { data: { id: string }[] }).data.map((job) => job.id)).toEqual([id])
    await change(id, "cancel")
  })

  test("the time left is computed from the steps since the job last began", async () => {
    const { id: modelId } = await newModel(opened.acme)
    let next = Promise.withResolvers<void>()
    let begun = 0
    opened.fake.handlers.train = async (_params, engineCall) => {
      begun += 1
      engineCall.emit("training_started", { num_sequences: 9 })
      for (let number = 1; ; number++) {
        await Promise.race([next.promise, untilCancelled(engineCall)])
        next = Promise.withResolvers()
        engineCall.emit("gradient_step", { number, metrics: { policy_loss: 1 } })
      }
    }
    const id = await startJob(modelId)
    await expect.poll(() => eventsOf(id), { timeout: 30_000 }).toHaveLength(1)
    const left = async () => (await readJob(id)).estimated_seconds_left
    const step = async (events: number) => {
      next.resolve()
      await expect.poll(() => eventsOf(id), { timeout: 30_000 }).toHaveLength(events)
    }
    expect(await left()).toBeNull()
    await step(2)
    expect(await left()).toBeNull()
    await step(3)
    expect(await left()).toBeGreaterThanOrEqual(0)
    await change(id, "pause")
    expect(await left()).toBeNull()
    await change(id, "resume")
    await expect.poll(() => begun, { timeout: 30_000 }).toBe(2)
    // The two steps before the pause do not count for the time left.
    expect(await left()).toBeNull()
    await change(id, "cancel")
  })
})

test("a queued job waits until it is resumed, and keeps its place", async () => {
  const { id: modelId } = await newModel(opened.acme)
  const begun = staysAtStepTwo()
  const running = await startJob(modelId)
  await reached(running, "running")
  const [first, second] = [await startJob(modelId), await startJob(modelId)]
  expect((await change(first, "pause")).body).toMatchObject({ status: "paused", started_at: null })
  await change(running, "cancel")
  await change(first, "resume")
  await expect.poll(() => begun.at(-1), { timeout: 30_000 }).toBe(first)
  for (const id of [first, second]) await change(id, "cancel")
})

test("a job that has ended cannot be paused or resumed: 409 says how it ended; one that runs is resumed already", async () => {
  const { id: modelId } = await newModel(opened.acme)
  const id = await startJob(modelId)
  await reached(id, "succeeded")
  for (const what of ["pause", "resume"] as const) {
    expect(await change(id, what)).toMatchObject({
      status: 409,
      body: {
        detail:
          `the training job "${id}" has ended (succeeded) and cannot be ${what}d; make a new job, ` +
          "which goes on from the model's newest step",
      },
    })
  }
  staysAtStepTwo()
  const open = await startJob(modelId)
  await reached(open, "running")
  expect(await change(open, "resume")).toMatchObject({ status: 200, body: { status: "running" } })
  expect(await entriesOf(open)).toEqual([])
  await change(open, "cancel")
})

test("training-api 1.4: an unknown, foreign or malformed job id: 404, and a foreign job goes on", async () => {
  staysAtStepTwo()
  const id = await startJob((await newModel(opened.acme)).id)
  await reached(id, "running")
  for (const what of ["pause", "resume"] as const) {
    for (const target of ["nonsense", "5f0c3a80-0000-4000-8000-000000000000"])
      expect((await change(target, what)).status).toBe(404)
    expect((await opened.rival.post(`${jobsPath}/${id}/${what}`)).status).toBe(404)
  }
  expect((await readJob(id)).status).toBe("running")
  await change(id, "cancel")
})

describe("kill -9", () => {
  let dataDir: string
  let stores: NodeJS.ProcessEnv
  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), "heddle-pause-"))
    stores = await newStores(dataDir)
  })
  afterAll(() => rm(dataDir, { recursive: true, force: true }))

  /** Starts a server without an engine, so that jobs wait. */
  const start = () => startServer(dataDir, { HEDDLE_PYTHON: "/bin/false", HEDDLE_LOG: "fatal", ...stores })
  const made = async (server: RunningServer, url: string, body: object) =>
    ((await call(server, "POST", url, body)).body as { id: string }).id

  test("a job that was acknowledged as paused is paused at the next start, and no other is half paused", async () => {
    const server = await start()
    const jobs: string[] = []
    for (let count = 0; count < 8; count++) {
      const model_id = await made(server, "/v1/preview/models", {
        project: "p",
        name: `m-${count}`,
        base_model: "heddle/tiny",
      })
      jobs.push(await made(server, jobsPath, { model_id, trajectory_groups: groupsOf([0, 1]) }))
    }
    const acknowledged: string[] = []
    const pausing = jobs.map(async (id) => {
      const answer = await call(server, "POST", `${jobsPath}/${id}/pause`).catch(() => null)
      if (answer?.status === 200) acknowledged.push(id)
      if (acknowledged.length === 3) server.process.kill("SIGKILL")
    })
    await once(server.process, "exit")
    await Promise.all(pausing)
    expect(acknowledged.length).toBeGreaterThanOrEqual(3)

    const next = await start()
    for (const id of jobs) {
      const job = listedJob.parse((await call(next, "GET", `${jobsPath}/${id}`)).body)
      if (acknowledged.includes(id)) expect(job.status).toBe("paused")
      expect(job.status === "paused").toBe(job.paused_at !== null)
    }
    next.process.kill("SIGTERM")
    await once(next.process, "exit")
  })
})
