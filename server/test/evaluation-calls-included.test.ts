/** What a calls query adds to its rows, and what it looks through: costs, feedback, names, refs. And threads. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { threadRecord } from "../src/wire/evaluation/thread.ts"
import { type EvaluationApp, openEvaluationApp } from "./support/evaluation-app.ts"
import { type StoredCall, storeCalls } from "./support/stored-calls.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

type Line = Record<string, unknown> & { id: string; summary: { weave: Record<string, unknown> } }

const stream = async (project_id: string, request: object = {}) =>
  (await opened.acme.lines("/calls/stream_query", { project_id, ...request })) as Line[]
const idsOf = async (project_id: string, request: object) =>
  (await stream(project_id, request)).map(({ id }) => id).join(" ")

function call(id: string, changes: Partial<StoredCall> = {}): StoredCall {
  return {
    id,
    trace_id: id,
    op_name: "op",
    started_at: "2026-01-02 03:04:05.000000",
    ended_at: "2026-01-02 03:04:06.000000",
    inputs: "{}",
    attributes: "{}",
    output: "null",
    summary: "{}",
    ...changes,
  }
}

async function projectWith(...calls: StoredCall[]): Promise<string> {
  const project = opened.acme.newProject()
  await storeCalls(opened.app, project, calls)
  return project
}

async function posted<T>(path: string, body: object): Promise<T> {
  const answer = await opened.acme.post(path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.body as T
}

describe("calls 3.2: costs", () => {
  test("a project's price, spliced beside the summary as it came; models without a price have none", async () => {
    const usage = '{"usage":{"mine":{"prompt_tokens":10,"completion_tokens":2},"none-such":{"requests":1}}, "x":1.0}'
    const project = await projectWith(call("a", { summary: usage }), call("b"))
    const price = { prompt_token_cost: 0.5, completion_token_cost: 2, effective_date: "2026-01-01T00:00:00Z" }
    await posted("/cost/create", { project_id: project, costs: { mine: price } })
    const [a, b] = await stream(project, { include_costs: true })
    expect(a?.summary.weave["costs"]).toMatchObject({
      mine: {
        prompt_tokens: 10,
        prompt_tokens_total_cost: 5,
        completion_tokens_total_cost: 4,
        pricing_level: "project",
        pricing_level_id: project,
      },
    })
    expect(Object.keys(a?.summary.weave["costs"] as object)).toEqual(["mine"])
    expect(b?.summary.weave).not.toHaveProperty("costs")
    const read = await opened.acme.post("/call/read", { project_id: project, id: "a", include_costs: true })
    expect(read.text).toContain('"x":1.0,"weave":{')
    expect(read.text).toContain('"prompt_tokens_total_cost":5')
  })
})

describe("calls 3.2, 3.6: feedback", () => {
  let project: string
  beforeAll(async () => {
    project = await projectWith(call("a"), call("b"), call("c"))
    const give = (id: string, feedback_type: string, payload: object) =>
      posted("/feedback/create", {
        project_id: project,
        weave_ref: `weave:///${project}/call/${id}`,
        feedback_type,
        payload,
      })
    await give("a", "score", { value: 1.5, label: "good" })
    await give("b", "score", { value: 9 })
    await give("b", "score", { value: 0.5 })
    await give("b", "other", { label: "odd" })
  })

  test("all of a call's feedback, oldest first; an empty list without any", async () => {
    const [a, b, c] = await stream(project, { include_feedback: true })
    expect(a?.summary.weave["feedback"]).toMatchObject([
      { feedback_type: "score", payload: { value: 1.5, label: "good" }, weave_ref: `weave:///${project}/call/a` },
    ])
    const ofB = b?.summary.weave["feedback"] as { payload: object }[]
    expect(ofB.map((one) => one.payload)).toEqual([{ value: 9 }, { value: 0.5 }, { label: "odd" }])
    expect(c?.summary.weave["feedback"]).toEqual([])
  })

  test("in filters and sorts the newest of a type; * is any", async () => {
    const where = (expression: unknown) => idsOf(project, { query: { $expr: expression } })
    const field = (path: string) => ({ $getField: path })
    expect(await where({ $gt: [field("feedback.[score].payload.value"), { $literal: 1 }] })).toBe("a")
    expect(await where({ $not: [{ $gt: [field("feedback.[score].payload.value"), { $literal: 1 }] }] })).toBe("b")
    expect(await where({ $eq: [field("feedback.[*].payload.label"), { $literal: "odd" }] })).toBe("b")
    expect(await where({ $eq: [field("feedback.[score].payload.value"), { $literal: null }] })).toBe("c")
    expect(await where({ $eq: [field("feedback.[score].runnable_ref"), { $literal: "x" }] })).toBe("")
    const sort_by = [{ field: "feedback.[score].payload.value", direction: "asc" }]
    expect(await idsOf(project, { sort_by })).toBe("b a c")
    for (const path of ["feedback.score", "feedback.[score]", "feedback.[score].secret"]) {
      const { status } = await opened.acme.post("/calls/query_stats", {
        project_id: project,
        query: { $expr: { $eq: [field(path), { $literal: 1 }] } },
      })
      expect(status).toBe(422)
    }
  })
})

describe("calls 3.4: usernames", () => {
  test("the name of the user who made the call; null for one that is not known", async () => {
    const { users } = { users: opened.app.stores.catalog }
    const acme = await users.selectFrom("users").select("id").where("username", "=", "acme").executeTakeFirstOrThrow()
    const project = await projectWith(call("a", { wb_user_id: acme.id }), call("b", { wb_user_id: "somebody" }))
    const lines = await stream(project, { include_usernames: true })
    expect(lines.map((line) => line["wb_username"])).toEqual(["acme", null])
    expect((await stream(project))[0]).not.toHaveProperty("wb_username")
  })
})

describe("calls 3.9: expand_columns", () => {
  let project: string
  let model: string
  beforeAll(async () => {
    project = await projectWith(call("seed"))
    const publish = async (object_id: string, val: unknown) => {
      const { digest } = await posted<{ digest: string }>("/obj/create", {
        obj: { project_id: project, object_id, val },
      })
      return `weave:///${project}/object/${object_id}:${digest}`
    }
    const inner = await publish("inner", { depth: 2, name: "inside" })
    model = await publish("model", { name: "large", temperature: 1, inner })
    const small = await publish("small", { name: "small", temperature: 0 })
    await storeCalls(opened.app, project, [
      call("a", { inputs: `{"before":1.0,"model":"${model}","after":2}` }),
      call("b", { inputs: `{"model":"${small}"}` }),
      call("c", { inputs: '{"model":"plain"}' }),
      call("d", { inputs: `{"model":"weave:///${project}/object/gone:latest"}` }),
    ])
  })

  test("a ref becomes its value with _ref; deeper paths lead through it; what is no object stays", async () => {
    const columns = { expand_columns: ["inputs.model.inner", "inputs.model"], filter: { call_ids: ["a", "c", "d"] } }
    const [a, c, d] = await stream(project, columns)
    expect(a?.["inputs"]).toMatchObject({
      before: 1,
      model: { name: "large", _ref: model, inner: { depth: 2, name: "inside" } },
      after: 2,
    })
    expect(c?.["inputs"]).toEqual({ model: "plain" })
    expect(d?.["inputs"]).toEqual({ model: `weave:///${project}/object/gone:latest` })
    const { text } = await opened.acme.post("/calls/stream_query", { project_id: project, ...columns })
    expect(text).toContain('"inputs":{"before":1.0,"model":{')
  })

  test("filters and sorts look through the refs, and the answer stays as it is when asked so", async () => {
    const through = { expand_columns: ["inputs.model"], return_expanded_column_values: false }
    const query = { $expr: { $eq: [{ $getField: "inputs.model.name" }, { $literal: "large" }] } }
    const found = await stream(project, { ...through, query })
    expect(found.map(({ id }) => id)).toEqual(["a"])
    expect(found[0]?.["inputs"]).toMatchObject({ model })
    const sort_by = [{ field: "inputs.model.temperature", direction: "asc" }]
    expect((await idsOf(project, { ...through, sort_by })).slice(0, 3)).toBe("b a")
    expect(
      await posted("/calls/query_stats", { project_id: project, expand_columns: ["inputs.model"], query }),
    ).toMatchObject({ count: 1 })
    const deep = { $expr: { $eq: [{ $getField: "inputs.model.inner.depth" }, { $literal: 2 }] } }
    expect(await idsOf(project, { expand_columns: ["inputs.model", "inputs.model.inner"], query: deep })).toBe("a")
    expect(await idsOf(project, { query })).toBe("")
  })
})

describe("calls 5: threads", () => {
  const turn = (id: string, thread_id: string, second: number, seconds: number | null) =>
    call(id, {
      thread_id,
      turn_id: id,
      started_at: `2026-01-02 03:04:${String(second).padStart(2, "0")}.000000`,
      ended_at: seconds === null ? null : `2026-01-02 03:04:${String(second + seconds).padStart(2, "0")}.500000`,
    })
  let project: string
  beforeAll(async () => {
    project = await projectWith(
      turn("a1", "a", 1, 1),
      turn("a2", "a", 5, 3),
      { ...turn("x", "a", 7, 1), turn_id: "a2" },
      turn("b1", "b", 20, null),
      turn("none", "", 30, 1),
      turn("c1", "c", 2, 0),
    )
  })
  const threads = async (request: object = {}) =>
    (await opened.acme.lines("/threads/stream_query", { project_id: project, ...request })).map((line) =>
      threadRecord.strict().parse(line),
    )

  test("only turns count; latest first; running threads have no durations", async () => {
    expect(await threads()).toEqual([
      {
        thread_id: "b",
        turn_count: 1,
        start_time: "2026-01-02T03:04:20.000000Z",
        last_updated: "2026-01-02T03:04:20.000000Z",
        first_turn_id: "b1",
        last_turn_id: "b1",
        p50_turn_duration_ms: null,
        p99_turn_duration_ms: null,
      },
      {
        thread_id: "a",
        turn_count: 2,
        start_time: "2026-01-02T03:04:01.000000Z",
        last_updated: "2026-01-02T03:04:08.500000Z",
        first_turn_id: "a1",
        last_turn_id: "a2",
        p50_turn_duration_ms: 2500,
        p99_turn_duration_ms: 3480,
      },
      expect.objectContaining({ thread_id: "c", p50_turn_duration_ms: 500 }),
    ])
  })

  test("filters, sorts and pages", async () => {
    const names = async (request: object) => (await threads(request)).map((thread) => thread.thread_id).join(" ")
    expect(await names({ filter: { thread_ids: ["c", "a"] } })).toBe("a c")
    expect(await names({ filter: { thread_ids: [] } })).toBe("b a c")
    expect(await names({ filter: { after_datetime: "2026-01-02T03:04:04Z" } })).toBe("b a")
    expect(await names({ filter: { before_datetime: "2026-01-02T03:04:02+00:00" } })).toBe("a")
    expect(await names({ sort_by: [{ field: "thread_id", direction: "asc" }] })).toBe("a b c")
    expect(await names({ sort_by: [{ field: "turn_count", direction: "desc" }], limit: 1 })).toBe("a")
    expect(await names({ limit: 1, offset: 1 })).toBe("a")
    for (const request of [{ sort_by: [{ field: "secret" }] }, { limit: -1 }, { filter: { after_datetime: "soon" } }]) {
      expect((await opened.acme.post("/threads/stream_query", { project_id: project, ...request })).status).toBe(400)
    }
    expect((await opened.rival.post("/threads/stream_query", { project_id: project })).status).toBe(403)
  })
})
