/** Metrics of training jobs in the wandb run of their model: training-api 3.5. */
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { FakeEngine, untilCancelled, writeFakeCheckpoint } from "../../src/engines/fake-engine.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { groupsOf, newModel } from "../support/training-app.ts"
import { ask, readRun, type RunNames, startRun, streamPath } from "../support/wandb-runs.ts"

let opened: EvaluationApp
let fake: FakeEngine
beforeAll(async () => {
  fake = new FakeEngine()
  opened = await openEvaluationApp({}, fake)
})
afterAll(() => opened.close())

async function modelAndRun(): Promise<{ id: string; run: RunNames }> {
  const { id, name } = await newModel(opened.acme)
  return { id, run: { entity: "acme", project: "tests", run: name } }
}

async function startSft(modelId: string, rows: number, config: object = {}): Promise<string> {
  const data = await uploadRows(rows)
  const body = { model_id: modelId, training_data_url: data, config }
  const made = await opened.acme.post("/v1/preview/sft-training-jobs", body)
  expect(made.status, made.text).toBe(200)
  return (made.body as { id: string }).id
}

async function uploadRows(count: number): Promise<string> {
  const messages = [
    { role: "user", content: "one plus one" },
    { role: "assistant", content: "two" },
  ]
  const form = new FormData()
  form.set("purpose", "fine-tune")
  form.set("file", new Blob(Array.from({ length: count }, () => `${JSON.stringify({ messages })}\n`)), "train.jsonl")
  const request = new Request("http://x", { method: "POST", body: form })
  const type = request.headers.get("content-type") ?? ""
  const answer = await opened.acme.post("/v1/files", Buffer.from(await request.arrayBuffer()), { "content-type": type })
  return (answer.body as { id: string }).id
}

async function startRl(modelId: string, experimental_config: object = {}): Promise<string> {
  const body = { model_id: modelId, trajectory_groups: groupsOf([0, 1], [1, 0]), experimental_config }
  return ((await opened.acme.post("/v1/preview/training-jobs", body)).body as { id: string }).id
}

async function ended(id: string): Promise<void> {
  const status = async () =>
    ((await opened.acme.get(`/v1/preview/training-jobs/${id}`)).body as { status: string }).status
  await vi.waitUntil(async () => !["queued", "running"].includes(await status()), { timeout: 60_000, interval: 20 })
  expect(await status()).toBe("succeeded")
}

/** Rows of the run without their times; none while there is no run. */
async function historyOf(run: RunNames): Promise<Record<string, number>[]> {
  const fields = "history(minStep: 0, maxStep: 1000, samples: 1000)"
  const found = (await readRun(opened.acme, run, fields)) as { history: string[] } | null
  return (found?.history ?? []).map((text) => {
    const { _timestamp, _runtime, ...row } = JSON.parse(text) as Record<string, number>
    return row
  })
}

const sftRow = (step: number, trainingStep: number, number: number) => ({
  _step: step,
  training_step: trainingStep,
  "sft/gradient_step": number,
  "sft/loss/train": 1 / number,
  "sft/loss/learning_rate": 5e-6,
})

test("training-api 3.5: a run of the model's name has a row for each gradient step and, where asked for, their means", async () => {
  const { id, run } = await modelAndRun()
  await ended(await startSft(id, 4, { batch_size: 1, metric_logging: { enabled: true, target_training_step: 1 } }))
  expect(await historyOf(run)).toEqual([
    sftRow(0, 1, 1),
    sftRow(1, 1, 2),
    sftRow(2, 1, 3),
    sftRow(3, 1, 4),
    {
      _step: 4,
      training_step: 1,
      "data/step_num_gradient_steps": 4,
      "loss/train": (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4,
      "loss/learning_rate": 5e-6,
    },
  ])
  await vi.waitFor(async () => expect(await readRun(opened.acme, run, "state")).toEqual({ state: "finished" }))
  const { historyKeys, historyLineCount } = await readRun(opened.acme, run, "historyKeys historyLineCount")
  expect(historyKeys).toMatchObject({
    lastStep: 4,
    keys: { "sft/loss/train": { typeCounts: [{ type: "number", count: 4 }], previousValue: 0.25 } },
  })
  // The server's rows do not count as the client's lines, from which a client resumes.
  expect(historyLineCount).toBe(0)
})

test("training-api 3.5: jobs follow one another; a client that logs means by itself gets none, and one that wants nothing no row", async () => {
  const { id, run } = await modelAndRun()
  // Not known to RL jobs, and so without effect.
  await ended(await startRl(id, { config: { metric_logging: { enabled: false } } }))
  await ended(await startSft(id, 1, { metric_logging: { enabled: false } }))
  await ended(await startSft(id, 2))
  const rlRow = (step: number, number: number) => ({
    _step: step,
    training_step: 1,
    "rl/gradient_step": number,
    "rl/loss/train": 1 / number,
    "rl/loss/learning_rate": 5e-6,
  })
  const trajectories = [0, 1, 2, 3].map((step) => rlRow(step, step + 1))
  expect(await historyOf(run)).toEqual([...trajectories, sftRow(4, 3, 1), sftRow(5, 3, 2)])
})

test("training-api 3.5, platform-wandb 6.4: rows of the server and of a client at one step stay apart, and none is lost", async () => {
  const { id, run } = await modelAndRun()
  await startRun(opened.acme, run)
  const log = async (offset: number, rows: object[]) => {
    const content = rows.map((row) => JSON.stringify(row))
    const body = { files: { "wandb-history.jsonl": { offset, content } } }
    expect((await opened.acme.post(streamPath(run), body)).status).toBe(200)
  }
  await log(0, [{ _step: 0, training_step: 0, "train/reward": 0.5 }])
  await ended(await startSft(id, 2))
  // The client counts its steps itself, and does not know that the server wrote steps 1 and 2.
  await log(1, [{ _step: 1, training_step: 7, "train/reward": 0.75 }])
  await log(2, [{ _step: 1, "train/other": 1 }])
  expect(await historyOf(run)).toEqual([
    { _step: 0, training_step: 0, "train/reward": 0.5 },
    { _step: 1, training_step: 7, "train/reward": 0.75, "train/other": 1 },
    sftRow(1, 1, 1),
    sftRow(2, 1, 2),
  ])
  const spec = JSON.stringify({ keys: ["_step", "sft/loss/train"], samples: 10 })
  expect(await readRun(opened.acme, run, `sampledHistory(specs: [${JSON.stringify(spec)}])`)).toEqual({
    sampledHistory: [
      [
        { _step: 1, "sft/loss/train": 1 },
        { _step: 2, "sft/loss/train": 0.5 },
      ],
    ],
  })
  // The end of a job does not end the run, which is the client's.
  expect(await readRun(opened.acme, run, "state historyLineCount")).toEqual({ state: "running", historyLineCount: 3 })
})

test("training-api 3.5: a job that goes on after its engine died, or after the server was stopped, doubles and misses nothing", async () => {
  const { id, run } = await modelAndRun()
  const { train } = fake.handlers
  const steps = async () => (await historyOf(run)).map((row) => row["sft/gradient_step"])
  let attempts = 0
  fake.handlers.train = async (params, call) => {
    const attempt = ++attempts
    call.emit("training_started", { num_sequences: 3 })
    call.emit("gradient_step", { number: 1, metrics: { loss: 1 } })
    if (attempt > 1) call.emit("gradient_step", { number: 2, metrics: { loss: 0.5 } })
    if (attempt === 1) {
      await vi.waitUntil(async () => (await steps()).length === 1, { timeout: 20_000 })
      fake.die()
    }
    if (attempt === 2) await untilCancelled(call)
    call.emit("gradient_step", { number: 3, metrics: { loss: 0.25 } })
    return writeFakeCheckpoint(params, 3)
  }
  const job = await startSft(id, 3, { batch_size: 1, metric_logging: { enabled: true } })
  await vi.waitUntil(async () => (await steps()).length === 2, { timeout: 20_000, interval: 20 })
  await opened.restart()
  await ended(job)
  if (train !== undefined) fake.handlers.train = train
  expect(attempts).toBe(3)
  expect(await steps()).toEqual([1, 2, 3, undefined])
  expect((await historyOf(run)).map((row) => row["_step"])).toEqual([0, 1, 2, 3])
})

test("training-api 3.5: the run of a job that is cancelled in a pause has failed, also one that was resumed before", async () => {
  const { train } = fake.handlers
  fake.handlers.train = async (params, call) => {
    call.emit("training_started", { num_sequences: 1 })
    call.emit("gradient_step", { number: 1, metrics: { loss: 1 } })
    return untilCancelled(call)
  }
  for (const isResumed of [false, true]) {
    const { id, run } = await modelAndRun()
    const job = await startSft(id, 1)
    const change = (what: string) => opened.acme.post(`/v1/preview/training-jobs/${job}/${what}`)
    const told = (state: string) =>
      vi.waitFor(async () => expect(await readRun(opened.acme, run, "state")).toEqual({ state }), { timeout: 20_000 })
    await told("running")
    await change("pause")
    await told("pending")
    const next = await startSft(id, 1)
    if (!isResumed) await opened.acme.post(`/v1/preview/training-jobs/${next}/cancel`)
    await told("pending")
    if (isResumed) {
      const begun = () => fake.calls.filter(({ method }) => method === "train").length
      const before = begun()
      await change("resume")
      await vi.waitUntil(() => begun() > before, { timeout: 20_000 })
      await opened.acme.post(`/v1/preview/training-jobs/${next}/cancel`)
      expect(await readRun(opened.acme, run, "state")).not.toEqual({ state: "failed" })
    }
    expect((await change("cancel")).status).toBe(200)
    await told("failed")
  }
  if (train !== undefined) fake.handlers.train = train
})

test("training-api 3.5: a run that a client forks or rewinds keeps the rows of jobs apart", async () => {
  const { id, run } = await modelAndRun()
  await startRun(opened.acme, run)
  await ended(await startSft(id, 2))
  const content = ['{"_step":0,"own":1}', '{"_step":1,"own":2}']
  await opened.acme.post(streamPath(run), { files: { "wandb-history.jsonl": { offset: 0, content } } })
  const branch = { branch_point: { run_id: run.run, step: 0 } }
  const input = {
    entityName: "acme",
    modelName: "tests",
    name: `${run.run}-fork`,
    host: "a-machine",
    config: JSON.stringify({ _wandb: { value: { t: {}, ...branch } } }),
  }
  const upsert = "mutation($input: UpsertBucketInput) { upsertBucket(input: $input) { bucket { historyLineCount } } }"
  expect((await ask(opened.acme, upsert, { input })).data).toEqual({
    upsertBucket: { bucket: { historyLineCount: 1 } },
  })
  const forked = { ...run, run: `${run.run}-fork` }
  expect(await historyOf(forked)).toEqual([{ _step: 0, own: 1 }, sftRow(0, 1, 1)])
})
