/** Curves of models, one checkpoint, and progress of jobs, for a person who follows a training. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { readCheckpoint } from "../../src/wire/training/checkpoint.ts"
import { eventPage, listedJob } from "../../src/wire/training/job.ts"
import { modelMetricsAnswer } from "../../src/wire/training/model-metrics.ts"
import { modelPage } from "../../src/wire/training/model.ts"
import { groupsOf, newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

/** The loss of each gradient step, by job; the third job has a peak, and the second a metric that its first step lacks. */
const losses = [
  [4, 2],
  [3, 1],
  [1, 90, 2],
  [0.5, 0.5],
]
const rewards = [0.25, 0.5, 0.75, 1]

let opened: TrainingApp
let model: { id: string; name: string }
let idle: { id: string; name: string }
const jobs: string[] = []

beforeAll(async () => {
  opened = await openTrainingApp()
  model = await newModel(opened.acme)
  idle = await newModel(opened.acme)
  const usual = opened.fake.handlers.train
  for (const [index, reward] of rewards.entries()) {
    opened.fake.handlers.train = async (params, call) => {
      const steps = losses[index] ?? []
      const emit: typeof call.emit = (name, data) => (name === "gradient_step" ? undefined : call.emit(name, data))
      const result = await usual?.(params, { ...call, emit })
      for (const [place, loss] of steps.entries()) {
        const late = index === 1 && place === 1 ? { mismatch_rms: 0.125 } : {}
        call.emit("gradient_step", { number: place + 1, metrics: { policy_loss: loss, grad_norm: 0.5, ...late } })
      }
      return result
    }
    const job = { model_id: model.id, trajectory_groups: groupsOf([reward, reward]) }
    const { body } = await opened.acme.post("/v1/preview/training-jobs", job)
    jobs.push((body as { id: string }).id)
    await vi.waitUntil(async () => (await readJob(index)).status === "succeeded", { timeout: 30_000, interval: 20 })
  }
})
afterAll(() => opened.close())

const readJob = async (index: number) =>
  listedJob.strict().parse((await opened.acme.get(`/v1/preview/training-jobs/${jobs[index]}`)).body)

async function metrics(query: string) {
  const { status, body } = await opened.acme.get(`/v1/preview/model-metrics?${query}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return modelMetricsAnswer.strict().parse(body)
}

describe("metrics by step", () => {
  test("curves have the metrics of checkpoints, and the lowest and highest value of the gradient steps of each", async () => {
    const { data } = await metrics(`model_id=${model.id}&metric=train/reward&metric=policy_loss`)
    expect(data).toMatchObject([
      {
        model_id: model.id,
        curves: [
          {
            metric: "policy_loss",
            step: [1, 2, 3, 4],
            min: [2, 1, 1, 0.5],
            max: [4, 3, 90, 0.5],
            mean: [3, 2, 31, 0.5],
            last: [3, 2, 31, 0.5],
          },
          { metric: "train/reward", step: [1, 2, 3, 4], min: rewards, max: rewards, mean: rewards, last: rewards },
        ],
      },
    ])
    expect(data[0]?.metrics).toEqual([
      "data/turns_choice_ids",
      "grad_norm",
      "mismatch_rms",
      "policy_loss",
      "train/exception_rate",
      "train/reward",
      "train/reward_std_dev",
    ])
  })

  test("fewer points than steps: each stands for several, and no peak is lost", async () => {
    const { data, steps_per_point } = await metrics(`model_id=${model.id}&metric=policy_loss&from_step=1&points=2`)
    expect(steps_per_point).toBe(2)
    expect(data[0]?.curves).toMatchObject([
      { step: [2, 4], min: [1, 0.5], max: [4, 90], mean: [2.5, 18.8], last: [2, 0.5] },
    ])
  })

  test("a part of the steps, with all metrics when none is named", async () => {
    const { data } = await metrics(`model_id=${model.id}&from_step=2&to_step=3`)
    expect(data[0]?.curves.map(({ metric, step }) => [metric, step])).toEqual([
      ["data/turns_choice_ids", [2, 3]],
      ["grad_norm", [2, 3]],
      ["mismatch_rms", [2]],
      ["policy_loss", [2, 3]],
      ["train/exception_rate", [2, 3]],
      ["train/reward", [2, 3]],
      ["train/reward_std_dev", [2, 3]],
    ])
  })

  test("several models in the order of the request; one that was never trained has none", async () => {
    const { data } = await metrics(`model_id=${idle.id}&model_id=${model.id}&metric=train/reward`)
    expect(data.map(({ model_id, curves }) => [model_id, curves.length])).toEqual([
      [idle.id, 0],
      [model.id, 1],
    ])
    expect(data[0]?.metrics).toEqual([])
  })

  test("names that the catalog has no text for, which servers once took, are read like all others", async () => {
    const { id } = await newModel(opened.acme)
    const stored = String.raw`{"val/zero\u0000":1,"val/half\ud800":2,"val/\\u0000":3,"val/all":4}`
    await opened.app.stores.catalog
      .updateTable("checkpoints")
      .set({ metrics: stored })
      .where("model_id", "=", id)
      .execute()
    const { data } = await metrics(`model_id=${id}&model_id=${model.id}`)
    expect(data[0]?.curves.map(({ metric, last }) => [metric, last])).toEqual([
      [String.raw`val/\u0000`, [3]],
      ["val/all", [4]],
      ["val/half\ufffd", [2]],
      ["val/zero\ufffd", [1]],
    ])
    expect(data[1]?.curves.length).toBeGreaterThan(0)
    expect((await metrics(`model_id=${id}&metric=%00&metric=val/all`)).data[0]?.curves).toMatchObject([{ last: [4] }])
  })

  test("another team's model has no curves, and a wrong query is refused", async () => {
    const status = async (query: string, asker = opened.acme) =>
      (await asker.get(`/v1/preview/model-metrics${query}`)).status
    expect(await status(`?model_id=${model.id}`, opened.rival)).toBe(404)
    expect(await status(`?model_id=${model.id}&model_id=none`)).toBe(404)
    for (const query of ["", `?model_id=${model.id}&points=0`, `?model_id=${model.id}&from_step=-1`])
      expect([query, await status(query)]).toEqual([query, 422])
    const many = Array.from({ length: 51 }, () => `model_id=${model.id}`).join("&")
    expect(await status(`?${many}`)).toBe(422)
  })

  test("an answer that could be too long is refused before it is made", async () => {
    const models = Array.from({ length: 50 }, () => `model_id=${model.id}`).join("&")
    const query = `${models}&metric=a&metric=b&metric=c&to_step=1999&points=2000`
    const { status, body } = await opened.acme.get(`/v1/preview/model-metrics?${query}`)
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining("more than 200000 points")])
    expect((await opened.acme.get(`/v1/preview/model-metrics?${models}&metric=policy_loss`)).status).toBe(200)
  })
})

describe("one checkpoint", () => {
  const read = (step: number | string) => opened.acme.get(`/v1/preview/models/${model.id}/checkpoints/${step}`)

  test("by its step, with the job that made it", async () => {
    expect(readCheckpoint.strict().parse((await read(2)).body)).toMatchObject({
      step: 2,
      job_id: jobs[1],
      artifact: `wandb-artifact:///acme/tests/${model.name}:step2`,
      metrics: { "train/reward": 0.5 },
    })
    expect((await read(0)).body).toMatchObject({ step: 0, job_id: null })
  })

  test("one that is not there yet and one that was deleted say so; what a deleted one learned stays in the curves", async () => {
    await opened.acme.delete(`/v1/preview/models/${model.id}/checkpoints`, { steps: [3] })
    expect(await read(3)).toMatchObject({ status: 404, body: { detail: expect.stringContaining("it was deleted") } })
    expect(await read(9)).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining("its newest step so far is 4") },
    })
    expect((await read("last")).status).toBe(422)
    expect((await opened.rival.get(`/v1/preview/models/${model.id}/checkpoints/2`)).status).toBe(404)
    const { data } = await metrics(`model_id=${model.id}&metric=train/reward`)
    expect(data[0]?.curves[0]?.step).toEqual([1, 2, 3, 4])
  })
})

test("a model is found by its name", async () => {
  const { body } = await opened.acme.get(`/v1/preview/models?project=tests&name=${idle.name}`)
  expect(modelPage.parse(body).data.map(({ id }) => id)).toEqual([idle.id])
  expect((await opened.acme.get("/v1/preview/models?project=tests&name=none")).body).toMatchObject({ data: [] })
})

test("a job says whose it is and how far it came, and its events say when", async () => {
  expect(await readJob(2)).toMatchObject({
    entity: "acme",
    project: "tests",
    model: model.name,
    gradient_steps: 3,
    expected_gradient_steps: 2,
  })
  const { body } = await opened.acme.get(`/v1/preview/training-jobs/${jobs[0]}/events`)
  const times = eventPage.parse(body).data.map(({ created_at }) => Date.parse(created_at))
  expect(times).toHaveLength(4)
  expect(times.toSorted((a, b) => a - b)).toEqual(times)
})
