/** OTLP traces over HTTP: evaluation-store-calls 8. */
import { randomBytes } from "node:crypto"
import { deflateSync, gzipSync } from "node:zlib"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import {
  bytesField,
  jsonAttributes,
  jsonSpan,
  jsonTraces,
  protobufTraces,
  spanFields,
  spanStart,
  textAttribute,
  timeField,
  varintField,
} from "../support/otlp-message.ts"

let app: EvaluationApp
let acme: EvaluationCaller

beforeAll(async () => {
  app = await openEvaluationApp()
  acme = app.acme
})
afterAll(() => app.close())

const protobuf = { "content-type": "application/x-protobuf" }
const newTrace = () => randomBytes(16).toString("hex")
const newSpan = () => randomBytes(8).toString("hex")

interface Call {
  id: string
  op_name: string
  trace_id: string
  parent_id: string | null
  started_at: string
  ended_at: string | null
  display_name: string | null
  thread_id: string | null
  turn_id: string | null
  exception: string | null
  wb_run_id: string | null
  wb_run_step: number | null
  attributes: Record<string, unknown> & { otel_span: Record<string, unknown> }
  inputs: Record<string, unknown>
  output: unknown
  summary: Record<string, unknown> & { weave: Record<string, unknown> }
}

async function readCall(project: string, id: string, caller = acme): Promise<Call | null> {
  const answer = await caller.post("/call/read", { project_id: project, id })
  expect(answer.status, answer.text).toBe(200)
  return (answer.body as { call: Call | null }).call
}

/** Sends one span with these attributes as OTLP/JSON; returns its call. */
async function callOf(attributes: Parameters<typeof jsonAttributes>[0], more: object = {}): Promise<Call> {
  const project = acme.newProject()
  const id = newSpan()
  const body = jsonTraces(jsonSpan(newTrace(), id, attributes, more))
  const answer = await acme.post("/otel/v1/traces", body, { project_id: project })
  expect([answer.status, answer.body], answer.text).toEqual([200, {}])
  const call = await readCall(project, id)
  if (call === null) throw new Error("the span was acknowledged and cannot be read")
  return call
}

test.each(["/otel/v1/traces", "/v1/traces", "/traces/otel/v1/traces"])(
  "calls 8: %s takes protobuf and stores a call that can be read at once",
  async (path) => {
    const [project, trace, span, parent] = [acme.newProject(), newTrace(), newSpan(), newSpan()]
    const fields = [
      ...spanFields(trace, span, "ask"),
      bytesField(4, Buffer.from(parent, "hex")),
      varintField(6, 3),
      bytesField(9, textAttribute("input.value", '{"question": "why", "n": 1.0}')),
      bytesField(9, textAttribute("output.value", "because")),
      bytesField(9, [bytesField(1, "large"), bytesField(2, Buffer.from(`18${"ff".repeat(8)}7f`, "hex"))]),
      bytesField(15, [bytesField(2, "went wrong"), varintField(3, 2)]),
    ]
    const [entity = "", name = ""] = project.split("/")
    const body = protobufTraces({ "wandb.entity": entity, "wandb.project": name, "service.name": "s" }, [fields])
    const answer = await acme.post(path, body, protobuf)
    expect([answer.status, answer.text, answer.headers["content-type"]]).toEqual([200, "", "application/x-protobuf"])
    const read = await acme.post("/call/read", { project_id: project, id: span })
    expect(read.text).toContain('"inputs":{"input.value":{"question": "why", "n": 1.0}}')
    expect(read.text).toContain('"large":9223372036854775807')
    expect((read.body as { call: Call }).call).toMatchObject({
      id: span,
      trace_id: trace,
      parent_id: parent,
      op_name: "ask",
      started_at: "2026-01-02T03:04:05.123456Z",
      ended_at: "2026-01-02T03:04:06.623456Z",
      output: { "output.value": "because" },
      exception: "went wrong",
      summary: { weave: { status: "error", latency_ms: 1500, trace_name: "ask" } },
    })
  },
)

test("calls 1.5: the key of the request is not stored with its spans", async () => {
  const { attributes } = await callOf({ "http.request.header.authorization": `Bearer ${acme.key}`, other: "Bearer x" })
  expect(JSON.stringify(attributes)).toContain("Bearer ***")
  expect(JSON.stringify(attributes)).not.toContain(acme.key)
})

test("calls 8: the raw span is kept whole", async () => {
  const link = { traceId: newTrace(), spanId: newSpan(), attributes: jsonAttributes({ why: "follows" }) }
  const call = await callOf(
    { "llm.deep.er": 7n, "input.value": '{"a": 1}', whole: 1 },
    {
      traceState: "a=b",
      flags: 257,
      droppedAttributesCount: 2,
      events: [{ timeUnixNano: String(spanStart + 1n), name: "seen", attributes: jsonAttributes({ at: true }) }],
      links: [link],
      status: { code: 1 },
    },
  )
  const { otel_span } = call.attributes
  expect(otel_span).toEqual({
    name: "chat",
    context: { trace_id: call.trace_id, span_id: call.id, trace_state: "a=b" },
    kind: "CLIENT",
    parent_id: null,
    flags: 257,
    start_time: "2026-01-02T03:04:05.123456789Z",
    end_time: "2026-01-02T03:04:06.623456789Z",
    status: { code: "OK", message: "" },
    attributes: { llm: { deep: { er: 7 } }, input: { value: '{"a": 1}' }, whole: 1 },
    dropped_attributes_count: 2,
    events: [{ name: "seen", timestamp: "2026-01-02T03:04:05.123456790Z", attributes: { at: true } }],
    links: [
      {
        context: { trace_id: link.traceId, span_id: link.spanId, trace_state: "" },
        attributes: { why: "follows" },
      },
    ],
    resource: { attributes: {} },
    scope: { name: "tests", version: "1", attributes: {} },
  })
})

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
])("calls 8: bodies may be in %s", async (coding, encode) => {
  const [project, id] = [acme.newProject(), newSpan()]
  const body = encode(protobufTraces({}, [spanFields(newTrace(), id, "coded")]))
  const headers = { ...protobuf, project_id: project, "content-encoding": coding }
  expect((await acme.post("/otel/v1/traces", body, headers)).status).toBe(200)
  expect((await readCall(project, id))?.op_name).toBe("coded")
})

test("calls 8: several resources of one request go to their own projects, the others to the header's", async () => {
  const [one, two, rest] = [acme.newProject(), acme.newProject(), acme.newProject()]
  const ids = [newSpan(), newSpan(), newSpan(), newSpan()] as const
  const resource = (project: string | null, id: string) => ({
    resource: {
      attributes:
        project === null
          ? []
          : jsonAttributes({ "wandb.entity": "acme", "wandb.project": project.split("/")[1] ?? "" }),
    },
    scopeSpans: [{ spans: [jsonSpan(newTrace(), id)] }],
  })
  const foreign = { resource: { attributes: jsonAttributes({ "wandb.entity": "rival", "wandb.project": "x" }) } }
  const body = {
    resourceSpans: [
      resource(one, ids[0]),
      resource(two, ids[1]),
      resource(null, ids[2]),
      { ...foreign, scopeSpans: [{ spans: [jsonSpan(newTrace(), ids[3]), jsonSpan(newTrace(), newSpan())] }] },
    ],
  }
  const answer = await acme.post("/v1/traces", body, { project_id: rest })
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({ partialSuccess: { rejectedSpans: "2", errorMessage: "Project not found" } })
  expect((await readCall(one, ids[0]))?.id).toBe(ids[0])
  expect((await readCall(two, ids[1]))?.id).toBe(ids[1])
  expect((await readCall(rest, ids[2]))?.id).toBe(ids[2])
  expect(await readCall(one, ids[2])).toBeNull()
})

test("calls 8: the key may come as wandb-api-key, Bearer or Basic, and no other key gets in", async () => {
  const project = acme.newProject()
  const send = async (headers: Record<string, string>) => {
    const answer = await app.app.server.inject({
      method: "POST",
      url: "/otel/v1/traces",
      headers: { "content-type": "application/json", project_id: project, ...headers },
      payload: JSON.stringify(jsonTraces(jsonSpan(newTrace(), newSpan()))),
    })
    return { status: answer.statusCode, body: answer.json<object>() }
  }
  expect((await send({ "wandb-api-key": acme.key })).status).toBe(200)
  expect((await send({ authorization: `Bearer ${acme.key}` })).status).toBe(200)
  expect((await send({ "wandb-api-key": "x".repeat(40) })).body).toMatchObject({ code: 16 })
  expect(await send({})).toMatchObject({ status: 401, body: { code: 16 } })
  expect(await send({ "wandb-api-key": app.rival.key })).toEqual({
    status: 403,
    body: { code: 7, message: "Project not found", detail: "Project not found" },
  })
})

test("calls 8: errors of protobuf requests are a Status in protobuf", async () => {
  const none = await acme.post(
    "/otel/v1/traces",
    protobufTraces({}, [spanFields(newTrace(), newSpan(), "x")]),
    protobuf,
  )
  expect([none.status, none.headers["content-type"]]).toEqual([400, "application/x-protobuf"])
  expect(none.text.slice(0, 3)).toBe("\u0008\u0003\u0012")
  expect(none.text).toContain("wandb.entity and wandb.project")
  const broken = await acme.post("/otel/v1/traces", Buffer.from([0x0a, 0x7f]), { ...protobuf, project_id: "acme/x" })
  expect([broken.status, broken.headers["content-type"]]).toEqual([400, "application/x-protobuf"])
  expect(broken.text).toContain("the request body is not an OTLP message: a field has 127 bytes")
})

test("calls 8: a body that unpacks to more than the limit is refused, and nothing is stored", async () => {
  const bomb = gzipSync(Buffer.alloc(33 * 1024 * 1024))
  const answer = await acme.post("/otel/v1/traces", bomb, { ...protobuf, "content-encoding": "gzip" })
  expect([answer.status, answer.text.slice(0, 3)]).toEqual([413, "\u0008\u0008\u0012"])
})

test.each([
  ["not JSON", "{", 400],
  ["not an object", "[1]", 400],
  ["resourceSpans of a wrong kind", '{"resourceSpans": {}}', 400],
  ["a span that is a number", '{"resourceSpans":[{"scopeSpans":[{"spans":[7]}]}]}', 400],
  ["nesting", `{"resourceSpans":${"[".repeat(100_000)}`, 413],
])("calls 8: JSON with %s is refused in words", async (_what, body, status) => {
  const answer = await acme.post("/otel/v1/traces", body, { project_id: acme.newProject() })
  expect(answer.status).toBe(status)
  expect(answer.body).toMatchObject({ code: status === 400 ? 3 : 8, message: expect.any(String) })
})

test("calls 8: another content type is 415, no body at all is an empty request", async () => {
  expect((await acme.post("/otel/v1/traces", "x", { "content-type": "text/plain" })).status).toBe(415)
  expect((await acme.post("/otel/v1/traces", Buffer.alloc(0), protobuf)).status).toBe(200)
  expect(await acme.post("/otel/v1/traces")).toMatchObject({ status: 200, body: {} })
})

test("calls 8: spans that cannot be stored are told apart from those that can", async () => {
  const [project, good] = [acme.newProject(), newSpan()]
  const trace = newTrace()
  const headers = { project_id: project }
  const bad = [
    jsonSpan(trace, "0000000000000000", {}, { name: "zeros" }),
    jsonSpan("abcd", newSpan(), {}, { name: "short" }),
    jsonSpan(trace, newSpan(), {}, { name: "timeless", startTimeUnixNano: 0, endTimeUnixNano: "0" }),
    jsonSpan(trace, newSpan(), {}, { name: "late", endTimeUnixNano: "18446744073709551615" }),
    jsonSpan(trace, newSpan(), {}, { name: "orphan", parentSpanId: "ab" }),
    jsonSpan(trace, newSpan(), { "langfuse.startTime": 1e305 }, { name: "endless" }),
  ]
  const answer = await acme.post("/otel/v1/traces", jsonTraces(jsonSpan(trace, good), ...bad), headers)
  expect(answer.status).toBe(200)
  const { rejectedSpans, errorMessage } = (
    answer.body as { partialSuccess: { rejectedSpans: string; errorMessage: string } }
  ).partialSuccess
  expect(rejectedSpans).toBe("6")
  expect(errorMessage.split("; ")).toEqual([
    expect.stringMatching(/^the span "zeros" .* is not stored: its span id "0000000000000000" is not 8 bytes/),
    expect.stringMatching(/^the span "short" .*: its trace id "abcd" is not 16 bytes/),
    expect.stringMatching(/^the span "timeless" .*: it has no start time/),
    expect.stringMatching(/^the span "late" .*: its end time is not between the years 1900 and 2299/),
    expect.stringMatching(/^the span "orphan" .*: its parent span id "ab" is not 8 bytes/),
    expect.stringMatching(/^the span "endless" .*: its start time is not between the years 1900 and 2299/),
  ])
  expect((await readCall(project, good))?.id).toBe(good)
  const all = await acme.post("/otel/v1/traces", jsonTraces(...bad), headers)
  expect(all.status).toBe(400)
  expect(all.body).toMatchObject({ code: 3, message: expect.stringContaining('the span "zeros"') })
})

test("calls 8: the same span again is the same call, and a child may come before its parent", async () => {
  const [project, trace, parent, child] = [acme.newProject(), newTrace(), newSpan(), newSpan()]
  const send = (...spans: object[]) => acme.post("/otel/v1/traces", jsonTraces(...spans), { project_id: project })
  await send(jsonSpan(trace, child, { a: "1" }, { parentSpanId: parent }))
  await send(jsonSpan(trace, child, { a: "1" }, { parentSpanId: parent }), jsonSpan(trace, parent))
  await send(jsonSpan(trace, parent))
  const calls = await acme.lines("/calls/stream_query", { project_id: project, filter: { trace_ids: [trace] } })
  expect(new Map(calls.map((call) => [(call as Call).id, (call as Call).parent_id]))).toEqual(
    new Map([
      [child, parent],
      [parent, null],
    ]),
  )
  expect((await acme.post("/calls/query_stats", { project_id: project })).body).toMatchObject({ count: 2 })
})

test("calls 8: a name longer than 128 characters ends in what tells it from others", async () => {
  const [a, b] = [`${"x".repeat(200)}a`, `${"x".repeat(200)}b`]
  const [first, second] = [await callOf({}, { name: a }), await callOf({}, { name: b })]
  // The name ends in the first digits of the SHA-256 of the whole name.
  expect(first.op_name).toBe(`${"x".repeat(123)}:f2e7`)
  expect(second.op_name).toMatch(/^x{123}:[0-9a-f]{4}$/)
  expect(second.op_name).not.toBe(first.op_name)
  expect((await callOf({}, { name: "é".repeat(128) })).op_name).toBe("é".repeat(128))
  expect((await callOf({}, { name: "" })).op_name).toBe("unnamed")
})

test("calls 8: a span in protobuf without an end runs, and its end may come later", async () => {
  const [project, trace, id] = [acme.newProject(), newTrace(), newSpan()]
  const send = (...fields: Buffer[]) =>
    acme.post("/otel/v1/traces", protobufTraces({}, [fields]), { ...protobuf, project_id: project })
  const begun = spanFields(trace, id, "long").slice(0, 4)
  expect((await send(...begun)).status).toBe(200)
  expect((await readCall(project, id))?.summary.weave["status"]).toBe("running")
  await send(...begun, timeField(8, spanStart + 2_000_000n))
  expect((await readCall(project, id))?.summary.weave).toMatchObject({ status: "success", latency_ms: 2 })
})
