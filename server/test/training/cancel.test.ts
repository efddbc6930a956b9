/** A cancelled training job ends at once and leaves nothing, and its model stays. */
import { once } from "node:events"
import { access, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { untilCancelled, writeFakeCheckpoint } from "../../src/engines/fake-engine.ts"
import { auditLogPage } from "../../src/wire/platform/audit-log.ts"
import { checkpointPage } from "../../src/wire/training/checkpoint.ts"
import { eventPage, job as jobSchema, listedJob } from "../../src/wire/training/job.ts"
import { call, newStores, type RunningServer, startServer } from "../support/server-process.ts"
import { groupsOf, newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

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
const cancel = (id: string) => opened.acme.post(`${jobsPath}/${id}/cancel`)
const readJob = async (id: string) => jobSchema.parse((await opened.acme.get(`${jobsPath}/${id}`)).body)

async function startJob(modelId: string): Promise<string> {
  const { body } = await opened.acme.post(jobsPath, { model_id: modelId, trajectory_groups: groupsOf([0, 1]) })
  return (body as { id: string }).id
}

async function reached(id: string, status: string) {
  await expect.poll(async () => (await readJob(id)).status, { timeout: 30_000, interval: 20 }).toBe(status)
}

async function eventsOf(id: string) {
  const { data } = eventPage.parse((await opened.acme.get(`${jobsPath}/${id}/events`)).body)
  return data.map(({ type, data: { error_message } }) => ({ type, error_message }))
}

async function stepsOf(modelId: string): Promise<number[]> {
  const { body } = await opened.acme.get(`/v1/preview/models/${modelId}/checkpoints`)
  return checkpointPage.parse(body).data.map(({ step }) => step)
}

async function entriesOf(id: string) {
  const { body } = await opened.admin.get(`/v1/organization/audit_logs?resource_ids[]=${id}`)
  return auditLogPage.parse(body).data
}

const methodsSent = () => opened.fake.calls.map(({ method }) => method)

describe("a running job", () => {
  test("training-api 3.1 rule 6: it ends in training_failed, the engine stops, the model stays and trains on", async () => {
    const { id: modelId, name } = await newModel(opened.acme)
    await reached(await startJob(modelId), "succeeded")
    opened.fake.handlers.train = (_params, engineCall) => {
      engineCall.emit("training_started", { num_sequences: 2 })
      engineCall.emit("gradient_step", { number: 1, metrics: { policy_loss: 1 } })
      return untilCancelled(engineCall)
    }
    const id = await startJob(modelId)
    await expect.poll(() => eventsOf(id), { timeout: 30_000 }).toHaveLength(2)
    expect(methodsSent()).not.toContain("train.cancel")

    const { status, body } = await cancel(id)
    expect(status).toBe(200)
    expect(listedJob.strict().parse(body)).toMatchObject({
      id,
      status: "cancelled",
      error_message: "cancelled by acme",
      output_step: null,
      ended_at: expect.any(String),
    })
    await expect.poll(methodsSent, { timeout: 30_000 }).toContain("train.cancel")
    expect((await eventsOf(id)).slice(-2)).toEqual([
      { type: "gradient_step" },
      { type: "training_failed", error_message: "cancelled by acme" },
    ])
    expect(await stepsOf(modelId)).toEqual([0, 1])
    expect(await entriesOf(id)).toMatchObject([
      { type: "training_job.cancelled", team: "acme", "training_job.cancelled": { project: "tests", model: name } },
    ])

    const again = await cancel(id)
    expect([again.status, again.body]).toEqual([200, body])
    expect([(await eventsOf(id)).length, (await entriesOf(id)).length]).toEqual([3, 1])

    if (usual !== undefined) opened.fake.handlers.train = usual
    const next = await startJob(modelId)
    await reached(next, "succeeded")
    expect(await stepsOf(modelId)).toEqual([0, 1, 2])
    const workFolder = path.join(opened.config.dataDir, "jobs", id)
    await expect(access(workFolder)).rejects.toThrow("ENOENT")
  })

  test("training-api 4.2: a checkpoint written too late is removed before the model's next job begins", async () => {
    const { id: modelId } = await newModel(opened.acme)
    const [cancelled, write] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let late = ""
    opened.fake.handlers.train = async (params, engineCall) => {
      if (late !== "") {
        await expect(access(params.output.path)).rejects.toThrow("ENOENT")
        return writeFakeCheckpoint(params, 1)
      }
      late = params.job_id
      engineCall.cancelled.addEventListener("abort", () => cancelled.resolve())
      await write.promise
      return writeFakeCheckpoint(params, 1)
    }
    const id = await startJob(modelId)
    await expect.poll(() => late, { timeout: 30_000 }).toBe(id)
    const next = await startJob(modelId)
    expect((await cancel(id)).body).toMatchObject({ status: "cancelled" })
    await cancelled.promise
    // The next job waits, because it would write to the folder in which the engine still works.
    expect((await readJob(next)).status).toBe("queued")
    expect(await stepsOf(modelId)).toEqual([0])
    write.resolve()
    await reached(next, "succeeded")
    expect(await readJob(id)).toMatchObject({ status: "cancelled", output_step: null })
    expect(await stepsOf(modelId)).toEqual([0, 1])
  })

  test("engine 5.6: what the engine holds of it is not served as the step that is imported after it", async () => {
    const { id: modelId, name } = await newModel(opened.acme)
    const [begun, write] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let held = ""
    opened.fake.handlers.train = async (params) => {
      begun.resolve()
      await write.promise
      const made = await writeFakeCheckpoint(params, 1)
      held = made.output.key
      return made
    }
    const id = await startJob(modelId)
    await begun.promise
    await cancel(id)
    const importAdapter = () =>
      opened.app.server.inject({
        method: "POST",
        url: `/v1/preview/models/${modelId}/checkpoints`,
        headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/x-tar" },
        payload: Buffer.alloc(1024),
      })
    expect((await importAdapter()).statusCode).toBe(409)
    write.resolve()
    await expect.poll(async () => (await importAdapter()).statusCode, { timeout: 30_000 }).toBe(200)
    expect(await stepsOf(modelId)).toEqual([0, 1])
    const model = `wandb-artifact:///acme/tests/${name}:step1`
    const answer = await opened.acme.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "x" }] })
    expect(answer.status).toBe(200)
    const chat = opened.fake.calls.findLast(({ method }) => method === "chat")
    const asked = (chat?.params as { adapter: { key: string } } | undefined)?.adapter.key
    const named = expect.stringMatching(`^${modelId}@1#[0-9a-f]{64}$`)
    expect([held, asked]).toEqual([named, named])
    expect(asked).not.toBe(held)
  })

  test("an engine that does not end when told to ends no later than the server's restart", async () => {
    const { id: modelId } = await newModel(opened.acme)
    opened.fake.handlers.train = () => new Promise(() => undefined)
    const id = await startJob(modelId)
    await reached(id, "running")
    expect((await cancel(id)).body).toMatchObject({ status: "cancelled" })
    await opened.restart()
    if (usual !== undefined) opened.fake.handlers.train = usual
    await reached(await startJob(modelId), "succeeded")
    expect(await readJob(id)).toMatchObject({ status: "cancelled", error_message: "cancelled by acme" })
  })
})

test("a queued job never begins", async () => {
  const { id: modelId } = await newModel(opened.acme)
  opened.fake.handlers.train = (_params, engineCall) => untilCancelled(engineCall)
  const [running, queued] = [await startJob(modelId), await startJob(modelId)]
  await reached(running, "running")
  expect((await cancel(queued)).body).toMatchObject({ status: "cancelled", started_at: null })
  expect(await eventsOf(queued)).toEqual([{ type: "training_failed", error_message: "cancelled by acme" }])
  expect((await readJob(running)).status).toBe("running")
  await cancel(running)
  if (usual !== undefined) opened.fake.handlers.train = usual
  await reached(await startJob(modelId), "succeeded")
  expect((await readJob(queued)).started_at).toBeNull()
})

test.each([
  ["succeeded", () => usual],
  [
    "failed",
    () => () => {
      throw new EngineFailure("invalid", "bad data")
    },
  ],
])("a job that has %s stays as it is, and the answer says so", async (status, handler) => {
  const { id: modelId } = await newModel(opened.acme)
  const train = handler()
  if (train !== undefined) opened.fake.handlers.train = train
  const id = await startJob(modelId)
  await reached(id, status)
  const before = await readJob(id)
  const events = await eventsOf(id)
  expect(await cancel(id)).toMatchObject({ status: 200, body: before })
  expect(await eventsOf(id)).toEqual(events)
  expect(await entriesOf(id)).toEqual([])
})

test("training-api 1.4: an unknown, foreign or malformed job id: 404, and a foreign job goes on", async () => {
  opened.fake.handlers.train = (_params, engineCall) => untilCancelled(engineCall)
  const id = await startJob((await newModel(opened.acme)).id)
  for (const target of ["nonsense", "5f0c3a80-0000-4000-8000-000000000000"])
    expect((await cancel(target)).status).toBe(404)
  expect((await opened.rival.post(`${jobsPath}/${id}/cancel`)).status).toBe(404)
  await reached(id, "running")
  await cancel(id)
})

describe("kill -9", () => {
  let dataDir: string
  let stores: NodeJS.ProcessEnv
  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), "heddle-cancel-"))
    stores = await newStores(dataDir)
  })
  afterAll(() => rm(dataDir, { recursive: true, force: true }))

  /** Starts a server without an engine, so that jobs wait. */
  const start = () => startServer(dataDir, { HEDDLE_PYTHON: "/bin/false", HEDDLE_LOG: "fatal", ...stores })
  const made = async (server: RunningServer, url: string, body: object) =>
    ((await call(server, "POST", url, body)).body as { id: string }).id

  test("during cancels: a job that was acknowledged as cancelled is; any other is as it was or wholly cancelled", async () => {
    const server = await start()
    const jobs: string[] = []
    for (let count = 0; count < 12; count++) {
      const model = { project: "p", name: `m-${count}`, base_model: "heddle/tiny" }
      const model_id = await made(server, "/v1/preview/models", model)
      jobs.push(await made(server, jobsPath, { model_id, trajectory_groups: groupsOf([0, 1]) }))
    }
    const acknowledged: string[] = []
    const cancelling = jobs.map(async (id) => {
      const answer = await call(server, "POST", `${jobsPath}/${id}/cancel`).catch(() => null)
      if (answer?.status === 200) acknowledged.push(id)
      if (acknowledged.length === 3) server.process.kill("SIGKILL")
    })
    await once(server.process, "exit")
    await Promise.all(cancelling)

    const next = await start()
    for (const id of jobs) {
      const job = jobSchema.parse((await call(next, "GET", `${jobsPath}/${id}`)).body)
      const events = eventPage.parse((await call(next, "GET", `${jobsPath}/${id}/events`)).body).data
      const isCancelled = acknowledged.includes(id) || job.status === "cancelled"
      expect([job.status, events.filter(({ type }) => type === "training_failed").length]).toEqual(
        isCancelled ? ["cancelled", 1] : [expect.stringMatching(/^(queued|running)$/), 0],
      )
    }
    next.process.kill("SIGTERM")
    await once(next.process, "exit")
  })
})
