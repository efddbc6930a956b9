/** Writing calls over the public routes: evaluation-store-calls 1.5 and 2. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let app: EvaluationApp
beforeAll(async () => {
  app = await openEvaluationApp()
})
afterAll(() => app.close())

const id = (number: number) => `01900000-0000-7000-8000-${String(number).padStart(12, "0")}`
const trace = id(999)
const started = "2026-01-02T03:04:05.123456Z"

function start(project: string, number: number, more: object = {}) {
  return {
    project_id: project,
    id: id(number),
    trace_id: trace,
    op_name: "op",
    started_at: started,
    attributes: {},
    inputs: { n: number },
    ...more,
  }
}

function end(project: string, number: number, more: object = {}) {
  return {
    project_id: project,
    id: id(number),
    ended_at: "2026-01-02T03:04:06.000001Z",
    summary: {},
    output: "out",
    ...more,
  }
}

const complete = (project: string, number: number, more: object = {}) => ({
  ...start(project, number),
  ...end(project, number),
  ...more,
})

async function read(project: string, number: number): Promise<Record<string, unknown> | null> {
  const answer = await app.acme.post("/call/read", { project_id: project, id: id(number) })
  expect(answer.status).toBe(200)
  return (answer.body as { call: Record<string, unknown> | null }).call
}

test("calls 2.2: start answers its ids, end answers {}, and both are visible at once", async () => {
  const project = app.acme.newProject()
  const begun = await app.acme.post("/call/start", { start: start(project, 1) })
  expect([begun.status, begun.body]).toEqual([200, { id: id(1), trace_id: trace }])
  expect(await read(project, 1)).toMatchObject({ started_at: started, ended_at: null, output: null, exception: null })
  const ended = await app.acme.post("/call/end", { end: end(project, 1) })
  expect([ended.status, ended.body]).toEqual([200, {}])
  expect(await read(project, 1)).toMatchObject({ ended_at: "2026-01-02T03:04:06.000001Z", output: "out" })
})

test.each(["/call/upsert_batch", "/v2/{project}/calls/complete"])(
  "calls 1.5: the key of the request is not stored with what it sent, by %s",
  async (path) => {
    const project = app.acme.newProject()
    const self = {
      options: { apiKey: app.acme.key, after: 1 },
      [app.acme.key]: [`Bearer ${app.acme.key}`, app.rival.key],
    }
    const batch = path.startsWith("/v2")
      ? [complete(project, 1, { inputs: { self } })]
      : [{ mode: "start", req: { start: start(project, 1, { inputs: { self } }) } }]
    expect((await app.acme.post(path.replace("{project}", project), { batch })).status).toBe(200)
    const stars = "*".repeat(app.acme.key.length)
    expect((await read(project, 1))?.["inputs"]).toEqual({
      self: { options: { apiKey: stars, after: 1 }, [stars]: [`Bearer ${stars}`, app.rival.key] },
    })
  },
)

test("calls 1.5: a start without ids gets UUIDv7s of the server, trace id apart from id", async () => {
  const project = app.acme.newProject()
  const { body } = await app.acme.post("/call/start", { start: start(project, 1, { id: null, trace_id: undefined }) })
  const ids = body as { id: string; trace_id: string }
  const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  expect([ids.id, ids.trace_id]).toEqual([expect.stringMatching(uuid7), expect.stringMatching(uuid7)])
  expect(ids.id).not.toBe(ids.trace_id)
  const answer = await app.acme.post("/call/read", { project_id: project, id: ids.id })
  expect(answer.body).toMatchObject({ call: { id: ids.id, trace_id: ids.trace_id, op_name: "op" } })
})

test("calls 2.2: an upsert batch takes starts and ends in any order, the mode left out or told", async () => {
  const project = app.acme.newProject()
  const answer = await app.acme.post("/call/upsert_batch", {
    batch: [
      { mode: "end", req: { end: end(project, 1) } },
      { req: { start: start(project, 2) } },
      { mode: "start", req: { start: start(project, 1) } },
      { mode: null, req: { end: end(project, 2) } },
      { req: { end: end(project, 3) }, mode: "end" },
    ],
  })
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({ res: [{}, { id: id(2), trace_id: trace }, { id: id(1), trace_id: trace }, {}, {}] })
  expect(await read(project, 1)).toMatchObject({
    inputs: { n: 1 },
    output: "out",
    ended_at: "2026-01-02T03:04:06.000001Z",
  })
  expect(await read(project, 2)).toMatchObject({ inputs: { n: 2 }, output: "out" })
  expect(await read(project, 3)).toBe(null)
})

test("calls 2.3: an end waits for its start, on the v2 paths and across paths", async () => {
  const project = app.acme.newProject()
  expect(
    (await app.acme.post(`/v2/${project}/call/end`, { end: end(project, 1, { started_at: started, trace_id: trace }) }))
      .body,
  ).toEqual({})
  expect(await read(project, 1)).toBe(null)
  const begun = await app.acme.post(`/v2/${project}/call/start`, { start: start(project, 1) })
  expect(begun.body).toEqual({ id: id(1), trace_id: trace })
  expect(await read(project, 1)).toMatchObject({ output: "out", started_at: started })
  await app.acme.post("/call/end", { end: end(project, 2) })
  expect((await app.acme.post(`/v2/${project}/calls/complete`, { batch: [complete(project, 3)] })).body).toEqual({})
  await app.acme.post("/call/start", { start: start(project, 2) })
  expect(await read(project, 2)).toMatchObject({ output: "out" })
  expect(await read(project, 3)).toMatchObject({ output: "out", inputs: { n: 3 } })
})

test("calls 2.3: repeated starts, ends and complete batches answer 200 and change nothing", async () => {
  const project = app.acme.newProject()
  for (const path of ["/call/start", "/call/start"]) {
    expect((await app.acme.post(path, { start: start(project, 1) })).body).toEqual({ id: id(1), trace_id: trace })
  }
  for (let count = 0; count < 2; count++)
    expect((await app.acme.post("/call/end", { end: end(project, 1) })).status).toBe(200)
  const batch = { batch: [complete(project, 2), complete(project, 2), complete(project, 3)] }
  for (let count = 0; count < 2; count++) {
    expect((await app.acme.post(`/v2/${project}/calls/complete`, batch)).status).toBe(200)
  }
  const calls = await app.acme.lines("/calls/stream_query", { project_id: project })
  expect((calls as { id: string }[]).map((call) => call.id)).toEqual([id(1), id(2), id(3)])
})

test("calls 2.3: the last end wins, as a whole", async () => {
  const project = app.acme.newProject()
  await app.acme.post("/call/start", { start: start(project, 1) })
  await app.acme.post("/call/end", { end: end(project, 1, { exception: "boom", output: null }) })
  expect(await read(project, 1)).toMatchObject({ exception: "boom", output: null })
  await app.acme.post("/call/end", { end: end(project, 1, { output: "second", ended_at: "2026-01-02T03:04:07Z" }) })
  expect(await read(project, 1)).toMatchObject({
    exception: null,
    output: "second",
    ended_at: "2026-01-02T03:04:07.000000Z",
  })
  await app.acme.post("/call/end", { end: end(project, 1, { exception: "again", output: null }) })
  expect(await read(project, 1)).toMatchObject({ exception: "again", output: null })
})

test("calls 3.2: an exception without a text is one, on every path, and a later end clears it", async () => {
  const project = app.acme.newProject()
  await app.acme.post("/call/start", { start: start(project, 1) })
  await app.acme.post("/call/end", { end: end(project, 1, { exception: "" }) })
  const batch = [complete(project, 2, { exception: "" }), complete(project, 3)]
  await app.acme.post(`/v2/${project}/calls/complete`, { batch })
  const summary = async (number: number) => (await read(project, number))?.["summary"]
  for (const number of [1, 2]) {
    expect(await read(project, number)).toMatchObject({ exception: "an error without a message" })
    expect(await summary(number)).toMatchObject({ weave: { status: "error" } })
  }
  expect(await summary(3)).toMatchObject({ weave: { status: "success" } })
  const query = { $expr: { $eq: [{ $getField: "summary.weave.status" }, { $literal: "error" }] } }
  expect((await app.acme.post("/calls/query_stats", { project_id: project, query })).body).toMatchObject({ count: 2 })
  await app.acme.post("/call/end", { end: end(project, 1) })
  expect(await read(project, 1)).toMatchObject({ exception: null, summary: { weave: { status: "success" } } })
})

test("calls 1.5: a call's user is the key's, whatever the body says", async () => {
  const project = app.acme.newProject()
  await app.acme.post("/call/start", { start: start(project, 1, { wb_user_id: "mallory" }) })
  await app.acme.post(`/v2/${project}/calls/complete`, { batch: [complete(project, 2, { wb_user_id: "mallory" })] })
  const users = [(await read(project, 1))?.["wb_user_id"], (await read(project, 2))?.["wb_user_id"]]
  expect(users[0]).toBe(users[1])
  expect(users[0]).toEqual(expect.stringMatching(/^[0-9a-f-]{36}$/))
})

test.each([
  ["2026-01-02T03:04:05", "2026-01-02T03:04:05.000000Z"],
  ["2026-01-02 03:04:05.5Z", "2026-01-02T03:04:05.500000Z"],
  ["2026-01-02T05:04:05.123456+02:00", "2026-01-02T03:04:05.123456Z"],
  ["2026-01-01T22:04:05.1234567-05:00", "2026-01-02T03:04:05.123456Z"],
  ["1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"],
])("calls 1.5: the time %s is %s", async (sent, shown) => {
  const project = app.acme.newProject()
  const batch = [complete(project, 1, { started_at: sent, ended_at: sent })]
  expect((await app.acme.post(`/v2/${project}/calls/complete`, { batch })).status).toBe(200)
  expect(await read(project, 1)).toMatchObject({ started_at: shown, ended_at: shown })
})

const forms = {
  start: {
    required: ["project_id", "op_name", "started_at", "attributes", "inputs"],
    optional: `id trace_id display_name parent_id thread_id turn_id otel_dump
      wb_user_id wb_run_id wb_run_step`.split(/\s+/),
  },
  end: {
    required: ["project_id", "id", "ended_at", "summary"],
    optional: ["trace_id", "is_eval", "started_at", "exception", "output", "wb_run_step_end"],
  },
  complete: {
    required: "project_id id trace_id op_name started_at ended_at attributes inputs summary".split(" "),
    optional: `display_name parent_id thread_id turn_id output otel_dump exception wb_user_id wb_run_id
      wb_run_step wb_run_step_end`.split(/\s+/),
  },
}

test.each(["start", "end", "complete"] as const)(
  "calls 2.1, 1.1: a call's %s needs its required fields, and null counts as absent in the others",
  async (form) => {
    const project = app.acme.newProject()
    const send = (call: object) =>
      form === "complete"
        ? app.acme.post(`/v2/${project}/calls/complete`, { batch: [call] })
        : app.acme.post(`/call/${form}`, { [form]: call })
    const { required, optional } = forms[form]
    const nothing = (await send({})).body as { detail: { loc: string[]; type: string }[] }
    expect(nothing.detail.map(({ loc, type }) => `${loc.at(-1)} ${type}`).toSorted()).toEqual(
      required.map((name) => `${name} missing`).toSorted(),
    )
    const whole: Record<string, unknown> = complete(project, 1)
    const least = Object.fromEntries([
      ...required.map((name) => [name, whole[name]]),
      ...optional.map((name) => [name, null]),
    ]) as object
    for (const name of required) expect([name, (await send({ ...least, [name]: null })).status]).toEqual([name, 422])
    expect((await send(least)).status).toBe(200)
    const shown = await app.acme.lines("/calls/stream_query", { project_id: project })
    const empty = { display_name: null, parent_id: null, thread_id: null, turn_id: null, exception: null, output: null }
    const unset = { ...empty, attributes: {}, wb_run_id: null, wb_run_step: null, wb_run_step_end: null }
    expect(shown).toEqual(form === "end" ? [] : [expect.objectContaining(unset)])
  },
)

test("calls 3.1: the dump of a span comes back inside the attributes, from a start and from a complete call", async () => {
  const project = app.acme.newProject()
  const span = { attributes: { mine: 1 }, otel_dump: { name: "span", context: { span_id: "s" } } }
  await app.acme.post("/call/start", { start: start(project, 1, span) })
  await app.acme.post(`/v2/${project}/calls/complete`, { batch: [complete(project, 2, span)] })
  for (const number of [1, 2]) {
    expect((await read(project, number))?.["attributes"]).toEqual({
      mine: 1,
      otel_span: { name: "span", context: { span_id: "s" } },
    })
  }
})

test("calls 2.1: every other field comes back as it was sent", async () => {
  const project = app.acme.newProject()
  const fields = {
    display_name: 'a "name" \\ ü 🧵',
    parent_id: id(5),
    thread_id: "thread",
    turn_id: "turn",
    wb_run_id: `${project}/run`,
    wb_run_step: 0,
    wb_run_step_end: 9007199254740993n,
    exception: "line\nbreak\u0000 end",
  }
  const text = JSON.stringify({ batch: [complete(project, 1, { ...fields, wb_run_step_end: "STEP" })] }).replace(
    '"STEP"',
    String(fields.wb_run_step_end),
  )
  expect((await app.acme.post(`/v2/${project}/calls/complete`, text)).status).toBe(200)
  const answer = await app.acme.post("/call/read", { project_id: project, id: id(1) })
  expect(answer.text).toContain('"wb_run_step_end":9007199254740993')
  const { wb_run_step_end: _, ...others } = fields
  expect((answer.body as { call: object }).call).toMatchObject(others)
})

const payloads = [
  '{"big":12345678901234567890123,"one":1.0,"e":1E+2,"minus":-0,"huge":1e999}',
  '{"nul":"\\u0000","lone":"\\ud800","pair":"\\ud83e\\uddf5","raw":"🧵 \u2028\u0085"}',
  '{"a":1,"a":2,"":{"":[]},"__proto__":{"x":null}}',
  '{ "spaces" : [ 1 , 2 ]\n}',
  '{\n\n"blank":\n\n\n"lines"\n\n}',
  `{"deep":${"[".repeat(190)}${"]".repeat(190)}}`,
  '{"close":"]}","quote":"\\"","slash":"\\\\"}',
  `{"it's":"','','"\n,"'":"\\\\N'"}`,
]

test.each(payloads)("calls 1.5: the payload %s is kept as its text", async (payload) => {
  const project = app.acme.newProject()
  const head = JSON.stringify(complete(project, 1, { inputs: "IN", output: "OUT", attributes: "AT", summary: "SU" }))
  const call = head.replace(/"(IN|OUT|AT|SU)"/g, () => payload)
  expect((await app.acme.post(`/v2/${project}/calls/complete`, `{"batch":[${call}]}`)).status).toBe(200)
  const { traces } = app.app.stores
  const rows = await traces.rows<Record<string, string>>(
    "select inputs, output, attributes, summary from calls_v2 final where id = {id:String} and inputs like {like:String}",
    { id: id(1), like: `[${payload.slice(0, 6).replaceAll("\\", "\\\\")}%` },
  )
  expect(rows).toContainEqual({
    inputs: `[${payload}]`,
    output: `[${payload}]`,
    attributes: `[${payload}]`,
    summary: `[${payload}]`,
  })
})

test.each(["\\N", "'", "''", `it's, "so"`, " spaces ", "NULL", "a\r\nb\t", "a\n\n\nb\n\n", "\u0000", ",", "[]", "0"])(
  "calls 1.5: the text %j is kept as it is",
  async (text) => {
    const project = app.acme.newProject()
    const texts = { op_name: text, display_name: text, thread_id: text, turn_id: text, exception: text }
    await app.acme.post(`/v2/${project}/calls/complete`, { batch: [complete(project, 1, texts)] })
    expect(await read(project, 1)).toMatchObject(texts)
    await app.acme.post("/call/update", { project_id: project, call_id: id(1), display_name: `${text}${text}` })
    expect(await read(project, 1)).toMatchObject({ ...texts, display_name: `${text}${text}` })
  },
)

test("calls 1.1: bare NaN and Infinity become null, in payloads only", async () => {
  const project = app.acme.newProject()
  const call = JSON.stringify(complete(project, 1, { output: "OUT", inputs: { text: "NaN is not Infinity" } }))
  const text = `{"batch":[${call.replace('"OUT"', '{"a":NaN,"b":[Infinity,-Infinity],"c":"NaN"}')}]}`
  expect((await app.acme.post(`/v2/${project}/calls/complete`, text)).status).toBe(200)
  expect(await read(project, 1)).toMatchObject({
    output: { a: null, b: [null, null], c: "NaN" },
    inputs: { text: "NaN is not Infinity" },
  })
})

test("calls 1.1: unknown keys are ignored, of equal keys the last counts, no content type is needed", async () => {
  const project = app.acme.newProject()
  await app.acme.post("/call/start", { start: start(project, 1), other: [{}] })
  const extra = { ...end(project, 1), display_name: "undeclared", is_eval: true }
  expect((await app.acme.post("/call/end", { end: extra })).status).toBe(200)
  expect(await read(project, 1)).toMatchObject({ output: "out", display_name: null })
  const twice = `{"start":{"op_name":"no"},"\\u0073tart":${JSON.stringify(start(project, 2)).replace('"op_name":"op"', '"op_name":"first","op_name":"second"')}}`
  const headers = { authorization: `Bearer ${app.acme.key}` }
  const answer = await app.app.server.inject({
    method: "POST",
    url: "/call/start",
    headers,
    payload: Buffer.from(twice),
  })
  expect([answer.statusCode, answer.json()]).toEqual([200, { id: id(2), trace_id: trace }])
  expect(await read(project, 2)).toMatchObject({ op_name: "second" })
})

test("calls 1.1: requests of one X-Weave-Retry-Id are all carried out", async () => {
  const project = app.acme.newProject()
  const headers = { "x-weave-retry-id": "same", "x-weave-client-capabilities": "trace_id_on_end,eval_child_meta" }
  await app.acme.post(`/v2/${project}/calls/complete`, { batch: [complete(project, 1)] }, headers)
  await app.acme.post(`/v2/${project}/calls/complete`, { batch: [complete(project, 2)] }, headers)
  await app.acme.post("/call/upsert_batch", { batch: [{ req: { start: start(project, 3) } }] }, headers)
  const calls = await app.acme.lines("/calls/stream_query", { project_id: project })
  expect((calls as { id: string }[]).map((call) => call.id)).toEqual([id(1), id(2), id(3)])
})

test("calls 1.3: a call that is not of the schema is 422 with the place of each fault, and nothing is stored", async () => {
  const project = app.acme.newProject()
  const bad = {
    ...complete(project, 2),
    inputs: [],
    op_name: 5,
    started_at: "yesterday",
    trace_id: null,
    wb_run_step: 1.5,
  }
  const { attributes: _, ...rest } = bad
  const answer = await app.acme.post(`/v2/${project}/calls/complete`, { batch: [complete(project, 1), rest, 7] })
  expect(answer.status).toBe(422)
  const { detail } = answer.body as { detail: { loc: unknown[]; type: string; msg: string }[] }
  expect(detail.map(({ loc, type }) => `${loc.join(".")}: ${type}`).toSorted()).toEqual([
    "body.batch.1.attributes: missing",
    "body.batch.1.inputs: dict_type",
    "body.batch.1.op_name: string_type",
    "body.batch.1.started_at: datetime_parsing",
    "body.batch.1.trace_id: string_type",
    "body.batch.1.wb_run_step: int_parsing",
    "body.batch.2: model_attributes_type",
  ])
  expect(detail.find(({ type }) => type === "missing")?.msg).toBe("Field required")
  expect(await read(project, 1).catch(() => null)).toBe(null)
})

const envelopes: [path: string, body: unknown, status: number, loc: string | null][] = [
  ["/call/start", {}, 422, "body.start"],
  ["/call/start", [], 422, "body"],
  ["/call/end", { end: {} }, 422, "body.end.project_id"],
  ["/call/upsert_batch", { batch: {} }, 422, "body.batch"],
  ["/call/upsert_batch", { batch: [{ mode: "start" }] }, 422, "body.batch.0.req"],
  ["/call/upsert_batch", { batch: [{ mode: "start", req: {} }] }, 422, "body.batch.0.req.start"],
  ["/call/upsert_batch", { batch: [{ mode: "start", req: { start: {} } }] }, 422, "body.batch.0.req.start.project_id"],
  ["/call/start", '{"start":{},}', 422, "body"],
  ["/call/start", '{"start":{"a":01}}', 422, "body"],
  ["/call/start", '{"start":{"a":"\t"}}', 422, "body"],
  ["/call/start", '{"start":{"a":"\\x"}}', 422, "body"],
  ["/call/start", '{"start":{}} x', 422, "body"],
  ["/call/start", Buffer.from([0x22, 0xff, 0x22]), 400, null],
  ["/call/start", "", 422, "body"],
  ["/call/start", `{"start":${"[".repeat(300)}`, 413, null],
]

test.each(envelopes)("calls 1.3: %s with %j is %d", async (path, body, status, loc) => {
  const answer = await app.acme.post(path, body)
  expect(answer.status).toBe(status)
  if (loc === null) expect(answer.body).toMatchObject({ reason: expect.any(String) as string })
  else expect((answer.body as { detail: { loc: string[] }[] }).detail[0]?.loc.join(".")).toBe(loc)
})

const refused: [what: string, change: object, says: string][] = [
  ["an id of another form", { id: "abc" }, 'id "abc" is neither a UUID'],
  ["a parent of another form", { parent_id: "12345678" }, 'parent_id "12345678"'],
  ["a trace id of another form", { trace_id: "0123456789abcdef" }, "trace_id"],
  ["a name that is too long", { op_name: "x".repeat(129) }, "has 129 characters"],
  ["a display name that is too long", { display_name: "x".repeat(1025) }, "has 1025 characters"],
  [
    "an internal ref",
    { inputs: { a: ["weave-trace-internal:///abc/object/x:1"] } },
    "weave-trace-internal:///abc/object/x:1",
  ],
]

test.each(refused)("calls 1.5: %s is 400 and says what is wrong", async (_, change, says) => {
  const project = app.acme.newProject()
  const answer = await app.acme.post("/call/start", { start: start(project, 1, change) })
  expect(answer.status).toBe(400)
  expect((answer.body as { reason: string }).reason).toContain(says)
})

test("calls 1.5: OpenTelemetry ids, refs of any length and 128 characters that are no ASCII pass", async () => {
  const project = app.acme.newProject()
  const otel = { id: "0123456789abcdef", trace_id: "0123456789abcdef0123456789abcdef", parent_id: "fedcba9876543210" }
  for (const change of [
    otel,
    { op_name: `weave:///${project}/op/${"x".repeat(200)}:v0` },
    { op_name: "🧵".repeat(128) },
  ]) {
    expect((await app.acme.post("/call/start", { start: start(project, 1, change) })).status).toBe(200)
  }
})

test("calls 1.5: a text that only mentions an internal ref passes", async () => {
  const project = app.acme.newProject()
  const inputs = { text: 'see "weave-trace-internal:///abc/object/x:1"', more: "weave-trace-internal" }
  expect((await app.acme.post("/call/start", { start: start(project, 1, { inputs }) })).status).toBe(200)
  expect(await read(project, 1)).toMatchObject({ inputs })
})

test("calls 2.2: an unknown mode is 400 and stores nothing of its batch", async () => {
  const project = app.acme.newProject()
  const batch = [
    { mode: "start", req: { start: start(project, 1) } },
    { mode: "stop", req: { end: end(project, 1) } },
  ]
  const answer = await app.acme.post("/call/upsert_batch", { batch })
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ reason: 'batch.1: Invalid mode "stop"; it is "start" or "end"' })
  expect((await app.acme.post("/call/read", { project_id: project, id: id(1) })).status).toBe(403)
})

test("calls 1.1: a call of another project than the path's is 400, one of another team's is 403, and nothing is stored", async () => {
  const project = app.acme.newProject()
  const mismatch = await app.acme.post(`/v2/${project}/calls/complete`, {
    batch: [complete(project, 1), complete(`${project}x`, 2)],
  })
  expect(mismatch.status).toBe(400)
  expect((mismatch.body as { reason: string }).reason).toContain(`"${project}x"`)
  for (const form of ["start", "end"] as const) {
    const call = { start, end }[form](`${project}x`, 2)
    expect((await app.acme.post(`/v2/${project}/call/${form}`, { [form]: call })).status).toBe(400)
  }
  const foreign = await app.acme.post("/call/upsert_batch", {
    batch: [{ req: { start: start(project, 1) } }, { req: { start: start("rival/theirs", 2) } }],
  })
  expect([foreign.status, foreign.body]).toEqual([403, { detail: "Project not found" }])
  const shapeless = await app.acme.post("/call/start", { start: start("noslash", 1) })
  expect(shapeless.status).toBe(400)
  await app.acme.post("/call/start", { start: start(project, 3) })
  expect(await read(project, 1)).toBe(null)
})

test("calls 2.3: the same id in two projects is two calls", async () => {
  const [mine, theirs] = [app.acme.newProject(), app.rival.newProject()]
  await app.acme.post("/call/start", { start: start(mine, 1) })
  await app.rival.post("/call/start", { start: start(theirs, 1, { op_name: "theirs" }) })
  await app.rival.post("/call/end", { end: end(theirs, 1) })
  expect(await app.rival.post("/calls/delete", { project_id: theirs, call_ids: [id(1)] })).toMatchObject({
    body: { num_deleted: 1 },
  })
  expect(await read(mine, 1)).toMatchObject({ op_name: "op", ended_at: null })
  expect((await app.rival.post("/call/update", { project_id: mine, call_id: id(1), display_name: "x" })).status).toBe(
    403,
  )
  expect((await app.rival.post("/calls/delete", { project_id: mine, call_ids: [id(1)] })).status).toBe(403)
})

test("calls 2.3: a name is set before the start, after the end, replaced, and cleared by an empty one", async () => {
  const project = app.acme.newProject()
  const rename = (number: number, display_name?: string | null) =>
    app.acme.post("/call/update", { project_id: project, call_id: id(number), display_name })
  expect((await rename(1, "early")).body).toEqual({})
  await app.acme.post("/call/start", { start: start(project, 1) })
  expect(await read(project, 1)).toMatchObject({ display_name: "early" })
  await app.acme.post("/call/end", { end: end(project, 1) })
  await rename(1, "late")
  expect(await read(project, 1)).toMatchObject({ display_name: "late", output: "out" })
  await rename(1, "")
  expect(await read(project, 1)).toMatchObject({ display_name: null })
  for (const absent of [null, undefined]) {
    const answer = await rename(1, absent)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ reason: "One of [display_name] is required for call update" })
  }
  expect((await rename(404, "unknown")).status).toBe(200)
  expect(await read(project, 404)).toBe(null)
  expect((await rename(1, "x".repeat(1025))).status).toBe(400)
})

test("calls 2.3: deleting takes the descendants within the trace, and no later write brings them back", async () => {
  const project = app.acme.newProject()
  const tree = [
    complete(project, 1),
    complete(project, 2, { parent_id: id(1) }),
    complete(project, 3, { parent_id: id(2) }),
    complete(project, 4, { parent_id: id(1), trace_id: id(998) }),
    complete(project, 5),
    complete(project, 6, { parent_id: id(5) }),
  ]
  await app.acme.post(`/v2/${project}/calls/complete`, { batch: tree })
  const remove = (...numbers: number[]) =>
    app.acme.post("/calls/delete", { project_id: project, call_ids: numbers.map(id) })
  expect((await remove(1, 77)).body).toEqual({ num_deleted: 3 })
  const left = (await app.acme.lines("/calls/stream_query", { project_id: project })) as { id: string }[]
  expect(left.map((call) => call.id)).toEqual([id(4), id(5), id(6)])
  const count = await app.acme.post("/calls/query_stats", { project_id: project })
  expect(count.body).toMatchObject({ count: 3 })
  const overTime = await app.acme.post("/calls/stats", {
    project_id: project,
    start: "2026-01-02",
    end: "2026-01-03",
    granularity: 86_400,
    call_metrics: [{ metric: "call_count" }],
  })
  expect(overTime.body).toMatchObject({ call_buckets: [{ count: 3 }] })
  await app.acme.post("/call/end", { end: end(project, 1) })
  await app.acme.post("/call/start", { start: start(project, 2) })
  await app.acme.post("/call/update", { project_id: project, call_id: id(3), display_name: "back" })
  for (const number of [1, 2, 3]) expect(await read(project, number)).toBe(null)
  expect((await remove(1)).body).toEqual({ num_deleted: 0 })
  expect((await remove()).body).toEqual({ num_deleted: 0 })
  const many = await app.acme.post("/calls/delete", {
    project_id: project,
    call_ids: Array.from({ length: 1001 }, (_, n) => id(n)),
  })
  expect(many.status).toBe(413)
  expect((many.body as { reason: string }).reason).toContain("1001")
})

test("calls 2.2: starts and ends that come apart, in bodies so large that threads read them, meet whatever their ids are", async () => {
  const project = app.acme.newProject()
  const text = "x".repeat(8 * 1024)
  // UUIDv4, span ids and UUIDv7 by turns; only the last contain the time of the call's start.
  const idOf = (number: number) => {
    const digits = String(number).padStart(8, "0")
    return [`${digits}-0000-4000-8000-000000000000`, `b7ad6b71${digits}`, id(number)][number % 3] as string
  }
  const all = Array.from({ length: 240 }, (_, number) => number)
  const starts = all.map((number) => ({
    req: { start: start(project, number, { id: idOf(number), inputs: { number, text: `${text}'${number}` } }) },
  }))
  const ends = all.map((number) => ({
    req: { end: end(project, number, { id: idOf(number), output: `${text}'${number}` }) },
  }))
  const half = 120
  // In the first half of the calls the starts are sent first, in the other half the ends.
  for (const batch of [
    [...starts.slice(0, half), ...ends.slice(half)],
    [...ends.slice(0, half), ...starts.slice(half)],
  ]) {
    const body = Buffer.from(JSON.stringify({ batch }))
    expect(body.length).toBeGreaterThan(1.5 * 1024 * 1024)
    expect((await app.acme.post("/call/upsert_batch", body)).status).toBe(200)
  }
  const calls = (await app.acme.lines("/calls/stream_query", { project_id: project })) as Record<string, unknown>[]
  const shown = calls.map(({ id: callId, inputs, output, started_at, ended_at }) => [
    callId,
    inputs,
    output,
    started_at,
    ended_at,
  ])
  const expected = all.map((number) => [
    idOf(number),
    { number, text: `${text}'${number}` },
    `${text}'${number}`,
    started,
    "2026-01-02T03:04:06.000001Z",
  ])
  const byNumber = (one: unknown[], other: unknown[]) =>
    (one[1] as { number: number }).number - (other[1] as { number: number }).number
  expect(shown.toSorted(byNumber)).toEqual(expected)
})

test("calls 2.3: a row above 3.5 MiB has its largest payloads replaced, and is 413 if that is not enough", async () => {
  const project = app.acme.newProject()
  const mebibyte = "x".repeat(1024 * 1024)
  const exceeds = { _weave: { error: "<EXCEEDS_LIMITS>" } }
  const batch = [
    complete(project, 1, { inputs: { a: mebibyte.repeat(4) } }),
    complete(project, 2, { inputs: { a: mebibyte.repeat(2) }, output: mebibyte.repeat(3), attributes: { keep: true } }),
    complete(project, 3, { inputs: { a: mebibyte.repeat(3) } }),
  ]
  expect((await app.acme.post(`/v2/${project}/calls/complete`, { batch })).status).toBe(200)
  expect(await read(project, 1)).toMatchObject({ inputs: exceeds, output: "out" })
  expect(await read(project, 2)).toMatchObject({
    inputs: { a: mebibyte.repeat(2) },
    output: exceeds,
    attributes: { keep: true },
  })
  expect(await read(project, 3)).toMatchObject({ inputs: { a: mebibyte.repeat(3) } })
  const answer = await app.acme.post("/call/end", { end: end(project, 1, { exception: mebibyte.repeat(4) }) })
  expect(answer.status).toBe(413)
  expect((answer.body as { reason: string }).reason).toContain(id(1))
})

test("calls 2.3: a picture inside of a payload stays the text it is", async () => {
  const project = app.acme.newProject()
  const picture = `data:image/png;base64,${"iVBORw0KGgo".repeat(900)}`
  const batch = [complete(project, 1, { inputs: { picture }, output: picture })]
  await app.acme.post(`/v2/${project}/calls/complete`, { batch })
  expect(await read(project, 1)).toMatchObject({ inputs: { picture }, output: picture })
})
