import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { sql } from "kysely"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { defaultLimits } from "../../src/limits.ts"
import { removeUsage } from "../../src/storage/catalog/inference/completion-usage.ts"
import { usagePage } from "../../src/wire/inference/usage.ts"
import { type InferenceApp, openInferenceApp } from "../support/inference-app.ts"
import { call, chat } from "../support/inference-client.ts"
import { addModel, addProject } from "../support/test-catalog.ts"

let app: InferenceApp
const fake = new FakeEngine()
const model = "wandb-artifact:///acme/demo/m"

beforeAll(async () => {
  app = await openInferenceApp(fake, {
    limits: {
      ...defaultLimits,
      chat_prompts_per_user: 3,
      chat_prompts_per_project: 2,
      chat_choices_per_user: 1_000,
      chat_tokens_per_user: 1_000_000,
      chat_choices_total: 100,
      rollout_days: 1,
      rollout_turns: 100,
    },
  })
  await addModel(app.catalog.database, app.acme.projectId, "m")
  await addProject(app.catalog.database, app.acme.entityId, "other")
}, 60_000)
afterAll(() => app.close())

const rows = () => app.catalog.database.selectFrom("completion_usage").selectAll().orderBy("created_at").execute()
const usage = (query: string, key = "acme") => call(app, "GET", `/v1/organization/usage/completions?${query}`, { key })

describe("attribution (inference-api 1)", () => {
  test("the model's project, the header's, or the default one; a row is there with the answer", async () => {
    const header = { headers: { "openai-project": "acme/other" } }
    const answers = [
      await chat(app, { model, max_tokens: 2 }),
      await chat(app, { model, max_tokens: 2 }, header),
      await chat(app, { model: "heddle/tiny" }),
    ]
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200])
    const stored = await rows()
    expect(stored.map((row) => row.request_id)).toEqual(answers.map((answer) => answer.headers["x-request-id"]))
    expect(stored[0]).toMatchObject({
      api_key_id: app.acme.apiKeyId,
      user_id: app.acme.userId,
      project_id: app.acme.projectId,
      model,
      step: 0,
      base_model: "heddle/tiny",
      input_tokens: 3,
      input_cached_tokens: 1,
      output_tokens: 2,
    })
    expect(new Set(stored.map((row) => row.project_id)).size).toBe(3)
    expect(stored[2]).toMatchObject({ model_id: null, step: null, output_tokens: 8 })
  })

  test.each([
    ["プロジェクト 1", encodeURIComponent("プロジェクト 1")],
    ["50% off", "50% off"],
    ["a%20b", "a%20b"],
  ])("inference-api 1: the header names the project %s as %s", async (name, written) => {
    const projectId = await addProject(app.catalog.database, app.acme.entityId, name)
    const { status } = await chat(app, { model, max_tokens: 2 }, { headers: { "openai-project": `acme/${written}` } })
    expect([status, (await rows()).at(-1)?.project_id]).toEqual([200, projectId])
  })

  test.each(["acme/none", "rival/demo", "nobody/demo", "acme", "acme/demo/x"])(
    "a wrong header (%s) is 401",
    async (project) => {
      const { status, json } = await chat(app, { model }, { headers: { "openai-project": project } })
      expect([status, json.error.code]).toEqual([401, "invalid_api_key"])
      expect(json.error.message).toContain(`"${project}"`)
    },
  )

  test("a streamed answer has its row before it ends", async () => {
    const before = (await rows()).length
    await chat(app, { model, stream: true, max_tokens: 2 })
    expect(await rows()).toHaveLength(before + 1)
  })
})

describe("reading it back (inference-api 1)", () => {
  const start = 1_700_000_000 - (1_700_000_000 % 3600)

  beforeAll(async () => {
    const row = {
      api_key_id: app.rival.apiKeyId,
      user_id: app.rival.userId,
      project_id: app.rival.projectId,
      model_id: null,
      step: null,
      base_model: "b",
      input_cached_tokens: 1,
      request_id: "r",
    }
    const at = (seconds: number) => new Date((start + seconds) * 1000)
    await app.catalog.database
      .insertInto("completion_usage")
      .values([
        { ...row, model: "x", input_tokens: 10, output_tokens: 1, created_at: at(0) },
        { ...row, model: "y", input_tokens: 20, output_tokens: 2, created_at: at(59.9) },
        { ...row, model: "x", input_tokens: 40, output_tokens: 4, created_at: at(60) },
        { ...row, model: "x", input_tokens: 80, output_tokens: 8, created_at: at(200) },
      ])
      .execute()
  })

  test("buckets in order, empty ones too; end_time is not included", async () => {
    const { status, json } = await usage(`start_time=${start}&end_time=${start + 200}&bucket_width=1m`, "rival")
    expect(status).toBe(200)
    usagePage.parse(json)
    expect(
      json.data.map((bucket: { start_time: number; end_time: number }) => [
        bucket.start_time - start,
        bucket.end_time - start,
      ]),
    ).toEqual([
      [0, 60],
      [60, 120],
      [120, 180],
      [180, 240],
    ])
    const sums = json.data.map((bucket: { results: { input_tokens: number }[] }) =>
      bucket.results.map((result) => result.input_tokens),
    )
    expect(sums).toEqual([[30], [40], [], []])
    expect(json.data[0].results[0]).toEqual({
      object: "organization.usage.completions.result",
      input_tokens: 30,
      input_cached_tokens: 2,
      output_tokens: 3,
      num_model_requests: 2,
      project_id: null,
      user_id: null,
      api_key_id: null,
      model: null,
    })
  })

  test("grouped, in both spellings of a list, and filtered", async () => {
    const range = `start_time=${start}&end_time=${start + 3600}&bucket_width=1h`
    const grouped = await usage(`${range}&group_by[]=model&group_by[]=project_id`, "rival")
    const [bucket] = grouped.json.data
    const of = (name: string) => bucket.results.find((result: { model: string }) => result.model === name)
    expect(of("x")).toMatchObject({
      input_tokens: 130,
      num_model_requests: 3,
      project_id: "rival/demo",
      user_id: null,
    })
    expect(of("y")).toMatchObject({ input_tokens: 20, num_model_requests: 1 })
    const filtered = await usage(`${range}&models=y&project_ids=rival/demo&group_by=user_id`, "rival")
    expect(filtered.json.data[0].results).toMatchObject([{ input_tokens: 20, user_id: app.rival.userId, model: null }])
    expect((await usage(`${range}&project_ids=acme/demo`, "rival")).json.data[0].results).toEqual([])
  })

  test("pages join without gap or overlap", async () => {
    const query = `start_time=${start + 1}&end_time=${start + 300}&bucket_width=1m`
    const pages = []
    let page = ""
    for (;;) {
      const { json } = await usage(`${query}&limit=2${page}`, "rival")
      pages.push(json)
      if (!json.has_more) break
      page = `&page=${json.next_page}`
    }
    const starts = pages.flatMap((each) => each.data.map((bucket: { start_time: number }) => bucket.start_time - start))
    expect(starts).toEqual([0, 60, 120, 180, 240])
    const total = pages
      .flatMap((each) => each.data)
      .flatMap((bucket) => bucket.results)
      .reduce((sum, result) => sum + result.input_tokens, 0)
    // The row at second 0 is before start_time, and is not counted.
    expect(total).toBe(140)
    expect(pages.at(-1).next_page).toBeNull()
  })

  test("another tenant's usage is not there", async () => {
    const { json } = await usage(`start_time=${start}&end_time=${start + 3600}&bucket_width=1h`, "acme")
    expect(json.data[0].results).toEqual([])
  })

  test.each([
    ["", 422],
    ["start_time=x", 422],
    [`start_time=10&end_time=5`, 400],
    ["start_time=1&bucket_width=2d", 422],
    ["start_time=1&limit=99", 400],
    ["start_time=1&page=abc", 400],
    ["start_time=0&page=86400000000000000000", 400],
    ["start_time=1&group_by=color", 422],
  ])("%s is %i", async (query, status) => {
    expect((await usage(query)).status).toBe(status)
  })

  test.each(["", "start_time=yesterday"])("the error for %j says what a start_time is", async (query) => {
    expect((await usage(query)).json.error.message).toBe("query.start_time: seconds since 1970, such as 1767225600")
  })
})

test("training-api 1.6: over the limit is 429 with retry-after-ms, and room comes back", async () => {
  const gate = Promise.withResolvers<void>()
  const before = fake.handlers.chat
  fake.handlers.chat = async (params, each) => {
    await gate.promise
    return before?.(params, each)
  }
  const waiting = [chat(app, { model, max_tokens: 1 }), chat(app, { model, max_tokens: 1 })]
  await expect.poll(() => fake.calls.filter((each) => each.method === "chat").length).toBeGreaterThanOrEqual(2)
  const project = await chat(app, { model })
  expect([project.status, project.json.error.type, project.headers["retry-after-ms"]]).toEqual([
    429,
    "rate_limit_error",
    "1000",
  ])
  expect(project.json.error.message).toBe("Concurrency limit reached for requests: 2 at a time per project")
  waiting.push(chat(app, { model: "heddle/tiny" }))
  await expect
    .poll(async () => (await chat(app, { model: "heddle/tiny" })).json.error?.message)
    .toBe("Concurrency limit reached for requests: 3 at a time per user")
  gate.resolve()
  expect((await Promise.all(waiting)).map((answer) => answer.status)).toEqual([200, 200, 200])
  expect((await chat(app, { model, max_tokens: 1 })).status).toBe(200)
})

describe("several prompts and choices in one request (training-api 1.6, inference-api 11.4 rule 7)", () => {
  const complete = (body: object) => call(app, "POST", "/v1/completions", { body: { max_tokens: 1, ...body } })
  const prompts = (count: number) => Array.from({ length: count }, (_, index) => `prompt ${index}`)
  let sampling: number
  let most: number
  let gate: PromiseWithResolvers<void>
  beforeEach(() => {
    sampling = most = 0
    gate = Promise.withResolvers()
    const before = fake.handlers.chat
    fake.handlers.chat = async (params, each) => {
      most = Math.max(most, ++sampling)
      await gate.promise
      try {
        return await before?.(params, each)
      } finally {
        sampling -= 1
      }
    }
    return () => {
      gate.resolve()
      if (before !== undefined) fake.handlers.chat = before
    }
  })

  test("each prompt of a list counts as a request", async () => {
    const first = complete({ model, prompt: prompts(2) })
    await expect.poll(() => sampling).toBe(2)
    const second = await chat(app, { model })
    expect([second.status, second.json.error.message]).toEqual([
      429,
      "Concurrency limit reached for requests: 2 at a time per project",
    ])
    gate.resolve()
    expect((await first).status).toBe(200)
    expect((await chat(app, { model, max_tokens: 1 })).status).toBe(200)
  })

  test("streamed, they are sampled one after the other and count as one", async () => {
    const first = complete({ model, prompt: prompts(5), stream: true })
    await expect.poll(() => sampling).toBe(1)
    const second = chat(app, { model, max_tokens: 1 })
    await expect.poll(() => sampling).toBe(2)
    gate.resolve()
    expect([(await first).status, (await second).status]).toEqual([200, 200])
  })

  test("a list that is longer than the limit is served when it is alone, and else told the limit and the way out", async () => {
    const one = chat(app, { model, max_tokens: 1 })
    await expect.poll(() => sampling).toBe(1)
    const refused = await complete({ model, prompt: prompts(5) })
    expect([refused.status, refused.headers["retry-after-ms"], refused.json.error.message]).toEqual([
      429,
      "1000",
      "Concurrency limit reached for requests: 3 at a time per user, " +
        "and this one counts for its 5 prompts: try again later, or with fewer",
    ])
    gate.resolve()
    await one
    const alone = await complete({ model, prompt: prompts(5) })
    expect([alone.status, alone.json.choices.length, most]).toEqual([200, 5, 5])
  })

  test("choices count for the whole server, of chats too", async () => {
    const many = chat(app, { model, max_tokens: 1, n: 100 })
    await expect.poll(() => sampling).toBe(1)
    const refused = await chat(app, { model, n: 2 })
    expect([refused.status, refused.json.error.code, refused.json.error.message]).toEqual([
      503,
      "engine_overloaded",
      "this server has 100 of 100 choices in progress, and leaves 0 more to you, " +
        "and this one counts for its 2 choices: try again later, or with fewer",
    ])
    gate.resolve()
    expect((await many).status).toBe(200)
    expect((await chat(app, { model, max_tokens: 1, n: 128 })).status).toBe(200)
  })

  test("the largest request has at most 256 choices sampled at a time, and its answers come in order", async () => {
    gate.resolve()
    const { status, json } = await complete({ model, prompt: prompts(9), n: 100 })
    expect([status, most]).toEqual([200, 2])
    expect(json.choices.map((choice: { index: number }) => choice.index)).toEqual([...Array(900).keys()])
    expect(json.usage.completion_tokens).toBe(900)
  })
})

test("inference-api 1: usage is removed at the end of its time, however much there is", async () => {
  const { database } = app.catalog
  const { signal } = new AbortController()
  await removeUsage(database, 29, signal)
  const kept = (await rows()).length
  await sql`insert into completion_usage (request_id, created_at, api_key_id, user_id, project_id, model, base_model,
      input_tokens, input_cached_tokens, output_tokens)
    select 'old', now() - interval '30 days', ${app.acme.apiKeyId}, ${app.acme.userId}, ${app.acme.projectId}, 'm', 'm', 1, 0, 1
    from generate_series(1, 5001)`.execute(database)
  expect(await removeUsage(database, 31, signal)).toBe(0)
  expect(await removeUsage(database, 29, signal)).toBe(5001)
  expect(await rows()).toHaveLength(kept)
})

test("training-api 4.3: a checkpoint counts as used as soon as its name is looked up", async () => {
  const { id } = await app.catalog.database.selectFrom("models").select("id").executeTakeFirstOrThrow()
  const { directory, adapters } = app.gateway
  const removals: string[] = []
  const remove = async () => {
    for (let turns = 0; turns < 10; turns++) await Promise.resolve()
    await adapters.afterUse(id, 0, () => Promise.resolve(void removals.push("removed")))
  }
  // Whoever deletes it comes between the look-up and what is read of the rollout.
  const lookUp = vi.spyOn(directory, "resolve").mockImplementationOnce(async (...named) => {
    lookUp.mockRestore()
    const served = await directory.resolve(...named)
    void remove()
    return served
  })
  const before = fake.handlers.chat
  fake.handlers.chat = async (params, each) => {
    removals.push("sampled")
    return before?.(params, each)
  }
  const headers = { "x-heddle-rollout-id": "deleted-meanwhile" }
  expect((await chat(app, { model, max_tokens: 1 }, { headers })).status).toBe(200)
  expect(removals).toEqual(["sampled", "removed"])
})

test("training-api 4.3: a checkpoint counts as used from admission until the answer is given", async () => {
  const began = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const before = fake.handlers.chat
  fake.handlers.chat = async (params, each) => {
    began.resolve()
    await gate.promise
    return before?.(params, each)
  }
  const answer = chat(app, { model, max_tokens: 1 })
  await began.promise
  let removed = false
  const { id } = await app.catalog.database.selectFrom("models").select("id").executeTakeFirstOrThrow()
  await app.gateway.adapters.afterUse(id, 0, () => Promise.resolve(void (removed = true)))
  expect(removed).toBe(false)
  gate.resolve()
  expect((await answer).status).toBe(200)
  expect(removed).toBe(true)
})
