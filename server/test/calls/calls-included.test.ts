/** Costs, feedback, usernames and values of refs in queries of calls; and threads. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { threadRecord } from "../../src/wire/calls/thread.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { type StoredCall, storeCalls } from "../support/stored-calls.ts"

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
    const costs = a?.summary.weave["costs"] as Record<string, object>
    expect(Object.keys(costs)).toEqual(["mine"])
    expect(costs["mine"]).toEqual({
      requests: 0,
      prompt_tokens: 10,
      completion_tokens: 2,
      total_tokens: 12,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      prompt_token_cost: 0.5,
      completion_token_cost: 2,
      cache_read_input_token_cost: 0,
      cache_creation_input_token_cost: 0,
      prompt_tokens_total_cost: 5,
      completion_tokens_total_cost: 4,
      cache_read_input_tokens_total_cost: 0,
      cache_creation_input_tokens_total_cost: 0,
      prompt_token_cost_unit: "USD",
      completion_token_cost_unit: "USD",
      effective_date: expect.stringMatching(/^2026-01-01T00:00:00/),
      provider_id: "default",
      pricing_level: "project",
      pricing_level_id: project,
      created_at: expect.any(String),
      created_by: expect.any(String),
    })
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
    expect(Object.keys((a?.summary.weave["feedback"] as object[] | undefined)?.[0] ?? {}).toSorted()).toEqual(
      `annotation_ref call_ref created_at creator feedback_type id payload runnable_ref trigger_ref
        wb_user_id weave_ref`.split(/\s+/),
    )
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

  test("a ref becomes its value with _ref, deeper paths go through it, and a value that is no object stays", async () => {
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

  test("a value that is no object has no _ref; refs of tables and calls stay", async () => {
    const made = await posted<{ digest: string }>("/obj/create", {
      obj: { project_id: project, object_id: "list", val: ["x", 1.5] },
    })
    const table = await posted<{ digest: string }>("/table/create", {
      table: { project_id: project, rows: [{ q: 1 }] },
    })
    const inputs = {
      list: `weave:///${project}/object/list:${made.digest}`,
      table: `weave:///${project}/table/${table.digest}`,
      call: `weave:///${project}/call/a`,
    }
    await storeCalls(opened.app, project, [call("e", { inputs: JSON.stringify(inputs) })])
    const expand_columns = ["inputs.list", "inputs.table", "inputs.call", "inputs.nowhere"]
    const [e] = await stream(project, { expand_columns, filter: { call_ids: ["e"] } })
    expect(e?.["inputs"]).toEqual({ ...inputs, list: ["x", 1.5] })
  })

  test("rows of datasets are looked into by the paths that lead there", async () => {
    const table = await posted<{ digest: string; row_digests: string[] }>("/table/create", {
      table: { project_id: project, rows: [{ q: "first" }, { q: "second" }] },
    })
    const { digest } = await posted<{ digest: string }>("/obj/create", {
      obj: {
        project_id: project,
        object_id: "examples",
        val: { _type: "Dataset", _bases: ["Object"], rows: `weave:///${project}/table/${table.digest}` },
      },
    })
    const calls = table.row_digests.map((row, index) =>
      call(`row${index}`, {
        inputs: JSON.stringify({ example: `weave:///${project}/object/examples:${digest}/attr/rows/id/${row}` }),
      }),
    )
    await storeCalls(opened.app, project, calls)
    const through = { expand_columns: ["inputs.example"], filter: { call_ids: ["row0", "row1"] } }
    const query = { $expr: { $eq: [{ $getField: "inputs.example.q" }, { $literal: "second" }] } }
    const found = await stream(project, { ...through, query })
    expect(found.map(({ inputs }) => inputs)).toMatchObject([{ example: { q: "second" } }])
    const sort_by = [{ field: "inputs.example.q", direction: "desc" }]
    expect(await idsOf(project, { ...through, return_expanded_column_values: false, sort_by })).toBe("row1 row0")
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
      { ...turn("free", "", 31, 1), thread_id: null },
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

  test.each([
    ["thread_id", "a b c", "c b a"],
    ["turn_count", "b c a", "a b c"],
    ["start_time", "a c b", "b c a"],
    ["last_updated", "c a b", "b a c"],
    ["p50_turn_duration_ms", "c a b", "a c b"],
    ["p99_turn_duration_ms", "c a b", "a c b"],
  ])("sorted by %s: ties by name, running threads last by their durations", async (field, up, down) => {
    const sorted = async (direction: string) =>
      (await threads({ sort_by: [{ field, direction }] })).map((thread) => thread.thread_id).join(" ")
    expect([await sorted("asc"), await sorted("desc")]).toEqual([up, down])
  })

  test("filters and pages", async () => {
    const names = async (request: object) => (await threads(request)).map((thread) => thread.thread_id).join(" ")
    expect(await names({ filter: { thread_ids: ["c", "a"] } })).toBe("a c")
    expect(await names({ filter: { thread_ids: [] } })).toBe("b a c")
    expect(await names({ filter: { after_datetime: "2026-01-02T03:04:04Z" } })).toBe("b a")
    expect(await names({ filter: { before_datetime: "2026-01-02T03:04:02+00:00" } })).toBe("a")
    expect(await names({ sort_by: [{ field: "turn_count", direction: "desc" }], limit: 1 })).toBe("a")
    expect(await names({ limit: 1, offset: 1 })).toBe("a")
    for (const request of [{ sort_by: [{ field: "secret" }] }, { limit: -1 }, { filter: { after_datetime: "soon" } }]) {
      expect((await opened.acme.post("/threads/stream_query", { project_id: project, ...request })).status).toBe(400)
    }
    expect((await opened.rival.post("/threads/stream_query", { project_id: project })).status).toBe(403)
  })
})
