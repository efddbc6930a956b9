import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { eventPage, job as jobSchema } from "../../src/wire/training/job.ts"
import { groupsOf, newModel, openTrainingApp, sampledTrajectory, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
beforeAll(async () => (opened = await openTrainingApp()))
afterAll(() => opened.close())

async function startJob(modelId: string, ...rewards: number[][]): Promise<string> {
  const { body } = await opened.acme.post("/v1/preview/training-jobs", {
    model_id: modelId,
    trajectory_groups: groupsOf(...rewards),
  })
  return (body as { id: string }).id
}

const readJob = async (id: string) => jobSchema.parse((await opened.acme.get(`/v1/preview/training-jobs/${id}`)).body)

async function ended(id: string) {
  await expect.poll(async () => (await readJob(id)).ended_at, { timeout: 30_000, interval: 20 }).not.toBeNull()
  return readJob(id)
}

async function allEvents(id: string, limit: number) {
  const found: { id: string; type: string }[] = []
  for (let after = ""; ;) {
    const query = after === "" ? "" : `&after=${after}`
    const { body } = await opened.acme.get(`/v1/preview/training-jobs/${id}/events?limit=${limit}${query}`)
    const page = eventPage.strict().parse(body)
    found.push(...page.data)
    if (!page.has_more) return found
    after = page.last_id
  }
}

describe("a job through the whole server, on the fake engine", () => {
  test("training-api 2.3, 3.1, 4.2: it succeeds, its events are in order, the checkpoint has its metrics", async () => {
    const { id: modelId } = await newModel(opened.acme)
    const id = await startJob(modelId, [0, 1], [1, 1])
    const job = await ended(id)
    expect(job).toMatchObject({
      kind: "rl",
      status: "succeeded",
      model_id: modelId,
      output_step: 1,
      error_message: null,
    })
    const types = (await allEvents(id, 20)).map((event) => event.type)
    expect(types[0]).toBe("training_started")
    expect(types.at(-1)).toBe("training_ended")
    const { body } = await opened.acme.get(`/v1/preview/models/${modelId}/checkpoints?limit=1&order=desc`)
    expect(body).toMatchObject({ data: [{ step: 1, metrics: { "train/reward": 0.75, "train/reward_std_dev": 0.25 } }] })
  })

  test("training-api 1.3: event pages of 1, 20 and 100 give the same sequence", async () => {
    const { id: modelId } = await newModel(opened.acme)
    const id = await startJob(
      modelId,
      Array.from({ length: 30 }, (_, index) => index),
    )
    await ended(id)
    const [one, twenty, hundred] = [await allEvents(id, 1), await allEvents(id, 20), await allEvents(id, 100)]
    expect(one).toEqual(hundred)
    expect(twenty).toEqual(hundred)
    expect(new Set(one.map((event) => event.id)).size).toBe(one.length)
    expect(one.length).toBeGreaterThan(20)
  })

  test("law 7: settings with U+0000 or half a character stop neither their job nor those behind it", async () => {
    const [{ id: model_id }, other] = [await newModel(opened.acme), await newModel(opened.acme)]
    const experimental_config = { note: "zero \u0000", half: ["\ud800"] }
    const body = { model_id, trajectory_groups: groupsOf([0, 1]), experimental_config }
    const made = await opened.acme.post("/v1/preview/training-jobs", body)
    expect(made.status).toBe(200)
    const behind = await startJob(other.id, [0, 1])
    expect(await ended(behind)).toMatchObject({ status: "succeeded" })
    expect(await ended((made.body as { id: string }).id)).toMatchObject({ status: "succeeded" })
  })

  test("training-api 3.1 rule 6: a job that the engine refuses ends in training_failed", async () => {
    const usual = opened.fake.handlers.train
    opened.fake.handlers.train = () => {
      throw new EngineFailure("invalid", "trajectory 0: token id 999999 is not in the vocabulary")
    }
    const id = await startJob((await newModel(opened.acme)).id, [0, 1])
    const job = await ended(id)
    if (usual === undefined) delete opened.fake.handlers.train
    else opened.fake.handlers.train = usual
    expect(job).toMatchObject({ status: "failed", error_message: expect.stringContaining("token id 999999") })
    const events = await allEvents(id, 20)
    expect(events.at(-1)).toMatchObject({
      type: "training_failed",
      data: { error_message: expect.stringContaining("999999") },
    })
  })

  test("training-api 3.1 rule 6: deleting the model ends its running job, whose events stay readable", async () => {
    const usual = opened.fake.handlers.train
    opened.fake.handlers.train = (_, call) =>
      new Promise((_resolve, reject) => {
        call.cancelled.addEventListener("abort", () => reject(new EngineFailure("cancelled", "cancelled")))
      })
    const { id: modelId } = await newModel(opened.acme)
    const id = await startJob(modelId, [0, 1])
    await expect.poll(async () => (await readJob(id)).status, { timeout: 30_000, interval: 20 }).toBe("running")
    expect((await opened.acme.delete(`/v1/preview/models/${modelId}`)).status).toBe(200)
    expect(await ended(id)).toMatchObject({ status: "cancelled" })
    if (usual !== undefined) opened.fake.handlers.train = usual
    expect((await allEvents(id, 20)).map((event) => event.type)).toEqual(["training_failed"])
  })
})

describe("training-api 1.3, 1.4: reading jobs and events", () => {
  test("an unknown, foreign or malformed job id: 404", async () => {
    const id = await startJob((await newModel(opened.acme)).id, [0, 1])
    for (const target of ["nonsense", "5f0c3a80-0000-4000-8000-000000000000"]) {
      expect((await opened.acme.get(`/v1/preview/training-jobs/${target}`)).status).toBe(404)
      expect((await opened.acme.get(`/v1/preview/training-jobs/${target}/events`)).status).toBe(404)
    }
    expect((await opened.rival.get(`/v1/preview/training-jobs/${id}`)).status).toBe(404)
    expect((await opened.rival.get(`/v1/preview/training-jobs/${id}/events`)).status).toBe(404)
  })

  test("an unknown cursor: 404; limits outside 1 to 100: 422", async () => {
    const id = await startJob((await newModel(opened.acme)).id, [0, 1])
    const events = `/v1/preview/training-jobs/${id}/events`
    expect((await opened.acme.get(`${events}?after=5f0c3a80-0000-4000-8000-000000000000`)).status).toBe(404)
    expect((await opened.acme.get(`${events}?limit=0`)).status).toBe(422)
    expect((await opened.acme.get(`${events}?limit=101`)).status).toBe(422)
  })
})

describe("training-api 2.4: log", () => {
  test("metrics of the split appear at the newest checkpoint, beside those of other splits", async () => {
    const { id } = await newModel(opened.acme)
    const log = (body: object) => opened.acme.post(`/v1/preview/models/${id}/log`, body)
    const timed = (reward: number, duration: number) => ({
      ...sampledTrajectory(reward),
      metrics: { duration, solved: reward > 0 },
    })
    const failed = [{ type: "E", message: "m", traceback: "t" }]
    const groups = [
      { trajectories: [timed(0, 1), timed(1, 3)], exceptions: failed, metrics: { size: 2 } },
      { trajectories: [timed(5, 2)], metrics: { size: 4 } },
    ]
    const { status } = await log({ split: "val", model_id: id, trajectory_groups: groups })
    expect(status).toBe(200)
    await log({ split: "train", trajectory_groups: groupsOf([2, 4]) })
    const { body } = await opened.acme.get(`/v1/preview/models/${id}/checkpoints`)
    expect((body as { data: { metrics: object }[] }).data[0]?.metrics).toEqual({
      "val/reward": 2,
      "val/exception_rate": 0.25,
      "val/reward_std_dev": 0.5,
      "val/duration": 2,
      "val/solved": 2 / 3,
      "val/group_size": 3,
      "train/reward": 3,
      "train/reward_std_dev": 1,
      "train/exception_rate": 0,
    })
  })

  test("bad trajectories and a missing split: 422", async () => {
    const { id } = await newModel(opened.acme)
    const log = (body: object) => opened.acme.post(`/v1/preview/models/${id}/log`, body)
    expect(await log({ trajectory_groups: [] })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "split"] }] },
    })
    const bad = { split: "val", trajectory_groups: [{ trajectories: [{ reward: "high" }] }] }
    expect(await log(bad)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "trajectory_groups", 0, "trajectories", 0, "reward"] }] },
    })
    const unnamed = { trajectory_groups: [{ trajectories: [], metrics: { "zero\0": 1 } }] }
    expect(await log({ split: "half\ud800", ...unnamed })).toMatchObject({
      status: 422,
      body: {
        detail: [
          { loc: ["body", "split"], msg: expect.stringContaining("not well-formed Unicode") },
          { loc: ["body", "trajectory_groups", 0, "metrics", "zero\0"], msg: expect.stringContaining("U+0000") },
        ],
      },
    })
  })

  test("a metric of which the sum of two is infinite: 422", async () => {
    const { id } = await newModel(opened.acme)
    const metrics = { tokens: 1e300, huge: 1.5e308 }
    const trajectory_groups = [{ trajectories: [{ ...sampledTrajectory(1), metrics }] }]
    expect(await opened.acme.post(`/v1/preview/models/${id}/log`, { split: "val", trajectory_groups })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "trajectory_groups", 0, "trajectories", 0, "metrics", "huge"] }] },
    })
  })
})
