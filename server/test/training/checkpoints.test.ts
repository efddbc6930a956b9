import { access, mkdir, writeFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { checkpointPage, deleteCheckpointsAnswer } from "../../src/wire/training/checkpoint.ts"
import type { Answer } from "../support/test-app.ts"
import { newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
beforeAll(async () => (opened = await openTrainingApp()))
afterAll(() => opened.close())

/** Makes a model with checkpoints 0 to `last`, as training leaves them; returns its id. */
async function modelWithSteps(last: number): Promise<string> {
  const { id } = await newModel(opened.acme)
  const { catalog } = opened.app.stores
  for (let step = 1; step <= last; step++) {
    const metrics = JSON.stringify({ "val/reward": step / 10 })
    const folder = `checkpoints/${id}/step_${step}`
    await mkdir(path.join(opened.config.dataDir, folder), { recursive: true })
    await writeFile(path.join(opened.config.dataDir, folder, "adapter_config.json"), "{}")
    await catalog
      .insertInto("checkpoints")
      .values({ model_id: id, step, metrics, path: folder, size_bytes: 2 })
      .execute()
  }
  await catalog.updateTable("models").set({ last_step: last }).where("id", "=", id).execute()
  return id
}

const list = (id: string, query = "") => opened.acme.get(`/v1/preview/models/${id}/checkpoints${query}`)
const stepsOf = (answer: Answer) => checkpointPage.parse(answer.body).data.map((checkpoint) => checkpoint.step)

describe("training-api 1.3: pages of checkpoints", () => {
  test("the envelope, ascending by default, 20 at a time", async () => {
    const id = await modelWithSteps(22)
    const { body } = await list(id)
    const page = checkpointPage.strict().parse(body)
    expect(page.data.map((checkpoint) => checkpoint.step)).toEqual(Array.from({ length: 20 }, (_, step) => step))
    expect(page).toMatchObject({
      object: "list",
      has_more: true,
      first_id: page.data[0]?.id as string,
      last_id: page.data[19]?.id as string,
    })
    const second = await list(id, `?after=${page.last_id}`)
    expect(stepsOf(second)).toEqual([20, 21, 22])
    expect(second.body).toMatchObject({ has_more: false })
  })

  test("limit=1&order=desc is the newest step (training-api 4.3)", async () => {
    expect(stepsOf(await list(await modelWithSteps(3), "?limit=1&order=desc"))).toEqual([3])
  })

  test("descending pages continue downwards", async () => {
    const id = await modelWithSteps(4)
    const first = checkpointPage.parse((await list(id, "?limit=2&order=desc")).body)
    expect(stepsOf(await list(id, `?limit=2&order=desc&after=${first.last_id}`))).toEqual([2, 1])
  })

  test("an empty page has empty ids and no more", async () => {
    const id = await modelWithSteps(0)
    const { last_id } = checkpointPage.parse((await list(id)).body)
    expect((await list(id, `?after=${last_id}`)).body).toEqual({
      object: "list",
      data: [],
      first_id: "",
      last_id: "",
      has_more: false,
    })
  })

  test.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=many", "limit"],
    ["order=sideways", "order"],
  ])("%s: 422 on the query", async (query, field) => {
    const { status, body } = await list(await modelWithSteps(0), `?${query}`)
    expect(status).toBe(422)
    expect(body).toMatchObject({ detail: [{ loc: ["query", field] }] })
  })

  test("an unknown or foreign id in after: 404", async () => {
    const id = await modelWithSteps(0)
    const foreign = checkpointPage.parse((await list(await modelWithSteps(0))).body).last_id
    for (const after of ["5f0c3a80-0000-4000-8000-000000000000", "no-id", foreign]) {
      expect((await list(id, `?after=${after}`)).status).toBe(404)
    }
  })

  test("paging goes on past a checkpoint that was deleted meanwhile", async () => {
    const id = await modelWithSteps(3)
    const page = checkpointPage.parse((await list(id, "?limit=2")).body)
    await opened.acme.delete(`/v1/preview/models/${id}/checkpoints`, { steps: [0, 1] })
    expect(stepsOf(await list(id, `?after=${page.last_id}`))).toEqual([2, 3])
  })
})

describe("training-api 4.3: delete checkpoints", () => {
  const remove = (id: string, steps: unknown) => opened.acme.delete(`/v1/preview/models/${id}/checkpoints`, { steps })

  test("counts what was deleted, names what was not there, removes the files", async () => {
    const id = await modelWithSteps(3)
    const { status, body } = await remove(id, [1, 2, 2, 77, -1, 99_999_999_999])
    expect(status).toBe(200)
    expect(deleteCheckpointsAnswer.strict().parse(body)).toEqual({
      deleted_count: 2,
      not_found_steps: [77, -1, 99_999_999_999],
    })
    expect(stepsOf(await list(id))).toEqual([0, 3])
    const folder = (step: number) => path.join(opened.config.dataDir, "checkpoints", id, `step_${step}`)
    await expect(access(folder(1))).rejects.toThrow("ENOENT")
    await access(folder(3))
  })

  test("the newest may go; the highest remaining is newest then, and its number is not used again", async () => {
    const id = await modelWithSteps(2)
    await remove(id, [2])
    expect(stepsOf(await list(id, "?limit=1&order=desc"))).toEqual([1])
    const { last_step } = await opened.app.stores.catalog
      .selectFrom("models")
      .select("last_step")
      .where("id", "=", id)
      .executeTakeFirstOrThrow()
    expect(last_step).toBe(2)
  })

  test("a replay deletes nothing more and is no error (training-api 1.4)", async () => {
    const id = await modelWithSteps(1)
    await remove(id, [1])
    expect(await remove(id, [1])).toMatchObject({ status: 200, body: { deleted_count: 0, not_found_steps: [1] } })
  })

  test.each([[undefined], ["1"], [["1"]], [[1.5]], [null]])("steps %j: 422", async (steps) => {
    const { status, body } = await remove(await modelWithSteps(0), steps)
    expect(status).toBe(422)
    expect((body as { detail: { loc: unknown[] }[] }).detail[0]?.loc.slice(0, 2)).toEqual(["body", "steps"])
  })

  test("ninety thousand steps at once", async () => {
    const id = await modelWithSteps(1)
    const { status, body } = await remove(
      id,
      Array.from({ length: 90_000 }, (_, step) => step),
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({ deleted_count: 2 })
  })
})
