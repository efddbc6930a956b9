import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { costPage, costsCreated } from "../../src/wire/calls/cost.ts"
import { strictly } from "../support/answers.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const cheap = { prompt_token_cost: 1e-7, completion_token_cost: 2.5e-6 }

async function create(project: string, costs: Record<string, unknown>) {
  return strictly(
    costsCreated,
    await opened.acme.post("/cost/create", { project_id: project, costs, wb_user_id: "ignored" }),
  ).ids
}

async function query(project: string, fields: Record<string, unknown> = {}) {
  return strictly(costPage, await opened.acme.post("/cost/query", { project_id: project, ...fields })).results
}

const equals = (name: string, value: unknown) => ({ $eq: [{ $getField: name }, { $literal: value }] })

describe("objects 8: costs", () => {
  test("create answers [id, model] and fills what was left out", async () => {
    const project = opened.acme.newProject()
    const before = Date.now()
    const ids = await create(project, {
      "my-model": cheap,
      other: {
        ...cheap,
        cache_read_input_token_cost: 3e-8,
        cache_creation_input_token_cost: 0.4,
        prompt_token_cost_unit: "EUR",
        effective_date: "1998-10-03T02:00:00.123456+02:00",
        provider_id: "acme",
      },
    })
    expect(ids.map(([, model]) => model)).toEqual(["my-model", "other"])
    const [mine, other] = await query(project)
    expect(mine).toEqual({
      id: ids[0]?.[0],
      llm_id: "my-model",
      ...cheap,
      cache_read_input_token_cost: 0,
      cache_creation_input_token_cost: 0,
      prompt_token_cost_unit: "USD",
      completion_token_cost_unit: "USD",
      effective_date: expect.any(String),
      provider_id: "default",
    })
    expect(Date.parse(mine?.effective_date ?? "")).toBeGreaterThanOrEqual(before)
    expect(other).toEqual({
      id: ids[1]?.[0],
      llm_id: "other",
      ...cheap,
      cache_read_input_token_cost: 3e-8,
      cache_creation_input_token_cost: 0.4,
      prompt_token_cost_unit: "EUR",
      completion_token_cost_unit: "USD",
      effective_date: "1998-10-03T00:00:00.123456Z",
      provider_id: "acme",
    })
  })

  test("each create appends a price", async () => {
    const project = opened.acme.newProject()
    const dearer = { prompt_token_cost: 1, completion_token_cost: 1 }
    const ids = [...(await create(project, { m: cheap })), ...(await create(project, { m: dearer }))].map(([id]) => id)
    expect(await query(project)).toMatchObject([
      { id: ids[0], llm_id: "m", ...cheap },
      { id: ids[1], llm_id: "m", ...dearer },
    ])
  })

  test("names of models are any text", async () => {
    const project = opened.acme.newProject()
    await create(project, { "a\0\ud800'\\ud800": cheap, constructor: cheap })
    expect((await query(project)).map((cost) => cost.llm_id)).toEqual(["a\0\ufffd'\\ud800", "constructor"])
  })

  test("a time without a zone is UTC; one that is none is 422", async () => {
    const project = opened.acme.newProject()
    await create(project, { a: { ...cheap, effective_date: "2025-01-02" }, b: { ...cheap, effective_date: null } })
    expect(await query(project, { fields: ["effective_date"], query: { $expr: equals("llm_id", "a") } })).toEqual([
      { effective_date: "2025-01-02T00:00:00.000000Z" },
    ])
    for (const effective_date of ["yesterday", "0001-01-01", "9999-12-31"]) {
      const costs = { a: { ...cheap, effective_date } }
      expect(await opened.acme.post("/cost/create", { project_id: project, costs })).toMatchObject({
        status: 422,
        body: {
          detail: [{ loc: ["body", "costs", "a", "effective_date"], msg: expect.stringContaining(effective_date) }],
        },
      })
    }
  })

  test.each([[{}], [{ prompt_token_cost: 1 }], [{ ...cheap, prompt_token_cost: "free" }]])(
    "%j is 422",
    async (cost) => {
      const answer = await opened.acme.post("/cost/create", { project_id: "acme/p", costs: { m: cost } })
      expect(answer).toMatchObject({ status: 422, body: { detail: expect.any(Array) } })
    },
  )

  test("query as weave 0.54.0 sends it: models, paging, a condition that is always true", async () => {
    const project = opened.acme.newProject()
    await create(project, { a: cheap, b: cheap, c: cheap })
    const always = { $eq: [{ $literal: "1" }, { $literal: "1" }] }
    const models = { $in: [{ $getField: "llm_id" }, [{ $literal: "c" }, { $literal: "a" }]] }
    const $expr = { $and: [always, models] }
    const page = { fields: null, sort_by: null, limit: 100, offset: 0, query: { $expr } }
    expect((await query(project, page)).map((cost) => cost.llm_id)).toEqual(["a", "c"])
    expect(await query(project, { fields: ["llm_id"], limit: 1, offset: 1 })).toEqual([{ llm_id: "b" }])
    const sort_by = [{ field: "llm_id", direction: "desc" }]
    expect((await query(project, { sort_by })).map((cost) => cost.llm_id)).toEqual(["c", "b", "a"])
    expect(await query(project, { query: { $expr: equals("prompt_token_cost", 1e-7) } })).toHaveLength(3)
    expect(await query(project, { query: { $expr: equals("prompt_token_cost", 1) } })).toEqual([])
  })

  test("an unknown field is 400; so is a negative limit", async () => {
    const project = opened.acme.newProject()
    await create(project, { a: cheap })
    for (const body of [
      { fields: ["nope"] },
      { sort_by: [{ field: "nope", direction: "asc" }] },
      { query: { $expr: equals("nope", 1) } },
      { query: { $expr: equals("llm_id.x", 1) } },
      { limit: -1 },
    ]) {
      expect((await opened.acme.post("/cost/query", { project_id: project, ...body })).status).toBe(400)
    }
  })

  test("purge by $eq, $in or $or on id, and by nothing else", async () => {
    const project = opened.acme.newProject()
    const ids = (await create(project, { a: cheap, b: cheap, c: cheap, d: cheap })).map(([id]) => id)
    const purge = ($expr: unknown) => opened.acme.post("/cost/purge", { project_id: project, query: { $expr } })
    expect(await purge(equals("id", ids[0]))).toMatchObject({ status: 200, body: {} })
    const inList = { $in: [{ $getField: "id" }, [{ $literal: ids[1] }, { $literal: "unknown" }]] }
    expect((await purge({ $or: [inList, equals("id", ids[2])] })).status).toBe(200)
    expect((await query(project)).map((cost) => cost.llm_id)).toEqual(["d"])
    for (const $expr of [equals("llm_id", "d"), { $not: [equals("id", ids[3])] }, { $in: [{ $getField: "id" }, []] }]) {
      expect(await purge($expr)).toMatchObject({
        status: 400,
        body: { reason: expect.stringContaining("Can only purge costs by specifying one or more cost ids") },
      })
    }
    expect(await query(project)).toHaveLength(1)
  })

  test("security 5.3: prices of another project are neither seen nor deleted", async () => {
    const [mine, other] = [opened.acme.newProject(), opened.acme.newProject()]
    const [[id] = [""]] = await create(mine, { a: cheap })
    await create(other, { b: cheap })
    const purge = { project_id: other, query: { $expr: equals("id", id) } }
    expect((await opened.acme.post("/cost/purge", purge)).status).toBe(200)
    expect(await query(mine)).toHaveLength(1)
    for (const [path, body] of [
      ["/cost/query", {}],
      ["/cost/create", { costs: { a: cheap } }],
      ["/cost/purge", { query: { $expr: equals("id", id) } }],
    ] as const) {
      expect(await opened.rival.post(path, { project_id: mine, ...body })).toMatchObject({
        status: 403,
        body: { detail: "Project not found" },
      })
    }
  })
})
