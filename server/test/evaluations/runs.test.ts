/** Evaluation runs, predictions and scores over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { evaluationRun, prediction, score } from "../../src/wire/evaluations/evaluation-run.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { type RunProject, runProject } from "../support/evaluation-runs.ts"
import { storeCalls } from "../support/stored-calls.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const projectOf = () => runProject(opened.acme)

interface Call {
  id: string
  trace_id: string
  parent_id: string | null
  op_name: string
  ended_at: string | null
  attributes: Record<string, unknown>
  inputs: Record<string, unknown>
  output: unknown
}

async function callsOf(project: RunProject): Promise<Call[]> {
  return (await opened.acme.lines("/calls/stream_query", { project_id: project.name })) as Call[]
}

const nameOf = ({ op_name }: Call) => /\/op\/([^:]+):/.exec(op_name)?.[1] ?? op_name

describe("objects 7: an evaluation run", () => {
  test("is the root call of an evaluation, marked as the reference marks it", async () => {
    const project = projectOf()
    const id = await project.run({ source_evaluation_run_id: "earlier" })
    const [call] = await callsOf(project)
    expect(call).toMatchObject({
      id,
      trace_id: id,
      parent_id: null,
      ended_at: null,
      inputs: { self: project.ref("eval"), model: project.ref("model") },
      attributes: {
        weave: {
          evaluation_run: "true",
          evaluation: project.ref("eval"),
          model: project.ref("model"),
          source_evaluation_run_id: "earlier",
        },
      },
    })
    expect(call?.op_name).toMatch(`weave:///${project.name}/op/Evaluation.evaluate:`)
    const { body } = await opened.acme.post("/refs/read_batch", { refs: [call?.op_name] })
    expect(body).toMatchObject({ vals: [{ weave_type: { type: "Op" } }] })
  })

  test("reads back while it runs", async () => {
    const project = projectOf()
    const id = await project.run()
    const answer = await project.get(`evaluation_runs/${id}`)
    expect(evaluationRun.parse(answer.body)).toEqual({
      evaluation_run_id: id,
      evaluation: project.ref("eval"),
      model: project.ref("model"),
      status: "running",
      started_at: expect.stringMatching(/Z$/),
      finished_at: null,
      summary: null,
      source_evaluation_run_id: null,
    })
  })

  test("finishing it gives it the means of scores and outputs, and a summarize call", async () => {
    const project = projectOf()
    const run = await project.run()
    const values = [
      { output: 2, scores: { exact: true, length: 1, nested: { a: { b: 0.5 } }, note: "text" } },
      { output: 5, scores: { exact: false, length: 2.5, nested: { a: { b: 1 } } } },
      { output: "none", scores: { length: null } },
    ]
    for (const { output, scores } of values) {
      const prediction_id = await project.prediction({ evaluation_run_id: run, output })
      for (const [name, value] of Object.entries(scores)) {
        await project.score({ prediction_id, evaluation_run_id: run, scorer: project.ref(name), value })
      }
      await project.post(`predictions/${prediction_id}/finish`)
    }
    const answer = await project.post(`evaluation_runs/${run}/finish`, { summary: { note: "done" } })
    expect([answer.status, answer.body]).toEqual([200, { success: true }])
    const means = {
      exact: { mean: 0.5 },
      length: { mean: 1.75 },
      nested: { a: { b: { mean: 0.75 } } },
      output: { mean: 3.5 },
    }
    const calls = await callsOf(project)
    expect(calls.find(({ id }) => id === run)?.output).toEqual(means)
    const summarize = calls.filter((call) => nameOf(call) === "Evaluation.summarize")
    expect(summarize).toMatchObject([
      { parent_id: run, trace_id: run, output: means, inputs: { self: project.ref("eval") } },
    ])
    const read = evaluationRun.parse((await project.get(`evaluation_runs/${run}`)).body)
    expect(read).toMatchObject({ status: "success", summary: { note: "done" }, finished_at: expect.any(String) })
  })

  test("has the status of its call: an exception of its own, or failures below it", async () => {
    const project = projectOf()
    await project.run()
    const [failed, troubled] = ["0192f000-0000-7000-8000-00000000000a", "0192f000-0000-7000-8000-00000000000b"] as const
    const call = (id: string, fields: object) => ({
      id,
      trace_id: id,
      op_name: "Evaluation.evaluate",
      started_at: "2026-01-01 00:00:00.000000",
      ended_at: "2026-01-01 00:00:02.000000",
      attributes: "{}",
      inputs: '{"self":"e","model":"m"}',
      summary: "{}",
      ...fields,
    })
    await storeCalls(opened.app, project.name, [
      call(failed, { exception: "no dataset" }),
      call(troubled, { summary: '{"status_counts":{"success":1,"error":2}}' }),
    ])
    expect((await project.get(`evaluation_runs/${failed}`)).body).toMatchObject({ status: "error" })
    expect((await project.get(`evaluation_runs/${troubled}`)).body).toMatchObject({ status: "descendant_error" })
  })

  test("finishing it again changes neither the time nor the number of calls, and takes new means", async () => {
    const project = projectOf()
    const run = await project.run()
    await project.post(`evaluation_runs/${run}/finish`, { summary: { kept: 1.0 } })
    const before = (await project.get(`evaluation_runs/${run}`)).text
    expect((await project.post(`evaluation_runs/${run}/finish`)).status).toBe(200)
    expect((await project.get(`evaluation_runs/${run}`)).text).toBe(before)
    const late = await project.prediction({ evaluation_run_id: run, output: 4 })
    await project.post(`predictions/${late}/finish`)
    await project.post(`evaluation_runs/${run}/finish`, { summary: { kept: 2 } })
    const calls = await callsOf(project)
    expect(calls.filter((call) => nameOf(call) === "Evaluation.summarize")).toHaveLength(1)
    expect(calls.find(({ id }) => id === run)?.output).toEqual({ output: { mean: 4 } })
    expect((await project.get(`evaluation_runs/${run}`)).body).toMatchObject({ summary: { kept: 2 } })
  })

  test("law 3: the summary comes back with every byte it came with", async () => {
    const project = projectOf()
    const run = await project.run()
    const summary = '{"n":9007199254740993, "f":1.0,"u":"\\u0000"}'
    await project.post(`evaluation_runs/${run}/finish`, `{"summary":${summary}}`)
    expect((await project.get(`evaluation_runs/${run}`)).text).toContain(`"summary":${summary}`)
  })

  test("runs list as JSON Lines, by evaluation, model and id, oldest first, in pages", async () => {
    const project = projectOf()
    expect((await project.get("evaluation_runs")).status).toBe(403)
    const a = await project.run({ evaluation: project.ref("a") })
    const b = await project.run({ evaluation: project.ref("b"), model: project.ref("other") })
    const c = await project.run({ evaluation: project.ref("a"), model: project.ref("other") })
    const listed = async (query: string) =>
      (await project.lines(`evaluation_runs${query}`)).map((line) => evaluationRun.parse(line).evaluation_run_id)
    expect(await listed("")).toEqual([a, b, c])
    expect(await listed("?limit=1&offset=1")).toEqual([b])
    expect(await listed("?limit=&offset=2")).toEqual([c])
    expect(await listed("?limit=0")).toEqual([])
    const [evaluation, model] = ["a", "other"].map((name) => encodeURIComponent(project.ref(name)))
    expect(await listed(`?evaluations=${evaluation}`)).toEqual([a, c])
    expect(await listed(`?evaluation_refs=${evaluation}&model_refs=${model}`)).toEqual([c])
    expect(await listed(`?models=${model}&models=nothing`)).toEqual([b, c])
    expect(await listed(`?evaluation_run_ids=${b},${c}`)).toEqual([b, c])
    expect((await project.get("evaluation_runs")).headers["content-type"]).toBe("application/jsonl")
  })

  test("deleting it takes all below it, by body or by query, and leaves other calls alone", async () => {
    const project = projectOf()
    const [first, second, third] = [await project.run(), await project.run(), await project.run()]
    const predicted = await project.prediction({ evaluation_run_id: first, output: 1 })
    await project.score({ prediction_id: predicted, evaluation_run_id: first })
    expect((await project.delete("evaluation_runs", { evaluation_run_ids: [first] })).body).toEqual({ num_deleted: 4 })
    expect((await project.get(`predictions/${predicted}`)).status).toBe(404)
    const other = await project.prediction({ evaluation_run_id: third, output: 1 })
    const query = `evaluation_runs?evaluation_run_ids=${second}&evaluation_run_ids=${other}&evaluation_run_ids=nothing`
    expect((await project.delete(query)).body).toEqual({ num_deleted: 1 })
    expect((await project.lines("evaluation_runs")).map((run) => run["evaluation_run_id"])).toEqual([third])
    expect((await project.get(`predictions/${other}`)).status).toBe(200)
    expect((await project.delete(`evaluation_runs?evaluation_run_ids=${first}`)).body).toEqual({ num_deleted: 0 })
  })

  test("a missing run is 404, a deletion without ids 422, too many ids 413", async () => {
    const project = projectOf()
    const run = await project.run()
    const lonely = await project.prediction({ output: 1 })
    for (const id of ["nothing", lonely, "a%00b"]) {
      expect((await project.get(`evaluation_runs/${id}`)).status).toBe(404)
      expect((await project.post(`evaluation_runs/${id}/finish`)).body).toMatchObject({
        reason: expect.stringContaining("Evaluation run"),
        error_type: "NotFoundError",
      })
    }
    await project.delete("evaluation_runs", { evaluation_run_ids: [run] })
    expect((await project.post(`evaluation_runs/${run}/finish`)).status).toBe(404)
    expect((await project.delete("evaluation_runs")).status).toBe(422)
    const many = Array.from({ length: 1001 }, (_, index) => `run-${index}`)
    expect((await project.delete("evaluation_runs", { evaluation_run_ids: many })).status).toBe(413)
    expect((await project.get("evaluation_runs?limit=-1")).status).toBe(400)
    expect((await project.get("evaluation_runs?limit=many")).status).toBe(422)
    expect((await project.post("evaluation_runs", { evaluation: 1 })).status).toBe(422)
    const internal = { evaluation: "weave-trace-internal:///1/object/e:v0", model: "m" }
    expect((await project.post("evaluation_runs", internal)).status).toBe(400)
  })
})

describe("objects 7: a prediction", () => {
  test("in a run has a predict_and_score call above it", async () => {
    const project = projectOf()
    const run = await project.run()
    const spans = [{ trace_id: "t".repeat(32), span_id: "s".repeat(16) }]
    const id = await project.prediction({
      evaluation_run_id: run,
      inputs: { q: "why" },
      output: "because",
      genai_span_ref: spans,
    })
    const calls = await callsOf(project)
    const trial = calls.find((call) => nameOf(call) === "Evaluation.predict_and_score")
    expect(trial).toMatchObject({
      parent_id: run,
      trace_id: run,
      ended_at: null,
      inputs: { self: project.ref("eval"), model: project.ref("model"), example: { q: "why" } },
      attributes: { weave: { predict_call_id: id, genai_span_ref: spans } },
    })
    expect(calls.find((call) => call.id === id)).toMatchObject({
      op_name: expect.stringContaining("/op/model.predict:"),
      parent_id: trial?.id,
      trace_id: run,
      ended_at: expect.any(String),
      inputs: { self: project.ref("model"), inputs: { q: "why" } },
      output: "because",
      attributes: { weave: { prediction: "true", model: project.ref("model"), evaluation_run_id: run } },
    })
    expect(prediction.parse((await project.get(`predictions/${id}`)).body)).toEqual({
      prediction_id: id,
      model: project.ref("model"),
      inputs: { q: "why" },
      output: "because",
      evaluation_run_id: run,
      wb_user_id: expect.any(String),
    })
  })

  test("without a run stands alone, and its model may be any text", async () => {
    const project = projectOf()
    const id = await project.prediction({ model: "gpt-4", output: { a: [1] } })
    const [call, ...rest] = await callsOf(project)
    expect(rest).toEqual([])
    expect(call).toMatchObject({ id, trace_id: id, parent_id: null })
    expect(nameOf(call as Call)).toBe("Model.predict")
    expect((await project.get(`predictions/${id}`)).body).toMatchObject({ model: "gpt-4", evaluation_run_id: null })
    expect((await project.post(`predictions/${id}/finish`)).body).toEqual({ success: true })
    expect(await callsOf(project)).toEqual([call])
  })

  test("a model whose name is too long for an op's is predicted by Model.predict", async () => {
    const project = projectOf()
    await project.prediction({ model: project.ref("m".repeat(125)), output: 1 })
    await project.prediction({ model: project.ref("m".repeat(120)), output: 1 })
    expect((await callsOf(project)).map(nameOf)).toEqual(["Model.predict", `${"m".repeat(120)}.predict`])
  })

  test("law 3: inputs and output come back with every byte they came with", async () => {
    const project = projectOf()
    const run = await project.run()
    const [inputs, output] = ['{"n":9007199254740993, "k":"\\ud800"}', "[1.0,1e400, -0]"]
    const body = `{"model":"m","evaluation_run_id":"${run}","inputs":${inputs},"output":${output}}`
    const { prediction_id } = (await project.post("predictions", body)).body as { prediction_id: string }
    const { text } = await project.get(`predictions/${prediction_id}`)
    expect(text).toContain(`"inputs":${inputs},"output":${output}`)
    expect((await project.get(`predictions?evaluation_run_id=${run}`)).text).toBe(`${text}\n`)
  })

  test("calls 1.5: the key of the request is not stored with what it predicted", async () => {
    const project = projectOf()
    const { key } = opened.acme
    const body = { model: "m", inputs: { client: { apiKey: key } }, output: { sent: `Bearer ${key}` } }
    const { prediction_id } = (await project.post("predictions", body)).body as { prediction_id: string }
    const stars = "*".repeat(key.length)
    expect((await project.get(`predictions/${prediction_id}`)).body).toMatchObject({
      inputs: { client: { apiKey: stars } },
      output: { sent: `Bearer ${stars}` },
    })
  })

  test("finishing it ends its predict_and_score call with output, scores and latency, and not the prediction", async () => {
    const project = projectOf()
    const run = await project.run()
    const id = await project.prediction({ evaluation_run_id: run, output: { text: "7" } })
    const before = (await callsOf(project)).find((call) => call.id === id)
    await project.score({ prediction_id: id, evaluation_run_id: run, value: 0.5 })
    const trial = async () => (await callsOf(project)).find((call) => nameOf(call) === "Evaluation.predict_and_score")
    expect((await project.post(`predictions/${id}/finish`)).body).toEqual({ success: true })
    const first = await trial()
    expect(first?.output).toEqual({ output: { text: "7" }, scores: { scorer: 0.5 }, model_latency: { mean: 0 } })
    await project.score({ prediction_id: id, evaluation_run_id: run, value: 0.75 })
    await project.score({ prediction_id: id, evaluation_run_id: run, scorer: project.ref("other"), value: null })
    expect((await project.post(`predictions/${id}/finish`)).status).toBe(200)
    const again = await trial()
    expect(again?.output).toMatchObject({ scores: { scorer: 0.75, other: null } })
    expect(again?.ended_at).toBe(first?.ended_at)
    expect((await callsOf(project)).find((call) => call.id === id)).toEqual(before)
  })

  test("finishing what an SDK recorded keeps its output, its scores and its times to the microsecond", async () => {
    const project = projectOf()
    await project.run()
    const uuid = (end: number) => `0192f000-0000-7000-8000-00000000000${end}`
    const [run, trial, predict] = [uuid(1), uuid(2), uuid(3)] as const
    const call = (id: string, fields: object) => ({
      id,
      trace_id: run,
      started_at: "2026-01-01 00:00:00.123456",
      ended_at: "2026-01-01 00:00:02.123456",
      attributes: "{}",
      summary: "{}",
      ...fields,
    })
    const output = '{"output":1.0,"scores":{"sdk":0.50},"model_latency":3}'
    await storeCalls(opened.app, project.name, [
      call(run, { op_name: "Evaluation.evaluate", inputs: '{"self":"e","model":"m"}', output: "{}" }),
      call(trial, { op_name: "Evaluation.predict_and_score", parent_id: run, inputs: '{"model":"m"}', output }),
      call(predict, { op_name: "M.predict", parent_id: trial, inputs: '{"self":"m"}', output: "1.0" }),
    ])
    const read = async (id: string) => (await opened.acme.post("/call/read", { project_id: project.name, id })).text
    expect((await project.post(`predictions/${predict}/finish`)).status).toBe(200)
    expect(await read(trial)).toContain(`"output":${output}`)
    await project.score({ prediction_id: predict, evaluation_run_id: run, value: 1.0 })
    expect((await project.post(`predictions/${predict}/finish`)).status).toBe(200)
    expect(JSON.parse(await read(trial))).toMatchObject({
      call: {
        output: { output: 1, scores: { sdk: 0.5, scorer: 1 }, model_latency: 3 },
        ended_at: "2026-01-01T00:00:02.123456Z",
      },
    })
    expect((await project.post(`evaluation_runs/${run}/finish`)).status).toBe(200)
    expect(JSON.parse(await read(run))).toMatchObject({
      call: { output: { sdk: { mean: 0.5 }, scorer: { mean: 1 } }, ended_at: "2026-01-01T00:00:02.123456Z" },
    })
  })

  test("predictions list by run, and are deleted with what is below them", async () => {
    const project = projectOf()
    const [one, other] = [await project.run(), await project.run()]
    const a = await project.prediction({ evaluation_run_id: one, output: 1 })
    const b = await project.prediction({ evaluation_run_id: other, output: 2 })
    const alone = await project.prediction({ output: 3 })
    await project.score({ prediction_id: a, evaluation_run_id: one })
    const listed = async (query: string) =>
      (await project.lines(`predictions${query}`)).map((line) => prediction.parse(line).prediction_id)
    expect(await listed("")).toEqual([a, b, alone])
    expect(await listed(`?evaluation_run_id=${other}`)).toEqual([b])
    expect(await listed("?evaluation_run_id=nothing")).toEqual([])
    expect(await listed("?offset=1&limit=1")).toEqual([b])
    const answer = await project.delete(`predictions?prediction_ids=${a},${one}`, { prediction_ids: [alone] })
    expect(answer.body).toEqual({ num_deleted: 2 })
    expect(await listed("")).toEqual([b])
    expect((await project.get(`evaluation_runs/${one}`)).status).toBe(200)
  })

  test("a missing field is 422 at its place, and a missing run or prediction 404", async () => {
    const project = projectOf()
    const run = await project.run()
    const body = { model: "m", inputs: {}, output: null }
    expect((await project.post("predictions", { model: "m", inputs: {} })).body).toMatchObject({
      detail: [{ loc: ["body", "output"], type: "missing" }],
    })
    expect((await project.post("predictions", { ...body, inputs: [1] })).status).toBe(422)
    expect((await project.post("predictions", { ...body, evaluation_run_id: "nothing" })).status).toBe(404)
    expect((await project.post("predictions", "{")).status).toBe(422)
    const deep = `{"model":"m","output":null,"inputs":{"a":${"[".repeat(250)}${"]".repeat(250)}}}`
    expect((await project.post("predictions", deep)).status).toBe(413)
    for (const id of [run, "nothing"]) {
      expect((await project.get(`predictions/${id}`)).status).toBe(404)
      expect((await project.post(`predictions/${id}/finish`)).status).toBe(404)
    }
    await project.delete("evaluation_runs", { evaluation_run_ids: [run] })
    expect((await project.post("predictions", { ...body, evaluation_run_id: run })).status).toBe(404)
  })
})

describe("objects 7: a score", () => {
  test("is a call beside its prediction, and feedback on it", async () => {
    const project = projectOf()
    const run = await project.run()
    const predicted = await project.prediction({ evaluation_run_id: run, inputs: { q: 2 }, output: "two" })
    const id = await project.score({ prediction_id: predicted, evaluation_run_id: run, value: { ok: true } })
    const calls = await callsOf(project)
    const trial = calls.find((call) => nameOf(call) === "Evaluation.predict_and_score")
    expect(calls.find((call) => call.id === id)).toMatchObject({
      op_name: expect.stringContaining("/op/scorer.score:"),
      parent_id: trial?.id,
      trace_id: run,
      ended_at: expect.any(String),
      inputs: { self: project.ref("scorer"), inputs: { q: 2 }, output: "two" },
      output: { ok: true },
      attributes: {
        weave: { score: "true", prediction_id: predicted, scorer: project.ref("scorer"), evaluation_run_id: run },
      },
    })
    expect(score.parse((await project.get(`scores/${id}`)).body)).toEqual({
      score_id: id,
      scorer: project.ref("scorer"),
      value: { ok: true },
      evaluation_run_id: run,
      wb_user_id: expect.any(String),
    })
    const { body } = await opened.acme.post("/feedback/query", { project_id: project.name })
    expect(body).toMatchObject({
      total_count: 1,
      result: [
        {
          weave_ref: `weave:///${project.name}/call/${predicted}`,
          feedback_type: "wandb.runnable.scorer",
          payload: { output: { ok: true } },
          runnable_ref: project.ref("scorer"),
          call_ref: `weave:///${project.name}/call/${id}`,
        },
      ],
    })
  })

  test.each(["null", "true", "false", "0", "9007199254740993", "1.0", '"\\u2028\\ud800"', "[]", '{"a":{"b":1e3}}'])(
    "law 3: the value %s comes back as it came",
    async (value) => {
      const project = projectOf()
      const run = await project.run()
      const predicted = await project.prediction({ evaluation_run_id: run, output: 1 })
      const scorer = project.ref("s")
      const body = `{"prediction_id":"${predicted}","evaluation_run_id":"${run}","scorer":"${scorer}","value":${value}}`
      const { score_id } = (await project.post("scores", body)).body as { score_id: string }
      expect((await project.get(`scores/${score_id}`)).text).toContain(`"value":${value}}`)
      await project.post(`predictions/${predicted}/finish`)
      const { text } = await opened.acme.post("/calls/stream_query", { project_id: project.name })
      expect(text).toContain(`"scores":{"s":${value}}`)
    },
  )

  test("scores list by run, and deleting one leaves its prediction", async () => {
    const project = projectOf()
    const run = await project.run()
    const predicted = await project.prediction({ evaluation_run_id: run, output: 1 })
    const a = await project.score({ prediction_id: predicted, evaluation_run_id: run, value: 1 })
    const b = await project.score({ prediction_id: predicted, value: 2 })
    const listed = async (query: string) =>
      (await project.lines(`scores${query}`)).map((line) => score.parse(line).score_id)
    expect(await listed("")).toEqual([a, b])
    expect(await listed(`?evaluation_run_id=${run}`)).toEqual([a])
    expect((await project.delete("scores", { score_ids: [a, predicted] })).body).toEqual({ num_deleted: 1 })
    expect(await listed("")).toEqual([b])
    expect((await project.get(`predictions/${predicted}`)).status).toBe(200)
    expect((await project.get(`scores/${a}`)).status).toBe(404)
    expect((await project.get(`scores/${predicted}`)).status).toBe(404)
  })

  test("of a missing prediction, of another run's, or by a ref that is no scorer is refused and leaves nothing", async () => {
    const project = projectOf()
    const [run, other] = [await project.run(), await project.run()]
    const predicted = await project.prediction({ evaluation_run_id: run, output: 1 })
    const body = { prediction_id: predicted, scorer: project.ref("s"), value: 1, evaluation_run_id: run }
    const before = await callsOf(project)
    const status = async (changes: object) => (await project.post("scores", { ...body, ...changes })).status
    expect(await status({ prediction_id: "nothing" })).toBe(404)
    expect(await status({ prediction_id: run })).toBe(404)
    expect(await status({ evaluation_run_id: "nothing" })).toBe(404)
    expect(await status({ evaluation_run_id: other })).toBe(400)
    expect(await status({ scorer: "exact" })).toBe(400)
    expect(await status({ scorer: `weave:///${project.name}/call/x` })).toBe(400)
    expect(await status({ value: "x".repeat(1_100_000) })).toBe(400)
    expect(await status({ value: undefined })).toBe(422)
    expect(await callsOf(project)).toEqual(before)
    expect((await opened.acme.post("/feedback/query", { project_id: project.name })).body).toMatchObject({
      total_count: 0,
    })
  })
})

test.each([
  ["evaluation_runs", { model: "m" }, ["evaluation"]],
  ["evaluation_runs", { evaluation: "e" }, ["model"]],
  ["predictions", { inputs: {}, output: 1 }, ["model"]],
  ["predictions", { model: "m", output: 1 }, ["inputs"]],
  [
    "predictions",
    { model: "m", inputs: {}, output: 1, genai_span_ref: [{ trace_id: "t" }] },
    ["genai_span_ref", 0, "span_id"],
  ],
  ["scores", { scorer: "weave:///a/b/object/s:v0", value: 1 }, ["prediction_id"]],
  ["scores", { prediction_id: "p", value: 1 }, ["scorer"]],
  ["eval_results/query", { evaluation_run_ids: ["r"], filter_logic_operator: "xor" }, ["filter_logic_operator"]],
])("objects 7: %s of %j is 422 at %j", async (path, body, place) => {
  const answer = await projectOf().post(path, body)
  expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc: ["body", ...place] }] }])
})

describe("security 5.3: another team's key", () => {
  test("reads, writes and deletes nothing of it", async () => {
    const project = projectOf()
    const run = await project.run()
    const predicted = await project.prediction({ evaluation_run_id: run, output: 1 })
    const scored = await project.score({ prediction_id: predicted, evaluation_run_id: run })
    const theirs = runProject(opened.rival, project.name)
    const requests = [
      theirs.get("evaluation_runs"),
      theirs.get(`evaluation_runs/${run}`),
      theirs.get("predictions"),
      theirs.get(`predictions/${predicted}`),
      theirs.get(`scores/${scored}`),
      theirs.post("evaluation_runs", { evaluation: "e", model: "m" }),
      theirs.post(`evaluation_runs/${run}/finish`),
      theirs.post(`predictions/${predicted}/finish`),
      theirs.post("scores", { prediction_id: predicted, scorer: project.ref("s"), value: 1 }),
      theirs.delete("evaluation_runs", { evaluation_run_ids: [run] }),
      theirs.delete("predictions", { prediction_ids: [predicted] }),
      theirs.delete("scores", { score_ids: [scored] }),
    ]
    for (const answer of await Promise.all(requests)) {
      expect([answer.status, answer.body]).toEqual([403, { detail: "Project not found" }])
    }
    expect((await project.get(`scores/${scored}`)).status).toBe(200)
  })

  test("cannot score the prediction of another project in its own", async () => {
    const project = projectOf()
    const predicted = await project.prediction({ output: 1 })
    const own = runProject(opened.rival)
    const run = await own.run()
    const body = { prediction_id: predicted, scorer: own.ref("s"), value: 1 }
    expect((await own.post("scores", body)).status).toBe(404)
    expect((await own.post("scores", { ...body, evaluation_run_id: run })).status).toBe(404)
  })
})
