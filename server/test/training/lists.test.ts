/** Lists of models and jobs of the caller's teams: over all projects, newest first, in pages. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { jobPage } from "../../src/wire/training/job.ts"
import { modelPage } from "../../src/wire/training/model.ts"
import { groupsOf, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
const ids: Record<string, string> = {}

beforeAll(async () => {
  opened = await openTrainingApp()
  for (const [project, name] of [
    ["shop", "first"],
    ["shop", "second"],
    ["lab", "third"],
  ] as const) {
    const made = await opened.acme.post("/v1/preview/models", { project, name, base_model: "heddle/tiny" })
    ids[name] = (made.body as { id: string }).id
  }
  for (const name of ["first", "third", "first"]) {
    const job = { model_id: ids[name], trajectory_groups: groupsOf([0, 1], [1, 0]) }
    expect((await opened.acme.post("/v1/preview/training-jobs", job)).status).toBe(200)
  }
  await vi.waitUntil(async () => (await jobs("?status=succeeded")).data.length === 3, { timeout: 30_000, interval: 20 })
})
afterAll(() => opened.close())

const models = async (query = "") =>
  modelPage.strict().parse((await opened.acme.get(`/v1/preview/models${query}`)).body)
const jobs = async (query = "") =>
  jobPage.strict().parse((await opened.acme.get(`/v1/preview/training-jobs${query}`)).body)

describe("models", () => {
  test("the newest first, with their newest step", async () => {
    const { data } = await models()
    expect(data.map(({ name, project, latest_step, open_jobs }) => [name, project, latest_step, open_jobs])).toEqual([
      ["third", "lab", 1, 0],
      ["second", "shop", 0, 0],
      ["first", "shop", 2, 0],
    ])
    const [made, stepped] = [data[2]?.created_at, data[2]?.latest_step_at].map((time) => Date.parse(time ?? ""))
    expect(stepped).toBeGreaterThan(made ?? Infinity)
  })

  test("those of one project are listed, and none of another team", async () => {
    expect((await models("?project=shop")).data.map(({ name }) => name)).toEqual(["second", "first"])
    expect((await models("?entity=acme&project=lab")).data.map(({ name }) => name)).toEqual(["third"])
    expect((await models("?entity=rival")).data).toEqual([])
    expect((await opened.rival.get("/v1/preview/models")).body).toMatchObject({ data: [] })
  })

  test("those whose name has a part, as it is written but for the case of its letters", async () => {
    const named = async (query: string) => (await models(`?query=${query}`)).data.map(({ name }) => name)
    expect(await named("IR")).toEqual(["third", "first"])
    expect([await named("_"), await named("%25"), await named("%00"), await named("%5c")]).toEqual([[], [], [], []])
    expect((await models("?query=ir&project=lab")).data.map(({ name }) => name)).toEqual(["third"])
    expect((await models("?name=%00")).data).toEqual([])
  })

  test("page by page; a model that was deleted meanwhile still is a place to go on from", async () => {
    const made = await opened.acme.post("/v1/preview/models", { project: "p", name: "gone", base_model: "heddle/tiny" })
    const first = await models("?limit=1")
    expect([first.data[0]?.name, first.has_more]).toEqual(["gone", true])
    await opened.acme.delete(`/v1/preview/models/${(made.body as { id: string }).id}`)
    expect((await models(`?limit=2&after=${first.last_id}`)).data.map(({ name }) => name)).toEqual(["third", "second"])
    expect((await opened.rival.get(`/v1/preview/models?after=${first.last_id}`)).status).toBe(404)
  })

  test("a model without any step left is listed", async () => {
    const made = await opened.acme.post("/v1/preview/models", { project: "q", name: "bare", base_model: "heddle/tiny" })
    await opened.acme.delete(`/v1/preview/models/${(made.body as { id: string }).id}/checkpoints`, { steps: [0] })
    expect((await models("?project=q")).data).toMatchObject([{ name: "bare", latest_step: null, latest_step_at: null }])
  })
})

describe("jobs", () => {
  test("the newest first, with their model and how far they are", async () => {
    const { data } = await jobs()
    expect(data.map(({ model, project, status, output_step }) => [model, project, status, output_step])).toEqual([
      ["first", "shop", "succeeded", 2],
      ["third", "lab", "succeeded", 1],
      ["first", "shop", "succeeded", 1],
    ])
    for (const job of data) expect([job.gradient_steps, job.expected_gradient_steps]).toEqual([4, 4])
  })

  test("they are filtered by project, by model and by status", async () => {
    expect((await jobs("?project=lab")).data.map(({ model }) => model)).toEqual(["third"])
    expect((await jobs(`?model_id=${ids["first"]}`)).data).toHaveLength(2)
    expect((await jobs("?status=queued&status=running")).data).toEqual([])
    expect((await jobs("?status=failed&status=succeeded")).data).toHaveLength(3)
    expect((await jobs("?model_id=none")).data).toEqual([])
    expect((await jobs("?project=%00")).data).toEqual([])
    expect((await jobs("?entity=%00")).data).toEqual([])
    expect((await opened.acme.get("/v1/preview/training-jobs?status=lost")).status).toBe(422)
    expect((await opened.rival.get("/v1/preview/training-jobs")).body).toMatchObject({ data: [] })
  })

  test("page by page", async () => {
    const first = await jobs("?limit=2")
    expect([first.data.length, first.has_more]).toEqual([2, true])
    const second = await jobs(`?limit=2&after=${first.last_id}`)
    expect([second.data.length, second.has_more]).toEqual([1, false])
    expect((await opened.rival.get(`/v1/preview/training-jobs?after=${first.last_id}`)).status).toBe(404)
  })

  test("a job under way says how far it is, and the model that it is open; before it begins it expects nothing", async () => {
    const usual = opened.fake.handlers.train
    const [begin, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    opened.fake.handlers.train = async (params, call) => {
      await begin.promise
      call.emit("training_started", { num_sequences: 8 })
      for (const number of [1, 2, 3]) call.emit("gradient_step", { number, metrics: { loss: 1 } })
      await end.promise
      return usual?.(params, call)
    }
    const job = { model_id: ids["second"], trajectory_groups: groupsOf([0, 1]) }
    await opened.acme.post("/v1/preview/training-jobs", job)
    const listed = async () => (await jobs(`?model_id=${ids["second"]}`)).data[0]
    await expect.poll(async () => (await listed())?.status, { timeout: 30_000, interval: 20 }).toBe("running")
    expect(await listed()).toMatchObject({ gradient_steps: 0, expected_gradient_steps: null })
    begin.resolve()
    await expect.poll(async () => (await listed())?.gradient_steps, { timeout: 30_000, interval: 20 }).toBe(3)
    expect(await listed()).toMatchObject({ model: "second", expected_gradient_steps: 8 })
    expect((await models("?project=shop")).data[0]).toMatchObject({ name: "second", open_jobs: 1 })
    end.resolve()
    await expect.poll(async () => (await listed())?.status, { timeout: 30_000, interval: 20 }).toBe("succeeded")
    if (usual !== undefined) opened.fake.handlers.train = usual
  })
})
