/** Evaluation results through OTLP logs: evaluation-store-calls 8, evaluation-store-objects 2.3. */
import { randomBytes } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import {
  bytesField,
  jsonAttributes,
  jsonSpan,
  jsonTraces,
  spanStart,
  textAttribute,
  timeField,
} from "../support/otlp-message.ts"

let app: EvaluationApp
let acme: EvaluationCaller

beforeAll(async () => {
  app = await openEvaluationApp()
  acme = app.acme
})
afterAll(() => app.close())

const newTrace = () => randomBytes(16).toString("hex")
const newSpan = () => randomBytes(8).toString("hex")

type Attributes = Parameters<typeof jsonAttributes>[0]

function record(spanId: string, attributes: Attributes, more: object = {}): object {
  return {
    timeUnixNano: String(spanStart),
    traceId: newTrace(),
    spanId,
    eventName: "gen_ai.evaluation.result",
    attributes: jsonAttributes(attributes),
    ...more,
  }
}

const jsonLogs = (...logRecords: object[]) => ({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })

interface Feedback {
  id: string
  weave_ref: string
  feedback_type: string
  runnable_ref: string
  payload: { output: object; otel_event: { attributes: object; time: string; trace_id: string } }
  scorer_ratings: object
  scorer_rating_reasons: object
}

async function feedbackOf(project: string): Promise<Feedback[]> {
  const answer = await acme.post("/feedback/query", { project_id: project })
  expect(answer.status, answer.text).toBe(200)
  return (answer.body as { result: Feedback[] }).result
}

test("calls 8: an evaluation result becomes a score of its span's call, once however often it is sent", async () => {
  const [project, span] = [acme.newProject(), newSpan()]
  const headers = { project_id: project }
  await acme.post("/otel/v1/traces", jsonTraces(jsonSpan(newTrace(), span)), headers)
  const event = record(span, {
    "gen_ai.evaluation.name": "Relevance!",
    "gen_ai.evaluation.score.value": 4,
    "gen_ai.evaluation.score.label": "relevant",
    "gen_ai.evaluation.explanation": "it is about the question",
    custom: 1n,
  })
  for (const path of ["/otel/v1/logs", "/v1/logs"]) {
    expect(await acme.post(path, jsonLogs(event), headers)).toMatchObject({ status: 200, body: {} })
  }
  const rows = await feedbackOf(project)
  expect(rows).toHaveLength(1)
  const [row] = rows as [Feedback]
  expect(row).toMatchObject({
    weave_ref: `weave:///${project}/call/${span}`,
    feedback_type: "wandb.runnable.Relevance-",
    payload: {
      output: { score: 4, label: "relevant", explanation: "it is about the question" },
      otel_event: { time: "2026-01-02T03:04:05.123456789Z", attributes: { custom: 1 } },
    },
    scorer_ratings: { "Relevance-": 4 },
    scorer_rating_reasons: { "Relevance-": "it is about the question" },
  })
  const scorer = await acme.post("/refs/read_batch", { refs: [row.runnable_ref] })
  expect(scorer.body).toMatchObject({ vals: [{ _class_name: "Scorer", name: "Relevance-" }] })
  const call = await acme.lines("/calls/stream_query", {
    project_id: project,
    include_feedback: true,
    query: {
      $expr: {
        $gt: [
          {
            $convert: {
              input: { $getField: "feedback.[wandb.runnable.Relevance-].payload.output.score" },
              to: "double",
            },
          },
          { $literal: 3 },
        ],
      },
    },
  })
  expect(call).toMatchObject([{ id: span, summary: { weave: { feedback: [{ id: row.id }] } } }])
})

test("calls 8: a scorer that the project has is the one that its scores name, and stays as it is", async () => {
  const project = acme.newProject()
  const own = { _type: "Scorer", name: "tone", of: "the user" }
  const made = await acme.post("/obj/create", { obj: { project_id: project, object_id: "tone", val: own } })
  const { digest } = made.body as { digest: string }
  const event = record(newSpan(), { "gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.label": "kind" })
  expect((await acme.post("/v1/logs", jsonLogs(event), { project_id: project })).status).toBe(200)
  const [row] = await feedbackOf(project)
  expect(row?.runnable_ref).toBe(`weave:///${project}/object/tone:${digest}`)
  expect(row?.scorer_ratings).toBeUndefined()
})

test("calls 8: logs come in protobuf too, and an event may be named by an attribute", async () => {
  const [project, span] = [acme.newProject(), newSpan()]
  const fields = [
    timeField(1, spanStart),
    bytesField(6, textAttribute("event.name", "gen_ai.evaluation.result")),
    bytesField(6, textAttribute("gen_ai.evaluation.name", "fluency")),
    bytesField(6, [bytesField(1, "gen_ai.evaluation.score.value"), bytesField(2, Buffer.from([0x18, 0x07]))]),
    bytesField(9, Buffer.from(newTrace(), "hex")),
    bytesField(10, Buffer.from(span, "hex")),
  ]
  const body = bytesField(1, bytesField(2, bytesField(2, fields)))
  const headers = { project_id: project, "content-type": "application/x-protobuf" }
  expect(await acme.post("/otel/v1/logs", body, headers)).toMatchObject({ status: 200, text: "" })
  expect(await feedbackOf(project)).toMatchObject([
    { weave_ref: `weave:///${project}/call/${span}`, payload: { output: { score: 7 } } },
  ])
})

test("calls 8: other log records are told to be left out; events that say too little are refused", async () => {
  const project = acme.newProject()
  const send = (...records: object[]) => acme.post("/v1/logs", jsonLogs(...records), { project_id: project })
  const other = { eventName: "", body: { stringValue: "hello" } }
  const left = "only events gen_ai.evaluation.result are stored; send other log records elsewhere"
  expect(await send(other, other)).toMatchObject({
    status: 200,
    body: { partialSuccess: { rejectedLogRecords: "2", errorMessage: left } },
  })
  const nameless = record(newSpan(), { "gen_ai.evaluation.score.value": 1 })
  const spanless = record("", { "gen_ai.evaluation.name": "x" })
  const good = record(newSpan(), { "gen_ai.evaluation.name": "x" })
  const partial = await send(nameless, spanless, good, other)
  expect(partial.body).toMatchObject({ partialSuccess: { rejectedLogRecords: "3" } })
  expect(partial.text).toContain("it has no gen_ai.evaluation.name")
  expect(partial.text).toContain("emit it in the span that it scores")
  expect(await feedbackOf(project)).toHaveLength(1)
  expect(await send(nameless)).toMatchObject({ status: 400, body: { code: 3 } })
  expect(await acme.post("/v1/logs", jsonLogs(good), { project_id: "rival/x" })).toMatchObject({ status: 403 })
})

test("calls 8: an event sent again is the same score, also after its scorer got a newer version", async () => {
  const project = acme.newProject()
  const event = record(newSpan(), { "gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 1 })
  const send = () => acme.post("/v1/logs", jsonLogs(event), { project_id: project })
  expect((await send()).status).toBe(200)
  const [before] = await feedbackOf(project)
  const newer = { _type: "Scorer", _class_name: "Scorer", _bases: ["Object", "BaseModel"], name: "tone", of: "all" }
  const made = await acme.post("/obj/create", { obj: { project_id: project, object_id: "tone", val: newer } })
  expect(made.status, made.text).toBe(200)
  expect(await send()).toMatchObject({ status: 200, body: {} })
  expect(await feedbackOf(project)).toEqual([before])
})

test("calls 8: an event that is too large for feedback does not keep the others from being stored", async () => {
  const project = acme.newProject()
  const named = (name: string, more: Attributes) => record(newSpan(), { "gen_ai.evaluation.name": name, ...more })
  const large = named("large", { "gen_ai.evaluation.explanation": "y".repeat(600_000) })
  const answer = await acme.post("/v1/logs", jsonLogs(large, named("small", {})), { project_id: project })
  expect(answer.body).toMatchObject({
    partialSuccess: {
      rejectedLogRecords: "1",
      errorMessage: expect.stringMatching(/^Feedback payload too large: 1200\d+ characters, at most 1048576$/),
    },
  })
  expect(await feedbackOf(project)).toMatchObject([{ feedback_type: "wandb.runnable.small" }])
})

test("calls 8: the trace id of an event is text, whatever it holds", async () => {
  const project = acme.newProject()
  for (const traceId of ['"', '","time":"']) {
    const event = record(newSpan(), { "gen_ai.evaluation.name": "x" }, { traceId })
    expect(await acme.post("/v1/logs", jsonLogs(event), { project_id: project })).toMatchObject({
      status: 200,
      body: {},
    })
  }
  const traces = (await feedbackOf(project)).map(({ payload }) => payload.otel_event.trace_id)
  expect(traces.toSorted()).toEqual(['"', '","time":"'])
})
