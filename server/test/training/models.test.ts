import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { checkpointPage } from "../../src/wire/training/checkpoint.ts"
import { deleteModelAnswer, model as modelSchema } from "../../src/wire/training/model.ts"
import { newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
beforeAll(async () => (opened = await openTrainingApp()))
afterAll(() => opened.close())

const base = { project: "p", base_model: "heddle/tiny" }
const create = (body: object) => opened.acme.post("/v1/preview/models", body)

describe("training-api 1.2: create a model", () => {
  test("the answer has every field, the default entity, and run_id equal to name", async () => {
    const { status, body } = await create({ ...base, name: "first", entity: null })
    expect(status).toBe(200)
    expect(modelSchema.strict().parse(body)).toMatchObject({
      entity: "acme",
      project: "p",
      name: "first",
      base_model: "heddle/tiny",
      run_id: "first",
    })
  })

  test("step 0 is listed from creation (training-api 4.1, 4.2)", async () => {
    const { id, name } = await newModel(opened.acme)
    const { body } = await opened.acme.get(`/v1/preview/models/${id}/checkpoints?limit=1&order=desc`)
    expect(checkpointPage.parse(body).data).toMatchObject([
      { step: 0, metrics: {}, artifact: `wandb-artifact:///acme/tests/${name}:step0` },
    ])
  })

  test("return_existing answers the stored model, whatever base model is asked for", async () => {
    const first = await create({ ...base, name: "again" })
    const second = await create({ ...base, name: "again", base_model: "nobody/nothing", return_existing: true })
    expect(second).toMatchObject({ status: 200, body: first.body as object })
  })

  test("twenty registrations at once make one model", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => create({ ...base, name: "crowded", return_existing: true })),
    )
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 200))
    expect(new Set(answers.map((answer) => (answer.body as { id: string }).id)).size).toBe(1)
  })

  test("a taken name without return_existing: 409", async () => {
    await create({ ...base, name: "taken" })
    const { status, body } = await create({ ...base, name: "taken" })
    expect(status).toBe(409)
    expect(body).toEqual({
      detail: 'acme/p has a model "taken" already; send return_existing: true to use it, or choose another name',
    })
  })

  test("an unknown entity, or somebody else's: 403 that names it", async () => {
    for (const entity of ["nobody", "rival"]) {
      const { status, body } = await create({ ...base, name: "x", entity })
      expect(status).toBe(403)
      expect((body as { detail: string }).detail).toContain(`"${entity}"`)
    }
  })

  test.each([
    ["name", "a b"],
    ["name", ""],
    ["name", "a/b"],
    ["name", "x".repeat(129)],
    ["project", "a/b"],
    ["project", "a:b"],
    ["project", " a"],
    ["project", "a\u0000b"],
    ["project", "a\ud800"],
    ["base_model", 7],
  ])("%s %j: 422 on that field", async (field, value) => {
    const { status, body } = await create({ ...base, name: "ok", [field]: value })
    expect(status).toBe(422)
    expect(body).toMatchObject({
      detail: [{ loc: ["body", field], msg: expect.any(String), type: expect.any(String) }],
    })
  })

  test("a missing field: 422 as the framework of the public service writes it", async () => {
    const { status, body } = await create({ project: "p", base_model: "heddle/tiny" })
    expect(status).toBe(422)
    expect(body).toEqual({ detail: [{ loc: ["body", "name"], msg: "Field required", type: "missing" }] })
  })

  test("a body that is not JSON: 400", async () => {
    const { status, body } = await opened.acme.post("/v1/preview/models", "{nope")
    expect(status).toBe(400)
    expect((body as { detail: string }).detail).toContain("not JSON")
  })

  test("under a path prefix and with a trailing slash (training-api 0)", async () => {
    const { status } = await opened.acme.post("/some/prefix/v1/preview/models/", { ...base, name: "prefixed" })
    expect(status).toBe(200)
  })
})

describe("delete a model", () => {
  test("training-api 1.1: counts what was deleted; everything of it is gone", async () => {
    const { id } = await newModel(opened.acme)
    const { status, body } = await opened.acme.delete(`/v1/preview/models/${id}`)
    expect(status).toBe(200)
    expect(deleteModelAnswer.strict().parse(body)).toEqual({ model_id: id, deleted_checkpoints: 1, deleted_run: true })
    expect((await opened.acme.get(`/v1/preview/models/${id}/checkpoints`)).status).toBe(404)
    expect(
      (await opened.acme.post(`/v1/preview/models/${id}/log`, { split: "val", trajectory_groups: [] })).status,
    ).toBe(404)
  })

  test("training-api 1.4: a replayed DELETE gives the same answer", async () => {
    const { id } = await newModel(opened.acme)
    const first = await opened.acme.delete(`/v1/preview/models/${id}`)
    const second = await opened.acme.delete(`/v1/preview/models/${id}`)
    expect(second).toMatchObject({ status: 200, body: first.body as object })
  })

  test("the name is free again", async () => {
    const { id, name } = await newModel(opened.acme)
    await opened.acme.delete(`/v1/preview/models/${id}`)
    const { status, body } = await create({ project: "tests", base_model: "heddle/tiny", name })
    expect(status).toBe(200)
    expect((body as { id: string }).id).not.toBe(id)
  })

  test("somebody else's model, an unknown id and no uuid at all: 404", async () => {
    const { id } = await newModel(opened.acme)
    for (const target of [id, "5f0c3a80-0000-4000-8000-000000000000", "not-a-uuid"]) {
      expect((await opened.rival.delete(`/v1/preview/models/${target}`)).status).toBe(404)
    }
    expect((await opened.acme.get(`/v1/preview/models/${id}/checkpoints`)).status).toBe(200)
  })
})

test("training-api 1.1: base models need no key and are an array of names", async () => {
  const answer = await opened.app.server.inject({ method: "GET", url: "/v1/preview/base-models" })
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual(["heddle/tiny"])
})
