import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { mustBody } from "../support/answers.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { callRef as call, createdFeedback, feedbackItem as item, foundFeedback } from "../support/feedback-items.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const create = (project: string, fields: Record<string, unknown> = {}) =>
  opened.acme.post("/feedback/create", item(project, fields))

type Fields = Record<string, unknown>
const created = (project: string, fields: Fields = {}) => createdFeedback(opened.acme, project, fields)
const query = (project: string, fields: Fields = {}) => foundFeedback(opened.acme, project, fields)

describe("objects 2.3: create", () => {
  test("the answer has what is stored, and the next query sees it", async () => {
    const project = opened.acme.newProject()
    const { id, created_at, wb_user_id, payload } = await created(project, { creator: "Ann", wb_user_id: "mallory" })
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    expect(payload).toEqual({ note: "hello" })
    expect(wb_user_id).not.toBe("mallory")
    expect(await query(project)).toEqual({
      total_count: 1,
      result: [
        {
          id,
          project_id: project,
          weave_ref: call(project),
          wb_user_id,
          creator: "Ann",
          created_at,
          feedback_type: "custom",
          payload: { note: "hello" },
          annotation_ref: null,
          runnable_ref: null,
          call_ref: null,
          trigger_ref: null,
        },
      ],
    })
  })

  test("law 3: a payload comes back with every byte it came with", async () => {
    const project = opened.acme.newProject()
    const payload =
      '{"2": 1.0,"1":9007199254740993,  "s":"\\u0000\\ud800\\u2028 \\"é😀","e":1e400,"k.\\"":[{}],"a":1,"a":2}'
    const body = JSON.stringify(item(project, { payload: "P" })).replace('"P"', payload)
    const answer = await opened.acme.post("/feedback/create", body)
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining(payload)])
    expect((await opened.acme.post("/feedback/query", { project_id: project })).text).toContain(`"payload":${payload}`)
  })

  test("law 3: so does the payload of a reaction, with the names of its emoji behind it", async () => {
    const project = opened.acme.newProject()
    const payload = '{"emoji":"👍", "n":1.0,"big":9007199254740993,"alias":"mine"}'
    const body = JSON.stringify(item(project, { feedback_type: "wandb.reaction.1", payload: "P" })).replace(
      '"P"',
      payload,
    )
    const { status, text } = await opened.acme.post("/feedback/create", body)
    const names = '"alias":":thumbs_up:","detoned":"👍","detoned_alias":":thumbs_up:"'
    expect([status, text]).toEqual([
      200,
      expect.stringContaining(`"payload":{"emoji":"👍","n":1.0,"big":9007199254740993,${names}}`),
    ])
  })

  test("duplicate payload key: the last one counts, for the type's rules and in the store", async () => {
    const note = item(opened.acme.newProject(), { feedback_type: "wandb.note.1", payload: { note: "last" } })
    const text = JSON.stringify(note)
    const answer = await opened.acme.post(
      "/feedback/create",
      text.replace('"payload":', '"payload":{"note":7},"payload":'),
    )
    expect(answer).toMatchObject({ status: 200, body: { payload: { note: "last" } } })
    const batch = text.replace('"payload":', '"payload":[],"payload":')
    expect(await opened.acme.post("/feedback/batch/create", `{"batch":[${batch},${batch}]}`)).toMatchObject({
      body: { res: [{ payload: { note: "last" } }, { payload: { note: "last" } }] },
    })
  })

  test("the bare tokens NaN and Infinity, which Python sends, become null", async () => {
    const project = opened.acme.newProject()
    const body = JSON.stringify(item(project, { payload: "P" })).replace('"P"', '{"a":NaN,"b":[-Infinity,"NaN"]}')
    expect((await opened.acme.post("/feedback/create", body)).body).toMatchObject({
      payload: { a: null, b: [null, "NaN"] },
    })
  })

  test("text that UTF-8 does not have is stored as U+FFFD", async () => {
    const project = opened.acme.newProject()
    await created(project, { creator: "a\ud800\\ud800b" })
    expect((await query(project, { fields: ["creator"] })).result).toEqual([{ creator: "a\ufffd\\ud800b" }])
  })

  test.each([
    [{ project_id: undefined }, ["body", "project_id"]],
    [{ weave_ref: undefined }, ["body", "weave_ref"]],
    [{ feedback_type: undefined }, ["body", "feedback_type"]],
    [{ payload: undefined }, ["body", "payload"]],
    [{ payload: [] }, ["body", "payload"]],
    [{ payload: "text" }, ["body", "payload"]],
    [{ feedback_type: 7 }, ["body", "feedback_type"]],
    [{ scorer_ratings: { a: "high" } }, ["body", "scorer_ratings", "a"]],
  ])("the four required fields and every type: %j is 422", async (fields, loc) => {
    const answer = await create(opened.acme.newProject(), fields)
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc }] } })
  })

  test("unknown fields and nulls are fine", async () => {
    const project = opened.acme.newProject()
    await created(project, { queue_id: null, scorer_tags: null, span_agent_name: null, unknown: 1 })
  })

  test("a repeated id is a retry when all is the same, and 409 when not", async () => {
    const project = opened.acme.newProject()
    const first = await created(project, { id: "mine", payload: { a: 1 } })
    expect(await created(project, { id: "mine", payload: { a: 1 } })).toEqual(first)
    expect(await create(project, { id: "mine", payload: { a: 2 } })).toMatchObject({
      status: 409,
      body: { reason: expect.stringContaining("mine") },
    })
    expect(await query(project)).toMatchObject({ total_count: 1, result: [{ id: "mine", payload: { a: 1 } }] })
    const other = opened.acme.newProject()
    await created(other, { id: "mine", payload: { a: 2 } })
  })

  test("a queue that is not there is 400", async () => {
    expect(await create(opened.acme.newProject(), { queue_id: "0190a1b2-0000-7000-8000-000000000001" })).toMatchObject({
      status: 400,
      body: { error_type: "InvalidRequest", reason: expect.stringContaining("not found") },
    })
  })
})

describe("objects 2.3: type rules", () => {
  test("a reaction gets its names, with and without its skin tone", async () => {
    const project = opened.acme.newProject()
    expect(await created(project, { feedback_type: "wandb.reaction.1", payload: { emoji: "👍🏽" } })).toMatchObject({
      payload: {
        emoji: "👍🏽",
        alias: ":thumbs_up_medium_skin_tone:",
        detoned: "👍",
        detoned_alias: ":thumbs_up:",
      },
    })
  })

  test.each(["👍👍", "", "a", "👍 ", 7, null, undefined])("%j is not exactly one emoji", async (emoji) => {
    const answer = await create(opened.acme.newProject(), { feedback_type: "wandb.reaction.1", payload: { emoji } })
    expect(answer).toMatchObject({ status: 400, body: { error_type: "InvalidRequest" } })
  })

  test.each([
    [0, 400],
    [1, 200],
    [1024, 200],
    [1025, 400],
  ])("a note of %i characters: %i", async (length, status) => {
    const payload = { note: "😀".repeat(length) }
    const answer = await create(opened.acme.newProject(), { feedback_type: "wandb.note.1", payload })
    expect(answer.status).toBe(status)
  })

  test.each([
    [1_048_576, 200],
    [1_048_577, 400],
  ])("a payload of %i characters of JSON: %i", async (length, status) => {
    const payload = { text: "é".repeat(length - '{"text":""}'.length) }
    const answer = await create(opened.acme.newProject(), { payload })
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.body).toMatchObject({ reason: expect.stringContaining("too large") })
  })

  const project = "acme/rules"
  const op = `weave:///${project}/op/judge:abc`
  const scorer = `weave:///${project}/object/judge:abc`
  const annotation = `weave:///${project}/object/quality:abc`
  const annotated = { feedback_type: "wandb.annotation.quality", annotation_ref: annotation, payload: { value: 1 } }
  const scored = { feedback_type: "wandb.runnable.judge", runnable_ref: scorer, payload: { output: 1 } }
  const opScored = { ...scored, runnable_ref: op, call_ref: call(project) }
  const monitored = {
    feedback_type: "wandb.agent_monitor",
    runnable_ref: scorer,
    call_ref: call(project),
    trigger_ref: scorer,
  }
  const liked = { feedback_type: "wandb.agent_user_feedback", scorer_tags: ["good"] }
  const note = { feedback_type: "wandb.note.1" }
  test.each<[string, Fields, string]>([
    ["an annotation without a ref", { ...annotated, annotation_ref: null }, "needs annotation_ref"],
    ["an annotation without a name", { ...annotated, feedback_type: "wandb.annotation" }, "is not of the form"],
    ["an annotation of an empty name", { ...annotated, feedback_type: "wandb.annotation." }, "is not of the form"],
    [
      "an annotation whose type runs on",
      { ...annotated, feedback_type: "wandb.annotationx.quality" },
      "is not of the form",
    ],
    [
      "an annotation ref of another name",
      { ...annotated, feedback_type: "wandb.annotation.other" },
      "annotation_ref must name other",
    ],
    [
      "an annotation ref of another project",
      { ...annotated, annotation_ref: "weave:///acme/elsewhere/object/quality:abc" },
      "annotation_ref is of the project acme/elsewhere",
    ],
    ["an annotation without value", { ...annotated, payload: { note: "x" } }, "needs the key value"],
    ["an annotation ref that names no object", annotated, `Annotation ref ${annotation} not found`],
    ["an annotation ref that is an op", { ...annotated, annotation_ref: op }, `annotation_ref "${op}" is not a ref`],
    ["a runnable without a ref", { ...scored, runnable_ref: null }, "needs runnable_ref"],
    ["a runnable without a name", { ...scored, feedback_type: "wandb.runnable" }, "is not of the form"],
    ["a runnable without output", { ...scored, payload: {} }, "needs the key output"],
    [
      "a runnable of another name",
      { ...scored, feedback_type: "wandb.runnable.other" },
      "runnable_ref must name other",
    ],
    ["a runnable op without call_ref", { ...opScored, call_ref: null }, "needs call_ref"],
    ["a runnable_ref that is a call", { ...scored, runnable_ref: call(project) }, "/call/"],
    ["a call_ref that is no call", { ...opScored, call_ref: scorer }, `call_ref "${scorer}" is not a ref`],
    ["a trigger_ref that is an op", { ...scored, trigger_ref: op }, `trigger_ref "${op}" is not a ref`],
    ["an internal ref", { ...scored, runnable_ref: "weave-trace-internal:///abc/object/judge:abc" }, "is not a ref"],
    ["a ref without a version", { ...scored, runnable_ref: `weave:///${project}/object/judge` }, "is not a ref"],
    ["a monitor without runnable_ref", { ...monitored, runnable_ref: null }, "needs runnable_ref"],
    ["a monitor without call_ref", { ...monitored, call_ref: null }, "needs call_ref"],
    ["a monitor without trigger_ref", { ...monitored, trigger_ref: null }, "needs trigger_ref"],
    ["user feedback without tags", { ...liked, scorer_tags: [] }, "needs scorer_tags"],
    ["annotation_ref on a runnable", { ...scored, annotation_ref: annotation }, "annotation_ref is not allowed"],
    ["runnable_ref on another type", { runnable_ref: scorer }, "runnable_ref is not allowed"],
    ["call_ref on user feedback", { ...liked, call_ref: call(project) }, "call_ref is not allowed"],
    ["trigger_ref on a note", { ...note, trigger_ref: scorer }, "trigger_ref is not allowed"],
    ["scorer_tags on an annotation", { ...annotated, scorer_tags: ["good"] }, "scorer_tags is not allowed"],
    ["scorer_tag_reasons on another type", { scorer_tag_reasons: { a: "x" } }, "scorer_tag_reasons is not allowed"],
    ["confidences on another type", { scorer_tag_confidences: { a: 1 } }, "scorer_tag_confidences is not allowed"],
    ["scorer_ratings on a note", { ...note, scorer_ratings: { a: 1 } }, "scorer_ratings is not allowed"],
    ["reasons on another type", { scorer_rating_reasons: { a: "x" } }, "scorer_rating_reasons is not allowed"],
    ["ratings' confidences", { scorer_rating_confidences: { a: 1 } }, "scorer_rating_confidences is not allowed"],
    [
      "a trace id that contradicts the ref",
      { ...liked, weave_ref: `weave:///${project}/agent_turn/abc`, span_trace_id: "def" },
      'span_trace_id is "def"',
    ],
    [
      "a conversation that contradicts the ref",
      { ...monitored, weave_ref: `weave:///${project}/agent_conversation/abc`, span_conversation_id: "def" },
      'span_conversation_id is "def"',
    ],
  ])("%s: 400", async (_, fields, said) => {
    expect(await create(project, fields)).toMatchObject({
      status: 400,
      body: { error_type: "InvalidRequest", reason: expect.stringContaining(said) },
    })
  })

  test("runnables with scores, monitors, user feedback, and types nobody knows", async () => {
    const tagged = {
      scorer_tags: ["good", "short"],
      scorer_ratings: { _rating_: 0.7 },
      scorer_tag_reasons: { good: "x" },
    }
    await created(project, {
      feedback_type: "wandb.runnable.judge",
      runnable_ref: scorer,
      payload: { output: null },
      ...tagged,
    })
    await created(project, {
      feedback_type: "wandb.runnable.judge",
      runnable_ref: op,
      call_ref: call(project),
      payload: { output: 1 },
    })
    const refs = { runnable_ref: scorer, call_ref: call(project), trigger_ref: scorer }
    const weave_ref = `weave:///${project}/agent_turn/0af7651916cd43dd8448eb211c80319c`
    await created(project, { feedback_type: "wandb.agent_monitor", ...refs, ...tagged, weave_ref })
    await created(project, {
      feedback_type: "wandb.agent_user_feedback",
      scorer_tags: ["up"],
      weave_ref: `weave:///${project}/agent_conversation/a%2Fb`,
    })
    await created(project, { feedback_type: "wandb.unheard_of.9", payload: {} })
    const fields = [
      "feedback_type",
      "scorer_tags",
      "scorer_ratings",
      "scorer_tag_reasons",
      "span_trace_id",
      "span_conversation_id",
      "span_status_code",
    ]
    expect((await query(project, { fields })).result).toEqual([
      {
        feedback_type: "wandb.runnable.judge",
        ...tagged,
        span_trace_id: "",
        span_conversation_id: "",
        span_status_code: "UNSET",
      },
      {
        feedback_type: "wandb.runnable.judge",
        scorer_tags: [],
        scorer_ratings: {},
        scorer_tag_reasons: {},
        span_trace_id: "",
        span_conversation_id: "",
        span_status_code: "UNSET",
      },
      {
        feedback_type: "wandb.agent_monitor",
        ...tagged,
        span_trace_id: "0af7651916cd43dd8448eb211c80319c",
        span_conversation_id: "",
        span_status_code: "UNSET",
      },
      {
        feedback_type: "wandb.agent_user_feedback",
        scorer_tags: ["up"],
        scorer_ratings: {},
        scorer_tag_reasons: {},
        span_trace_id: "",
        span_conversation_id: "a/b",
        span_status_code: "UNSET",
      },
      {
        feedback_type: "wandb.unheard_of.9",
        scorer_tags: [],
        scorer_ratings: {},
        scorer_tag_reasons: {},
        span_trace_id: "",
        span_conversation_id: "",
        span_status_code: "UNSET",
      },
    ])
  })
})

describe("objects 2.3: annotations", () => {
  const spec = (schema: object) => ({ name: "Quality", description: null, field_schema: schema })

  async function publish(project: string, object_id: string, val: object, builtin: string | null = "AnnotationSpec") {
    const obj = { project_id: project, object_id, val, builtin_object_class: builtin }
    return (await mustBody<{ digest: string }>(opened.acme.post("/obj/create", { obj }))).digest
  }

  const annotate = (project: string, version: string, value: unknown, name = "quality") =>
    create(project, {
      feedback_type: `wandb.annotation.${name}`,
      annotation_ref: `weave:///${project}/object/${name}:${version}`,
      payload: { value },
    })

  test("a value must satisfy the spec that the ref names, by digest, version or latest", async () => {
    const project = opened.acme.newProject()
    const first = await publish(project, "quality", spec({ type: "integer", minimum: 1, maximum: 5 }))
    await publish(project, "quality", spec({ type: "string", enum: ["good", "bad"] }))
    expect((await annotate(project, first, 5)).status).toBe(200)
    expect((await annotate(project, "v0", 5)).status).toBe(200)
    expect((await annotate(project, "latest", "good")).status).toBe(200)
    const typed = { feedback_type: "wandb.annotation.quality", payload: { value: 5 } }
    const object = `weave:///${project}/object/quality:v0`
    const refs = { annotation_ref: object, runnable_ref: object, call_ref: call(project), trigger_ref: object }
    expect((await create(project, { ...typed, ...refs })).status).toBe(200)
    for (const [version, value] of [
      [first, 6],
      [first, "good"],
      ["latest", 5],
      ["latest", null],
    ] as const) {
      expect(await annotate(project, version, value)).toMatchObject({
        status: 400,
        body: { error_type: "InvalidRequest", reason: expect.stringContaining("does not match annotation spec") },
      })
    }
    expect((await query(project)).total_count).toBe(4)
  })

  test("objects 3.1: a spec is found though an op of its name was published after it", async () => {
    const project = opened.acme.newProject()
    await publish(project, "quality", spec({ type: "integer" }))
    await publish(project, "quality", { weave_type: { type: "Op" } }, null)
    expect((await annotate(project, "latest", 5)).status).toBe(200)
    expect((await annotate(project, "v0", "five")).body).toMatchObject({
      reason: expect.stringContaining("does not match annotation spec"),
    })
  })

  test("a schema that refers to itself without end: 400 that says so", async () => {
    const project = opened.acme.newProject()
    const version = await publish(project, "quality", spec({ if: { type: "integer" }, else: { $ref: "#" } }))
    expect((await annotate(project, version, 5)).status).toBe(200)
    expect(await annotate(project, version, "five")).toMatchObject({
      status: 400,
      body: { error_type: "InvalidRequest", reason: expect.stringContaining("refers to itself without end") },
    })
  })

  test("one that is deleted, that was never there, or that is no spec: 400", async () => {
    const project = opened.acme.newProject()
    const digest = await publish(project, "quality", spec({}))
    await opened.acme.post("/obj/delete", { project_id: project, object_id: "quality", digests: [digest] })
    await publish(project, "other", { a: 1 }, null)
    for (const answer of [
      await annotate(project, digest, 1),
      await annotate(project, "v7", 1),
      await annotate(project, "latest", 1, "absent"),
      await annotate(project, "latest", 1, "other"),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { error_type: "InvalidRequest" } })
    }
  })
})
