import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { feedbackBatchCreated, feedbackCreated, feedbackPage } from "../../src/wire/labelling/feedback.ts"
import { newQueue } from "../support/annotation-queues.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { callRef, createdFeedback, feedbackItem as item, foundFeedback } from "../support/feedback-items.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

type Fields = Record<string, unknown>
const created = (project: string, fields: Fields = {}) => createdFeedback(opened.acme, project, fields)
const query = (project: string, fields: Fields = {}) => foundFeedback(opened.acme, project, fields)

describe("objects 5: batch, purge, replace", () => {
  test("a batch answers in order and writes everything or nothing", async () => {
    const project = opened.acme.newProject()
    const batch = ["c", "a", "b"].map((id) => item(project, { id }))
    const answer = await opened.acme.post("/feedback/batch/create", { batch })
    expect(
      feedbackBatchCreated
        .strict()
        .parse(answer.body)
        .res.map(({ id }) => id),
    ).toEqual(["c", "a", "b"])
    expect((await query(project, { fields: ["id"] })).result).toEqual([{ id: "c" }, { id: "a" }, { id: "b" }])
    const broken = [item(project, { id: "d" }), item(project, { feedback_type: "wandb.note.1", payload: {} })]
    expect((await opened.acme.post("/feedback/batch/create", { batch: broken })).status).toBe(400)
    expect((await query(project)).total_count).toBe(3)
    const again = await opened.acme.post("/feedback/batch/create", { batch })
    expect(again.body).toEqual(answer.body)
    const twice = [item(project, { id: "e" }), item(project, { id: "e" })]
    expect((await opened.acme.post("/feedback/batch/create", { batch: twice })).status).toBe(200)
    expect((await query(project)).total_count).toBe(4)
  })

  test("an empty batch", async () => {
    expect(await opened.acme.post("/feedback/batch/create", { batch: [] })).toMatchObject({
      status: 200,
      body: { res: [] },
    })
  })

  const idIs = (id: unknown) => ({ $eq: [{ $getField: "id" }, { $literal: id }] })
  const purge = (project: string, expression: unknown) =>
    opened.acme.post("/feedback/purge", { project_id: project, query: { $expr: expression } })

  test("purge deletes by id, and the id may be used again", async () => {
    const project = opened.acme.newProject()
    for (const id of ["a", "b", "c"]) await created(project, { id })
    expect(await purge(project, idIs("a"))).toMatchObject({ status: 200, body: {} })
    expect(await purge(project, { $or: [idIs("b"), idIs("unknown")] })).toMatchObject({ status: 200 })
    expect((await query(project)).result.map(({ id }) => id)).toEqual(["c"])
    await created(project, { id: "a", payload: { again: true } })
    expect((await query(project)).total_count).toBe(2)
  })

  test.each([
    [{ $in: [{ $getField: "id" }, [{ $literal: "a" }]] }],
    [{ $eq: [{ $getField: "creator" }, { $literal: "a" }] }],
    [{ $not: [idIs("a")] }],
    [{ $or: [] }],
    [{ $or: [idIs("a"), { $gt: [{ $getField: "id" }, { $literal: "" }] }] }],
    [idIs(7)],
    [{ $eq: [{ $literal: "a" }, { $getField: "id" }] }],
  ])("purge by anything else is 400: %j", async (expression) => {
    const project = opened.acme.newProject()
    await created(project, { id: "a" })
    expect(await purge(project, expression)).toMatchObject({ status: 400, body: { error_type: "InvalidRequest" } })
    expect((await query(project)).total_count).toBe(1)
  })

  test("replace puts the new row in the place of the old one, or leaves the old one alone", async () => {
    const project = opened.acme.newProject()
    const { id } = await created(project)
    const replace = (fields: object) => opened.acme.post("/feedback/replace", { ...item(project), ...fields })
    expect((await replace({ feedback_id: id, feedback_type: "wandb.note.1", payload: {} })).status).toBe(400)
    expect((await query(project)).result).toMatchObject([{ id }])
    const answer = feedbackCreated.strict().parse((await replace({ feedback_id: id, payload: { v: 2 } })).body)
    expect(answer.id).not.toBe(id)
    expect((await query(project)).result).toMatchObject([{ id: answer.id, payload: { v: 2 } }])
    await replace({ feedback_id: answer.id, id: answer.id, payload: { v: 3 } })
    expect((await query(project)).result).toMatchObject([{ id: answer.id, payload: { v: 3 } }])
    expect((await replace({ feedback_id: "unknown", id: "new" })).status).toBe(200)
    expect((await query(project)).total_count).toBe(2)
  })

  test("law 2: the same replacement again finds what the first one stored", async () => {
    const project = opened.acme.newProject()
    const { id } = await created(project)
    const replace = (payload: object, feedback_id = id) =>
      opened.acme.post("/feedback/replace", { ...item(project), feedback_id, payload })
    const first = feedbackCreated.strict().parse((await replace({ v: 2 })).body)
    expect((await replace({ v: 2 })).body).toEqual(first)
    expect((await query(project)).result).toMatchObject([{ id: first.id, payload: { v: 2 } }])
    const second = feedbackCreated.strict().parse((await replace({ v: 2 }, first.id)).body)
    expect(second.id).not.toBe(first.id)
    expect((await query(project)).result).toMatchObject([{ id: second.id }])
    const other = feedbackCreated.strict().parse((await replace({ v: 3 }, second.id)).body)
    expect((await query(project)).result).toMatchObject([{ id: other.id, payload: { v: 3 } }])
  })
})

describe("objects 2.4: query", () => {
  const project = "acme/queries"
  const payloads = [
    { score: 1, label: "a", nested: { list: ["x", { y: 2 }] }, ok: true },
    { score: 0.5, label: "b", ok: false },
    { score: "2", label: null },
    { "a.b": 1 },
  ]
  beforeAll(async () => {
    for (const [index, payload] of payloads.entries()) {
      await created(project, { id: `f${index}`, payload, creator: index === 0 ? null : `c${index}` })
    }
  })

  const ids = async (fields: Record<string, unknown>) => (await query(project, fields)).result.map(({ id }) => id)
  const where = (expression: unknown) => ids({ query: { $expr: expression } })
  const field = (name: string) => ({ $getField: name })
  const literal = (value: unknown) => ({ $literal: value })

  test("payload paths come as text under their own name", async () => {
    const fields = [
      "payload.score",
      "payload.ok",
      "payload.nested.list.1.y",
      "payload.label",
      "payload.a\\.b",
      "payload.none",
    ]
    expect((await query(project, { fields })).result).toEqual([
      {
        "payload.score": "1",
        "payload.ok": "true",
        "payload.nested.list.1.y": "2",
        "payload.label": "a",
        "payload.a\\.b": null,
        "payload.none": null,
      },
      {
        "payload.score": "0.5",
        "payload.ok": "false",
        "payload.nested.list.1.y": null,
        "payload.label": "b",
        "payload.a\\.b": null,
        "payload.none": null,
      },
      {
        "payload.score": "2",
        "payload.ok": null,
        "payload.nested.list.1.y": null,
        "payload.label": null,
        "payload.a\\.b": null,
        "payload.none": null,
      },
      {
        "payload.score": null,
        "payload.ok": null,
        "payload.nested.list.1.y": null,
        "payload.label": null,
        "payload.a\\.b": "1",
        "payload.none": null,
      },
    ])
    expect((await query(project, { fields: ["payload.nested"], limit: 1 })).result).toEqual([
      { "payload.nested": '{"list":["x",{"y":2}]}' },
    ])
  })

  test("objects 2.3, 2.4: every column, asked for by its name or by none; ratings and states are any", async () => {
    const other = opened.acme.newProject()
    const ref = `weave:///${other}/object/judge:abc`
    const sent = {
      id: "whole",
      weave_ref: `weave:///${other}/agent_turn/t1`,
      creator: "Ann",
      feedback_type: "wandb.agent_monitor",
      payload: { v: 1 },
      runnable_ref: ref,
      call_ref: callRef(other),
      trigger_ref: ref,
      queue_id: await newQueue(opened.acme, other),
      scorer_tags: ["good"],
      scorer_tag_reasons: { good: "short" },
      scorer_tag_confidences: { good: 2 },
      scorer_ratings: { r: -1 },
      scorer_rating_reasons: { r: "long" },
      scorer_rating_confidences: { r: 0.5 },
      span_agent_name: "bot",
      span_agent_version: "2",
      span_status_code: "LOST",
      span_conversation_id: "c1",
      span_trace_id: "t1",
      scorer_trace_id: "s1",
    }
    const { created_at, wb_user_id } = await created(other, sent)
    const row = { ...sent, project_id: other, wb_user_id, created_at, annotation_ref: null }
    for (const fields of [null, [], Object.keys(row)]) {
      expect(await query(other, { fields })).toEqual({ result: [row], total_count: 1 })
    }
    const free = await created(other, { weave_ref: "whatever this is" })
    expect((await query(other, { fields: ["id", "weave_ref"], offset: 1 })).result).toEqual([
      { id: free.id, weave_ref: "whatever this is" },
    ])
  })

  test("count(*), with and without a condition, and alone", async () => {
    const beside = await opened.acme.post("/feedback/query", { project_id: project, fields: ["count(*)", "id"] })
    expect([beside.status, beside.body]).toMatchObject([400, { error_type: "ValueError" }])
    expect(await query(project, { fields: ["count(*)"] })).toEqual({ result: [{ "count(*)": 4 }], total_count: 4 })
    const one = { $expr: { $eq: [field("id"), literal("f1")] } }
    expect((await query(project, { fields: ["count(*)"], query: one })).result).toEqual([{ "count(*)": 1 }])
  })

  test("limit and offset cut the page, total_count does not", async () => {
    expect(await query(project, { limit: 2, offset: 1, fields: ["id"] })).toEqual({
      result: [{ id: "f1" }, { id: "f2" }],
      total_count: 4,
    })
    expect(await query(project, { limit: 0 })).toEqual({ result: [], total_count: 4 })
    expect(await query(project, { offset: 9 })).toEqual({ result: [], total_count: 4 })
    for (const range of [{ limit: -1 }, { offset: -1 }]) {
      expect((await opened.acme.post("/feedback/query", { project_id: project, ...range })).status).toBe(400)
    }
  })

  test("objects 11: conditions on columns and payload", async () => {
    expect(await where({ $eq: [field("creator"), literal("c2")] })).toEqual(["f2"])
    expect(await where({ $eq: [field("creator"), literal(null)] })).toEqual(["f0"])
    expect(await where({ $gt: [field("payload.score"), literal(0.6)] })).toEqual(["f0", "f2"])
    expect(await where({ $eq: [field("payload.ok"), literal(true)] })).toEqual(["f0"])
    expect(await where({ $not: [{ $eq: [field("payload.ok"), literal(true)] }] })).toEqual(["f1"])
    expect(await where({ $in: [field("id"), [literal("f3"), literal("x")]] })).toEqual(["f3"])
    expect(await where({ $eq: [field("project_id"), literal(project)] })).toHaveLength(4)
    expect(await where({ $gt: [field("created_at"), literal("2020-01-01")] })).toHaveLength(4)
    expect(await where({ $lt: [field("created_at"), literal(1_577_836_800)] })).toEqual([])
    expect(
      await where({ $contains: { input: field("weave_ref"), substr: literal("/CALL/"), case_insensitive: true } }),
    ).toHaveLength(4)
  })

  test.each([
    [{ $eq: [field("id"), literal("c2")] }, { more: 1 }, 422],
    [field("id"), {}, 422],
    [{ $not: [{ $eq: [literal(1), literal(1)] }, { $eq: [literal(1), literal(1)] }] }, {}, 422],
    [{ $eq: [field("id")] }, {}, 422],
    [{ $like: [field("id"), literal("c2")] }, {}, 422],
    [{ $and: [] }, {}, 400],
    [{ $or: [] }, {}, 400],
    [{ $eq: [field("id"), literal([1])] }, {}, 400],
    [{ $eq: [field("id"), literal({ a: 1 })] }, {}, 400],
  ])("objects 11: %j with %j beside it is %i, of feedback and of prices", async ($expr, beside, status) => {
    const body = status === 422 ? { detail: [{ loc: ["body", "query"] }] } : { reason: expect.any(String) }
    for (const url of ["/feedback/query", "/cost/query"]) {
      const answer = await opened.acme.post(url, { project_id: project, query: { $expr, ...beside } })
      const shown = answer.body as { detail?: { loc: unknown[] }[] }
      const issues = shown.detail?.slice(0, 1).map(({ loc }) => ({ loc: loc.slice(0, 2) }))
      expect([url, answer.status, { ...shown, detail: issues }]).toMatchObject([url, status, body])
    }
  })

  test("objects 11: one operand, conversions, and $not of what is missing", async () => {
    expect(await where({ $and: [literal(true)] })).toHaveLength(4)
    expect(await where({ $or: [{ $lte: [field("payload.score"), literal(0.5)] }] })).toEqual(["f1"])
    const converted = (to: string) => ({ $convert: { input: field("payload.score"), to } })
    expect(await where({ $eq: [converted("int"), literal(2)] })).toEqual(["f2"])
    expect(await where({ $not: [converted("exists")] })).toEqual(["f3"])
    expect(await where({ $not: [{ $gt: [field("payload.score"), literal(0.6)] }] })).toEqual(["f1"])
  })

  test("law 3: whole numbers past 2^53 are compared exactly", async () => {
    const other = opened.acme.newProject()
    for (const n of ["9007199254740992", "9007199254740993"]) {
      await opened.acme.post(
        "/feedback/create",
        JSON.stringify(item(other, { id: n, payload: {} })).replace("{}", `{"n":${n}}`),
      )
    }
    const expression = '{"$eq":[{"$getField":"payload.n"},{"$literal":9007199254740993}]}'
    const answer = await opened.acme.post(
      "/feedback/query",
      `{"project_id":"${other}","query":{"$expr":${expression}}}`,
    )
    expect(feedbackPage.parse(answer.body).result.map(({ id }) => id)).toEqual(["9007199254740993"])
  })

  test("sorting: present before absent, numbers before text, then id", async () => {
    const by = (name: string, direction: string) => ids({ sort_by: [{ field: name, direction }] })
    expect(await by("payload.score", "asc")).toEqual(["f1", "f0", "f2", "f3"])
    expect(await by("payload.score", "desc")).toEqual(["f2", "f0", "f1", "f3"])
    expect(await by("id", "desc")).toEqual(["f3", "f2", "f1", "f0"])
    const two = [
      { field: "payload.ok", direction: "asc" },
      { field: "id", direction: "desc" },
    ]
    expect((await ids({ sort_by: two })).slice(2)).toEqual(["f3", "f2"])
    expect(await ids({ sort_by: [{ field: "feedback_type" }] })).toEqual(["f0", "f1", "f2", "f3"])
  })

  test.each([["nonsense"], ["weave_ref.a"], ["payloads.a"], ["scorer_ratings."], ["content_digest"], ["is_deleted"]])(
    "an unknown field is 400 wherever it stands: %s",
    async (name) => {
      const unknown = { status: 400, body: { error_type: "ValueError", reason: `Unknown field: ${name}` } }
      for (const fields of [
        { fields: [name] },
        { sort_by: [{ field: name, direction: "asc" }] },
        { query: { $expr: { $eq: [field(name), literal("x")] } } },
      ]) {
        expect(await opened.acme.post("/feedback/query", { project_id: project, ...fields })).toMatchObject(unknown)
      }
    },
  )

  test("a key of a map column comes with its type", async () => {
    const other = opened.acme.newProject()
    const scorer = `weave:///${other}/object/judge:abc`
    const scores = { scorer_ratings: { "a.b": 0.25 }, scorer_tags: ["good"], scorer_rating_reasons: { "a.b": "why" } }
    await created(other, {
      feedback_type: "wandb.runnable.judge",
      runnable_ref: scorer,
      payload: { output: 1 },
      ...scores,
    })
    const fields = ["scorer_ratings.a.b", "scorer_rating_reasons.a.b", "scorer_ratings.c"]
    expect((await query(other, { fields })).result).toEqual([
      { "scorer_ratings.a.b": 0.25, "scorer_rating_reasons.a.b": "why", "scorer_ratings.c": null },
    ])
    const tagged = { $contains: { input: field("scorer_tags"), substr: literal("good") } }
    expect((await query(other, { query: { $expr: tagged } })).total_count).toBe(1)
    const rated = { $gte: [field("scorer_ratings.a.b"), literal(0.3)] }
    expect((await query(other, { query: { $expr: rated } })).total_count).toBe(0)
  })

  test("security 5.3: another tenant's project does not exist", async () => {
    for (const [path, body] of [
      ["/feedback/query", { project_id: project }],
      ["/feedback/create", item(project)],
      ["/feedback/batch/create", { batch: [item(project)] }],
      ["/feedback/replace", { ...item(project), feedback_id: "f0" }],
      ["/feedback/purge", { project_id: project, query: { $expr: { $eq: [field("id"), literal("f0")] } } }],
    ] as const) {
      expect(await opened.rival.post(path, body)).toMatchObject({ status: 403, body: { detail: "Project not found" } })
    }
    expect((await query(project)).total_count).toBe(4)
  })
})
