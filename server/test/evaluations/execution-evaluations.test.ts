/** Evaluations that the server runs: evaluation-store-calls 9, evaluation-store-objects 7. */
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { defaultLimits } from "../../src/limits.ts"
import { evaluationStatus } from "../../src/wire/evaluations/execution.ts"
import { completedCall } from "../support/completed-call.ts"
import type { EvaluationCaller } from "../support/evaluation-app.ts"
import { answering, callsOf, type ExecutionApp, openExecutionApp } from "../support/execution-app.ts"
import { evaluation, judge, publish, publishDataset, structuredModel } from "../support/judges.ts"
import { storesBeforeLastRead } from "../support/read-in-pieces.ts"
import { fullOnceAsked } from "../support/team-room.ts"

const limits = { ...defaultLimits }

/** Of two requests of a user to store calls, the second is refused until the first is done, in this test. */
function refuseTheSecond(): void {
  limits.call_waiting_bytes_per_user = 1
  onTestFinished(() => void (limits.call_waiting_bytes_per_user = defaultLimits.call_waiting_bytes_per_user))
}

let opened: ExecutionApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openExecutionApp({ limits })
  acme = opened.acme
})
beforeEach(() => {
  opened.fake.handlers.chat = answeringAndJudging
})
afterAll(() => opened.close())

/**
 * The model answers with the question in capitals; the judge says that answers of more than three characters are good.
 */
const answeringAndJudging = answering((messages) => {
  const asked = messages.map(({ content }) => content).join("\n")
  const judged = /^judge (\S+) for (\S+)/.exec(asked)
  if (judged === null) return asked.toUpperCase()
  return JSON.stringify({ good: (judged[1] ?? "").length > 3, length: (judged[1] ?? "").length })
})

const failingOnThree: typeof answeringAndJudging = (params, call) => {
  if (JSON.stringify(params.messages).includes('"three"')) throw new EngineFailure("invalid", "no threes")
  return answeringAndJudging(params, call)
}

const rows = [
  { question: "one", expected: "ONE" },
  { question: "three", expected: "THREE" },
  { question: "seven", expected: "SEVEN" },
]

interface World {
  project: string
  model: string
  scorer: string
  evaluationRef: string
}

async function world(more: object = {}, cases: object[] = rows): Promise<World> {
  const project = acme.newProject()
  const template = { messages_template: [{ role: "user", content: "{question}" }], response_format: "text" }
  const model = await publish(acme, project, "shouter", structuredModel(template))
  const scorer = await publish(acme, project, "judge", judge("judge {output} for {expected}"))
  const dataset = await publishDataset(acme, project, cases)
  const evaluationRef = await publish(acme, project, "shouting", evaluation(dataset, [scorer], more))
  return { project, model, scorer, evaluationRef }
}

const start = (project_id: string, evaluation_ref: string, model_ref: string) =>
  acme.post("/evaluations/evaluate_model", { project_id, evaluation_ref, model_ref })

const statusOf = async (project_id: string, call_id: string) =>
  evaluationStatus.parse((await acme.post("/evaluations/status", { project_id, call_id })).body).status

async function finished(project: string, id: string) {
  await expect
    .poll(async () => (await statusOf(project, id)).code, { timeout: 60_000, interval: 100 })
    .not.toBe("running")
  return statusOf(project, id)
}

const runOf = async (project: string, id: string) => (await acme.get(`/v2/${project}/evaluation_runs/${id}`)).body

async function evaluated({ project, evaluationRef, model }: World): Promise<string> {
  const { status, body, text } = await start(project, evaluationRef, model)
  expect([status, text]).toEqual([200, text])
  return (body as { call_id: string }).call_id
}

const results = async (project: string, id: string) => {
  const url = `/v2/${project}/eval_results/query`
  const answer = await acme.post(url, {
    evaluation_call_ids: [id],
    include_summary: true,
    include_raw_data_rows: true,
    resolve_row_refs: true,
  })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return answer.body as {
    total_rows: number
    rows: {
      row_digest: string
      raw_data_row: unknown
      evaluations: { trials: { model_output: unknown; scores: object }[] }[]
    }[]
    summary: {
      evaluations: {
        trial_count: number
        scorer_stats: { path: string; pass_rate: number | null; numeric_mean: number | null }[]
      }[]
    }
  }
}

describe("calls 9: evaluations/evaluate_model", () => {
  test("an ordinary evaluation: its calls, its status, its results", async () => {
    const here = await world({ trials: 2 })
    const { project, evaluationRef, model, scorer } = here
    const id = await evaluated(here)
    expect(await finished(project, id)).toEqual({
      code: "complete",
      output: expect.objectContaining({ judge: { good: { mean: 2 / 3 }, length: { mean: 13 / 3 } } }),
    })
    const calls = await callsOf(acme, project)
    const short = (op: string) => op.split("/op/")[1]?.split(":")[0] ?? op
    const byOp = Map.groupBy(calls, ({ op_name }) => short(op_name))
    expect(Object.fromEntries(Array.from(byOp, ([op, list]) => [op, list.length]))).toEqual({
      "Evaluation.evaluate": 1,
      "Evaluation.predict_and_score": 6,
      "shouter.predict": 6,
      "judge.score": 6,
      "Evaluation.summarize": 1,
    })
    expect(new Set(calls.map(({ trace_id }) => trace_id))).toEqual(new Set([id]))
    expect(calls.every(({ ended_at, exception }) => ended_at !== null && exception === null)).toBe(true)
    expect(byOp.get("Evaluation.evaluate")).toMatchObject([
      { id, inputs: { self: evaluationRef, model }, parent_id: null },
    ])
    const trial = byOp
      .get("Evaluation.predict_and_score")
      ?.find(({ output }) => (output as { output: string }).output === "THREE")
    expect(trial).toMatchObject({
      parent_id: id,
      inputs: {
        self: evaluationRef,
        model,
        example: expect.stringMatching(/\/object\/questions:\w{43}\/attr\/rows\/id\/\w{43}$/),
      },
      output: { output: "THREE", scores: { judge: { good: true, length: 5 } }, model_latency: expect.any(Number) },
      attributes: { _weave_eval_meta: { evaluate_model_worker: true } },
    })
    const prediction = byOp.get("shouter.predict")?.find(({ parent_id }) => parent_id === trial?.id)
    expect(prediction).toMatchObject({ output: "THREE", summary: { usage: { "heddle/tiny": { total_tokens: 7 } } } })
    const feedback = await acme.post("/feedback/query", { project_id: project })
    expect((feedback.body as { result: object[] }).result).toHaveLength(6)
    expect((feedback.body as { result: object[] }).result).toContainEqual(
      expect.objectContaining({
        weave_ref: `weave:///${project}/call/${prediction?.id}`,
        runnable_ref: scorer,
        payload: { output: { good: true, length: 5 } },
      }),
    )
    const { total_rows, rows: shown, summary } = await results(project, id)
    expect(total_rows).toBe(3)
    expect(shown.map(({ raw_data_row }) => raw_data_row)).toEqual(expect.arrayContaining(rows))
    expect(shown.every((row) => row.evaluations[0]?.trials.length === 2)).toBe(true)
    expect(summary.evaluations[0]?.trial_count).toBe(6)
    const run = await acme.get(`/v2/${project}/evaluation_runs/${id}`)
    expect(run.body).toMatchObject({ evaluation_run_id: id, evaluation: evaluationRef, model, status: "success" })
  })

  test("objects 3.1: by latest it finds objects, though ops of their names were published after them", async () => {
    const here = await world()
    const { project } = here
    const latest = (name: string) => `weave:///${project}/object/${name}:latest`
    const evaluationRef = await publish(acme, project, "newest", evaluation(latest("questions"), [latest("judge")]))
    for (const name of ["questions", "judge", "shouter"]) {
      await publish(acme, project, name, { weave_type: { type: "Op" } })
    }
    const id = await evaluated({ ...here, model: latest("shouter"), evaluationRef })
    expect((await finished(project, id)).code).toBe("complete")
  })

  test("while it runs: how many rows are done of how many; a stop of the server does not end it", async () => {
    const here = await world()
    let asked = 0
    opened.fake.handlers.chat = async (params, call) => {
      asked += 1
      if (asked === 2) await new Promise((done) => call.cancelled.addEventListener("abort", done, { once: true }))
      if (call.cancelled.aborted) throw new EngineFailure("cancelled", "cancelled")
      return answeringAndJudging(params, call)
    }
    const id = await evaluated(here)
    await expect
      .poll(() => statusOf(here.project, id), { timeout: 10_000 })
      .toEqual({ code: "running", completed_rows: 2, total_rows: 3 })
    const before = asked
    opened.fake.handlers.chat = (params, call) => {
      asked += 1
      return answeringAndJudging(params, call)
    }
    await opened.restart()
    expect(await finished(here.project, id)).toMatchObject({ code: "complete" })
    // Two more questions: the prediction that was cut off, and its score. Finished ones were not done again.
    expect(asked - before).toBe(2)
    expect(
      (await callsOf(acme, here.project)).filter(({ op_name }) => op_name.includes("predict_and_score")),
    ).toHaveLength(3)
  })

  test("law 7: the limit on calls of its user that wait to be stored does not end it", async () => {
    const cases = Array.from({ length: 24 }, (_, n) => ({ question: `question${n}`, expected: "any" }))
    const here = await world({}, cases)
    refuseTheSecond()
    const id = await evaluated(here)
    expect(await finished(here.project, id)).toMatchObject({ code: "complete" })
    expect((await callsOf(acme, here.project)).filter(({ exception }) => exception !== null)).toEqual([])
  })

  test("law 7: an evaluation that is stored is not refused because its run cannot begin yet", async () => {
    const here = await world()
    refuseTheSecond()
    const { project } = here
    const { traces } = opened.app.stores
    const held = Promise.withResolvers<void>()
    const insert = traces.insertCsv.bind(traces)
    const spy = vi.spyOn(traces, "insertCsv").mockImplementation(async (table, columns, csv) => {
      if (table === "calls_v2") await held.promise
      await insert(table, columns, csv)
    })
    try {
      const call = completedCall(project, { id: 1 })
      const waiting = acme.post(`/v2/${project}/calls/complete`, { batch: [call] })
      await expect.poll(() => spy.mock.calls.length, { timeout: 10_000 }).toBeGreaterThan(0)
      const refused = await acme.post(`/v2/${project}/calls/complete`, { batch: [completedCall(project, { id: 2 })] })
      expect(refused.status).toBe(429)
      // The run is to be stored while that call waits, as the second one of its user.
      const id = await evaluated(here)
      expect(await statusOf(project, id)).toMatchObject({ code: "running", completed_rows: 0 })
      held.resolve()
      expect((await waiting).status).toBe(200)
      expect(await finished(project, id)).toMatchObject({ code: "complete" })
    } finally {
      held.resolve()
      spy.mockRestore()
    }
  })

  test("a model that fails on a row leaves that row without output and score, and the run reports it", async () => {
    const here = await world()
    opened.fake.handlers.chat = failingOnThree
    const id = await evaluated(here)
    expect(await finished(here.project, id)).toEqual({
      code: "complete",
      output: { judge: { good: { mean: 0.5 }, length: { mean: 4 } } },
      failures: { predictions: { failed: 1, of: 3, reasons: ["no threes"] }, scorers: {} },
    })
    expect(await runOf(here.project, id)).toMatchObject({
      status: "descendant_error",
      summary: { status_counts: { success: 4, error: 1 }, failures: { predictions: { failed: 1 } } },
    })
    const calls = await callsOf(acme, here.project)
    const failed = calls.filter(({ exception }) => exception !== null)
    expect(failed).toMatchObject([{ op_name: expect.stringContaining("shouter.predict"), exception: "no threes" }])
    const trial = calls.find((one) => one.id === failed[0]?.parent_id)
    expect(trial?.output).toMatchObject({ output: null, scores: {} })
    expect(trial?.summary).toMatchObject({ weave: { status: "descendant_error" } })
  })

  test("a judge that never answers is in the summary with its failures, and texts of digits are no means", async () => {
    const here = await world()
    opened.fake.handlers.chat = answering(([message]) =>
      message?.content.startsWith("judge ") === true ? "I would rather not" : "7",
    )
    const id = await evaluated(here)
    const reason = 'the model\'s answer holds no JSON object: "I would rather not"'
    const failures = {
      predictions: { failed: 0, of: 3, reasons: [] },
      scorers: { judge: { failed: 3, of: 3, reasons: [reason] } },
    }
    expect(await finished(here.project, id)).toEqual({ code: "complete", output: { judge: null }, failures })
    expect(await runOf(here.project, id)).toMatchObject({ status: "descendant_error", summary: { failures } })
    expect((await results(here.project, id)).summary.evaluations).toMatchObject([{ scorer_stats: [], failures }])
  })

  test("a model that fails on every row: no score, and the first reasons", async () => {
    const here = await world({ trials: 2 })
    let asked = 0
    opened.fake.handlers.chat = () => {
      throw new EngineFailure("invalid", `refused ${asked++ % 4}`)
    }
    const id = await evaluated(here)
    const status = await finished(here.project, id)
    expect(status).toMatchObject({
      code: "complete",
      output: { judge: null },
      failures: { predictions: { failed: 6, of: 6 }, scorers: {} },
    })
    const reasons = status.code === "complete" ? status.failures?.predictions.reasons : []
    expect(new Set(reasons).size).toBe(3)
    expect(reasons?.every((reason) => /^refused [0-3]$/.test(reason))).toBe(true)
  })

  test("a run without failures is a success and reports none", async () => {
    const here = await world()
    const id = await evaluated(here)
    await finished(here.project, id)
    expect(await runOf(here.project, id)).toMatchObject({ status: "success" })
    expect((await results(here.project, id)).summary.evaluations[0]).not.toHaveProperty("failures")
  })

  test("a scorer that is named twice scores once", async () => {
    const { project, model, scorer } = await world()
    const dataset = await publishDataset(acme, project, rows)
    const latest = `${scorer.slice(0, scorer.lastIndexOf(":"))}:latest`
    const evaluationRef = await publish(acme, project, "twice", evaluation(dataset, [scorer, latest]))
    let asked = 0
    opened.fake.handlers.chat = (params, call) => {
      asked += 1
      return answeringAndJudging(params, call)
    }
    const id = await evaluated({ project, model, scorer, evaluationRef })
    expect(await finished(project, id)).toMatchObject({ code: "complete" })
    expect(asked).toBe(2 * rows.length)
  })

  test("an evaluation that the server cannot run is refused before anything is stored", async () => {
    const here = await world()
    const { project, evaluationRef, model, scorer } = here
    const own = await publish(acme, project, "Own", {
      _type: "Own",
      _class_name: "Own",
      _bases: ["Model", "Object", "BaseModel"],
    })
    const op = await publish(acme, project, "fn", {
      _type: "CustomWeaveType",
      weave_type: { type: "Op" },
      files: { "obj.py": "x" },
    })
    const codeScorer = await publish(
      acme,
      project,
      "coded",
      evaluation("weave:///a/b/object/c:d", [op.replace("/object/", "/op/")]),
    )
    const noRows = await publish(acme, project, "norows", evaluation(model, []))
    for (const [evaluationName, modelName, status, text] of [
      [evaluationRef, own, 400, own],
      [evaluationRef, op.replace("/object/", "/op/"), 400, "SDK"],
      [model, model, 400, "not an Evaluation"],
      [scorer, model, 400, "judge"],
      [codeScorer, model, 403, "Project not found"],
      [noRows, model, 400, "shouter"],
      [`weave:///${project}/object/none:latest`, model, 404, "none"],
      ["", model, 400, "not a ref"],
    ] as const) {
      const refused = await start(project, evaluationName, modelName)
      expect([evaluationName, refused.status, refused.text]).toEqual([
        evaluationName,
        status,
        expect.stringContaining(text),
      ])
    }
    expect(await callsOf(acme, project)).toEqual([])
    const theirs = await opened.rival.post("/evaluations/evaluate_model", {
      project_id: project,
      evaluation_ref: evaluationRef,
      model_ref: model,
    })
    expect(theirs.status).toBe(403)
    const crossed = { project_id: opened.rival.newProject(), evaluation_ref: evaluationRef, model_ref: model }
    expect((await opened.rival.post("/evaluations/evaluate_model", crossed)).status).toBe(403)
  })

  test("law 7: an evaluation whose team becomes full keeps what was paid, asks for no further row and fails with the reason", async () => {
    const here = await world({ trials: 8 })
    let paid = 0
    opened.fake.handlers.chat = (params, call) => {
      paid += 1
      return answeringAndJudging(params, call)
    }
    fullOnceAsked(opened.admin, opened.fake)
    const id = await evaluated(here)
    const full = { code: "failed", error: expect.stringContaining('the team "acme" stores') }
    expect(await finished(here.project, id)).toMatchObject(full)
    const calls = await callsOf(acme, here.project)
    expect(calls.filter(({ ended_at }) => ended_at === null)).toEqual([])
    const answers = calls.filter(({ op_name, output }) => /[.](?:predict|score):/.test(op_name) && output !== null)
    // Of 24 rows, those that had begun.
    expect(paid).toBeLessThan(48)
    expect(answers).toHaveLength(paid)
    expect((await acme.post("/feedback/query", { project_id: here.project })).body).toMatchObject({
      result: { length: paid / 2 },
    })
  })

  test("a key that was revoked before its work began: the evaluation fails and says so", async () => {
    const here = await world()
    const { promise: blocked, resolve } = Promise.withResolvers<void>()
    opened.fake.handlers.chat = async (params, call) => {
      resolve()
      await new Promise((done) => call.cancelled.addEventListener("abort", done, { once: true }))
      return answeringAndJudging(params, call)
    }
    const id = await evaluated(here)
    await blocked
    await opened.app.stores.catalog
      .updateTable("api_keys")
      .set({ revoked_at: new Date() })
      .where("hint", "=", acme.key.slice(-4))
      .execute()
    opened.fake.handlers.chat = answeringAndJudging
    await opened.restart()
    const job = () =>
      opened.app.stores.catalog
        .selectFrom("execution_jobs")
        .select(["status", "error_message"])
        .where("id", "=", id)
        .executeTakeFirst()
    await expect
      .poll(job, { timeout: 10_000 })
      .toMatchObject({ status: "failed", error_message: expect.stringContaining("revoked") })
    await opened.app.stores.catalog
      .updateTable("api_keys")
      .set({ revoked_at: null })
      .where("hint", "=", acme.key.slice(-4))
      .execute()
    expect(await statusOf(here.project, id)).toMatchObject({
      code: "failed",
      error: expect.stringContaining("revoked"),
    })
  })
})

describe("calls 9: evaluations/status", () => {
  test("no such call, another team's, a call that is no evaluation", async () => {
    const here = await world()
    const id = await evaluated(here)
    await finished(here.project, id)
    expect(await statusOf(here.project, "0198c5a0-0000-7000-8000-00000000000b")).toEqual({ code: "not_found" })
    const theirs = await opened.rival.post("/evaluations/status", { project_id: here.project, call_id: id })
    expect(theirs.status).toBe(403)
    const span = {
      project_id: here.project,
      id: "00f067aa0ba902b7",
      op_name: "Evaluation.evaluate",
      attributes: {},
      inputs: {},
    }
    await acme.post("/call/start", { start: { ...span, started_at: "2026-03-01T00:00:00Z" } })
    expect(await statusOf(here.project, span.id)).toEqual({ code: "running", completed_rows: 0, total_rows: 0 })
    const other = (await callsOf(acme, here.project)).find(({ op_name }) => op_name.includes("predict:"))
    const refused = await acme.post("/evaluations/status", { project_id: here.project, call_id: other?.id })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("is not an evaluation")])
  })
})

describe("calls 9: evaluations/rescore", () => {
  test("a prediction that failed is not scored, and counted as failed again", async () => {
    const here = await world()
    opened.fake.handlers.chat = failingOnThree
    const source = await evaluated(here)
    await finished(here.project, source)
    const judged: string[] = []
    opened.fake.handlers.chat = answering((messages) => {
      judged.push(messages[0]?.content.split("\n")[0] ?? "")
      return '{"good": true}'
    })
    const body = { project_id: here.project, source_evaluation_run_id: source, scorer_refs: [here.scorer] }
    const answer = await acme.post("/evaluations/rescore", body)
    const { call_id: id } = answer.body as { call_id: string }
    expect(await finished(here.project, id)).toEqual({
      code: "complete",
      output: { judge: { good: { mean: 1 } } },
      failures: { predictions: { failed: 1, of: 3, reasons: ["no threes"] }, scorers: {} },
    })
    expect(judged.toSorted()).toEqual(["judge ONE for ONE", "judge SEVEN for SEVEN"])
  })

  test("law 7: one whose team becomes full keeps what was paid, asks no further and fails with the reason", async () => {
    const here = await world({ trials: 8 })
    const source = await evaluated(here)
    await finished(here.project, source)
    const other = await publish(acme, here.project, "strict", judge("judge {output} for {expected}"))
    let paid = 0
    opened.fake.handlers.chat = (params, call) => {
      paid += 1
      return answeringAndJudging(params, call)
    }
    fullOnceAsked(opened.admin, opened.fake)
    const body = { project_id: here.project, source_evaluation_run_id: source, scorer_refs: [other] }
    const { call_id } = (await acme.post("/evaluations/rescore", body)).body as { call_id: string }
    const full = { code: "failed", error: expect.stringContaining('the team "acme" stores') }
    expect(await finished(here.project, call_id)).toMatchObject(full)
    const calls = (await callsOf(acme, here.project)).filter(({ trace_id }) => trace_id === call_id)
    expect(calls.filter(({ ended_at }) => ended_at === null)).toEqual([])
    expect(paid).toBeLessThan(24)
    expect(calls.filter(({ op_name }) => op_name.includes(".score:"))).toHaveLength(paid)
  })

  test("a run of its own with the same predictions, scored by other scorers; the model is not asked", async () => {
    const here = await world()
    const source = await evaluated(here)
    await finished(here.project, source)
    const other = await publish(acme, here.project, "strict", judge("judge {output} for {expected}"))
    const asked: string[] = []
    opened.fake.handlers.chat = answering((messages) => {
      asked.push(messages[0]?.content ?? "")
      return '{"good": false}'
    })
    const body = { project_id: here.project, source_evaluation_run_id: source, scorer_refs: [other] }
    const answer = await acme.post("/evaluations/rescore", body)
    const { call_id, evaluation_run_id } = answer.body as { call_id: string; evaluation_run_id: string }
    expect([answer.status, call_id]).toEqual([200, evaluation_run_id])
    expect(await finished(here.project, call_id)).toEqual({
      code: "complete",
      output: expect.objectContaining({ strict: { good: { mean: 0 } } }),
    })
    expect(asked.map((one) => one.split("\n")[0] ?? "").toSorted()).toEqual([
      "judge ONE for ONE",
      "judge SEVEN for SEVEN",
      "judge THREE for THREE",
    ])
    const run = await acme.get(`/v2/${here.project}/evaluation_runs/${call_id}`)
    expect(run.body).toMatchObject({
      source_evaluation_run_id: source,
      evaluation: here.evaluationRef,
      model: here.model,
    })
    const { rows: shown } = await results(here.project, call_id)
    const before = await results(here.project, source)
    expect(shown.map(({ row_digest }) => row_digest)).toEqual(before.rows.map(({ row_digest }) => row_digest))
    const trialsOf = (list: typeof shown) => list.map((row) => row.evaluations[0]?.trials[0])
    expect(trialsOf(shown).map((trial) => trial?.model_output)).toEqual(
      trialsOf(before.rows).map((trial) => trial?.model_output),
    )
    expect(trialsOf(shown).map((trial) => trial?.scores)).toEqual([1, 2, 3].map(() => ({ strict: { good: false } })))
  })

  test("trials of rows that cannot be read are scored by what they hold; other calls of the run are none of them", async () => {
    const project = acme.newProject()
    const scorer = await publish(acme, project, "judge", judge("judge {output} for x"))
    const theirs = opened.rival.newProject()
    await publish(opened.rival, theirs, "thing", { a: 1 })
    const run = await acme.post(`/v2/${project}/evaluation_runs`, { evaluation: "e", model: "m" })
    const { evaluation_run_id: source } = run.body as { evaluation_run_id: string }
    const examples = [
      { question: "inline" },
      `weave:///${theirs}/object/questions:v0/attr/rows/id/abc`,
      "weave:///acme/gone/object/questions:v0/attr/rows/id/abc",
    ]
    const trials = examples.map((example, index) => ({
      ...completedCall(project, { id: 10 + index, opName: "Evaluation.predict_and_score" }),
      id: randomUUID(),
      trace_id: source,
      parent_id: source,
      started_at: new Date().toISOString(),
      ended_at: new Date().toISOString(),
      inputs: { self: "e", model: "m", example },
      output: { output: `answer-${index}`, scores: {} },
    }))
    expect((await acme.post(`/v2/${project}/calls/complete`, { batch: trials })).status).toBe(200)
    expect((await acme.post(`/v2/${project}/evaluation_runs/${source}/finish`, {})).status).toBe(200)
    let asked = false
    const blocked = Promise.withResolvers<void>()
    opened.fake.handlers.chat = async (params, call) => {
      asked = true
      await blocked.promise
      return answeringAndJudging(params, call)
    }
    const body = { project_id: project, source_evaluation_run_id: source, scorer_refs: [scorer] }
    const { call_id } = (await acme.post("/evaluations/rescore", body)).body as { call_id: string }
    await expect.poll(() => asked, { timeout: 10_000 }).toBe(true)
    expect(await statusOf(project, call_id)).toEqual({ code: "running", completed_rows: 0, total_rows: 3 })
    blocked.resolve()
    expect(await finished(project, call_id)).toMatchObject({ code: "complete" })
    const { rows: shown } = await results(project, call_id)
    const scored = shown.flatMap(({ evaluations }) => evaluations.flatMap((one) => one.trials))
    expect(scored.map(({ scores }) => scores)).toEqual([1, 2, 3].map(() => ({ judge: { good: true, length: 8 } })))
  })

  test("an unknown run is 404, no scorers 422, a scorer of code 400", async () => {
    const here = await world()
    const id = await evaluated(here)
    await finished(here.project, id)
    const send = async (source_evaluation_run_id: string, scorer_refs: string[]) =>
      (await acme.post("/evaluations/rescore", { project_id: here.project, source_evaluation_run_id, scorer_refs }))
        .status
    expect(await send("0198c5a0-0000-7000-8000-00000000000c", [here.scorer])).toBe(404)
    expect(await send(id, [])).toBe(422)
    expect(await send(id, [here.model])).toBe(400)
    const body = { project_id: here.project, source_evaluation_run_id: id, scorer_refs: [here.scorer] }
    expect((await opened.rival.post("/evaluations/rescore", body)).status).toBe(403)
  })
})

test("law 8: large rows are read some at a time, for the model and for other scorers of its run", async () => {
  const large = Array.from({ length: 24 }, (_, n) => ({
    question: `q${"x".repeat(n)}`,
    expected: "Q",
    note: "x".repeat(1_000_000),
  }))
  const here = await world({}, large)
  const { project, scorer } = here
  const complete = {
    code: "complete",
    output: expect.objectContaining({ judge: { good: { mean: 0.875 }, length: { mean: 12.5 } } }),
  }
  const ofRows = { table: "feedback", part: "from table_rows" }
  let source = ""
  const evaluating = async () => {
    source = await evaluated(here)
    expect(await finished(project, source)).toEqual(complete)
  }
  expect(await storesBeforeLastRead(opened.app.stores.traces, ofRows, evaluating)).toBe(true)
  const rescoring = async () => {
    const body = { project_id: project, source_evaluation_run_id: source, scorer_refs: [scorer] }
    const answer = await acme.post("/evaluations/rescore", body)
    expect(await finished(project, (answer.body as { call_id: string }).call_id)).toEqual(complete)
  }
  expect(await storesBeforeLastRead(opened.app.stores.traces, ofRows, rescoring)).toBe(true)
})

test("law 7: a server that stopped between the job and its run begins the run at its next start", async () => {
  const here = await world()
  await finished(here.project, await evaluated(here))
  const stored = opened.app.stores.catalog.selectFrom("execution_jobs").selectAll().orderBy("sequence", "desc").limit(1)
  const { sequence: _sequence, ...job } = await stored.executeTakeFirstOrThrow()
  const id = "0198c5a0-0000-7000-8000-00000000000d"
  const again = {
    ...job,
    id,
    status: "running" as const,
    attempts: 1,
    lease_owner: "a server that is gone",
    lease_expires_at: new Date(0),
    ended_at: null,
  }
  await opened.app.stores.catalog.insertInto("execution_jobs").values(again).execute()
  await opened.restart()
  await expect.poll(async () => (await statusOf(here.project, id)).code, { timeout: 20_000 }).toBe("complete")
})

test("law 7: work that stopped the server three times fails and says so", async () => {
  const here = await world()
  const first = await evaluated(here)
  await finished(here.project, first)
  const jobs = opened.app.stores.catalog
  const run = {
    project_id: here.project,
    id: "0198c5a0-0000-7000-8000-00000000000e",
    op_name: "Evaluation.evaluate",
    attributes: {},
    inputs: {},
  }
  await acme.post("/call/start", { start: { ...run, started_at: "2026-03-01T00:00:00Z" } })
  const stored = jobs.selectFrom("execution_jobs").selectAll().where("id", "=", first)
  const { sequence: _sequence, ...job } = await stored.executeTakeFirstOrThrow()
  const lease = { lease_owner: "gone", lease_expires_at: new Date(0) }
  const cut = { ...job, ...lease, id: run.id, status: "running" as const, attempts: 3, ended_at: null }
  await jobs.insertInto("execution_jobs").values(cut).execute()
  await opened.restart()
  expect(await finished(here.project, run.id)).toEqual({ code: "failed", error: expect.stringContaining("3 times") })
  expect(await callsOf(acme, here.project, { filter: { call_ids: [run.id] } })).toMatchObject([
    { exception: expect.stringContaining("3 times"), ended_at: expect.any(String) },
  ])
})
