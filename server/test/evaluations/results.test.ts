/** `eval_results/query` on evaluations made through the API, and as the SDKs make them. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import type { z } from "zod"
import { evalResults } from "../../src/wire/evaluations/eval-results.ts"
import { mustBody } from "../support/answers.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { completedCall, uuid } from "../support/completed-call.ts"
import { type RunProject, runProject } from "../support/evaluation-runs.ts"
import { storeCalls } from "../support/stored-calls.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

type Results = z.output<typeof evalResults>

async function results(project: RunProject, body: object): Promise<Results> {
  return evalResults.parse(await mustBody(project.post("eval_results/query", body)))
}

/** The input `q` of each row, in the answer's order. */
const questions = ({ rows }: Results) => rows.map(({ raw_data_row }) => (raw_data_row as { q: unknown }).q)

interface TrialFields {
  q: unknown
  output?: unknown
  /** Scores by the scorer's name. */
  scores?: Record<string, unknown>
}

/** Makes a run with a finished prediction for each of `trials`; returns its id. */
async function runWith(project: RunProject, trials: readonly TrialFields[]): Promise<string> {
  const run = await project.run()
  for (const { q, output = null, scores = {} } of trials) {
    const prediction_id = await project.prediction({ evaluation_run_id: run, inputs: { q }, output })
    for (const [name, value] of Object.entries(scores)) {
      await project.score({ prediction_id, evaluation_run_id: run, scorer: project.ref(name), value })
    }
    await project.post(`predictions/${prediction_id}/finish`)
  }
  return run
}

describe("objects 7: rows of eval_results/query", () => {
  test("have the trials of each evaluation, in the order asked for", async () => {
    const project = runProject(opened.acme)
    const first = await runWith(project, [
      { q: "a", output: { text: "A" }, scores: { exact: true } },
      { q: "a", output: { text: "B" }, scores: { exact: false } },
    ])
    const second = await runWith(project, [{ q: "a", output: "C" }, { q: "b" }])
    const body = { evaluation_call_ids: [second], evaluation_run_ids: [first, second], include_raw_data_rows: true }
    const { rows, total_rows, summary, warnings } = await results(project, body)
    expect([total_rows, summary, warnings]).toEqual([2, null, []])
    expect(rows.map(({ row_digest }) => row_digest)).toEqual(rows.map(({ row_digest }) => row_digest).toSorted())
    const shared = rows.find(({ raw_data_row }) => (raw_data_row as { q: string }).q === "a")
    // The SHA-256 of `{"q":"a"}`.
    expect(shared?.row_digest).toBe("KamCmzwDlIJ1yjvhy3tjPAIHhJ0sC9MhUGDyrAWrzmQ")
    expect(shared?.evaluations.map(({ evaluation_call_id }) => evaluation_call_id)).toEqual([second, first])
    expect(shared?.evaluations[1]?.trials).toMatchObject([
      { model_output: { text: "A" }, scores: { exact: true }, model_latency_seconds: 0, total_tokens: null },
      { model_output: { text: "B" }, scores: { exact: false }, total_cost: null, genai_span_ref: null },
    ])
    const alone = rows.find((row) => row !== shared)
    expect(alone?.evaluations).toMatchObject([{ evaluation_call_id: second, trials: [{ model_output: null }] }])
  })

  test("law 3: rows whose numbers are too large for doubles are told apart by their digits", async () => {
    const project = runProject(opened.acme)
    const run = await project.run()
    const moduli = ["7", "8", "8"].map((last) => `${"9".repeat(616)}${last}`)
    for (const modulus of moduli) {
      const body = `{"model":"${project.ref("model")}","inputs":{"n":${modulus}},"output":null,"evaluation_run_id":"${run}"}`
      const made = await mustBody(opened.acme.post(`/v2/${project.name}/predictions`, body))
      await project.post(`predictions/${(made as { prediction_id: string }).prediction_id}/finish`)
    }
    const { rows } = await results(project, { evaluation_run_ids: [run] })
    expect(rows).toHaveLength(2)
    expect(new Set(rows.map(({ evaluations }) => evaluations[0]?.trials.length))).toEqual(new Set([1, 2]))
  })

  test("name the calls of a trial, unless they are not asked for", async () => {
    const project = runProject(opened.acme)
    const run = await project.run()
    const spans = [{ trace_id: "t1", span_id: "s1" }]
    const predicted = await project.prediction({ evaluation_run_id: run, output: 1, genai_span_ref: spans })
    const scored = await project.score({ prediction_id: predicted, evaluation_run_id: run })
    await project.post(`predictions/${predicted}/finish`)
    const [trial] = (await results(project, { evaluation_run_ids: [run] })).rows[0]?.evaluations[0]?.trials ?? []
    expect(trial).toMatchObject({
      predict_call_id: predicted,
      scorer_call_ids: { scorer: scored },
      genai_span_ref: spans,
    })
    const bare = await results(project, { evaluation_run_ids: [run], include_predict_and_score_children: false })
    expect(bare.rows[0]).toMatchObject({
      raw_data_row: null,
      evaluations: [
        {
          trials: [
            {
              predict_and_score_call_id: trial?.predict_and_score_call_id,
              predict_call_id: null,
              scorer_call_ids: {},
              genai_span_ref: spans,
              model_latency_seconds: 0,
            },
          ],
        },
      ],
    })
  })

  test("leave out what the models gave when it is not asked for, and keep the scores of it", async () => {
    const project = runProject(opened.acme)
    const run = await runWith(project, [{ q: "a", output: { text: "long" }, scores: { exact: true } }])
    const { rows } = await results(project, { evaluation_run_ids: [run], include_model_outputs: false })
    expect(rows[0]?.evaluations[0]?.trials).toMatchObject([
      { model_output: null, scores: { exact: true }, model_latency_seconds: 0 },
    ])
  })

  test("require_intersection leaves only rows that every evaluation has", async () => {
    const project = runProject(opened.acme)
    const first = await runWith(project, [{ q: 1 }, { q: 2 }])
    const second = await runWith(project, [{ q: 2 }, { q: 3 }])
    const body = { evaluation_run_ids: [first, second], include_raw_data_rows: true }
    expect(new Set(questions(await results(project, body)))).toEqual(new Set([1, 2, 3]))
    expect(questions(await results(project, { ...body, require_intersection: true }))).toEqual([2])
    const missing = { ...body, evaluation_run_ids: [first, "gone"], require_intersection: true }
    expect(await results(project, missing)).toMatchObject({ rows: [], warnings: ["evaluation gone was not found"] })
  })

  test("are cut to a page after all else; total_rows counts them before", async () => {
    const project = runProject(opened.acme)
    const run = await runWith(project, [{ q: 1 }, { q: 2 }, { q: 3 }])
    const ask = async (page: object) => {
      const sort_by = [{ field: "inputs.q", direction: "asc" }]
      const found = await results(project, {
        evaluation_run_ids: [run],
        include_raw_data_rows: true,
        sort_by,
        ...page,
      })
      return [questions(found), found.total_rows]
    }
    expect(await ask({ limit: 2 })).toEqual([[1, 2], 3])
    expect(await ask({ limit: 2, offset: 2 })).toEqual([[3], 3])
    expect(await ask({ limit: 0 })).toEqual([[], 3])
    expect(await ask({ offset: 5 })).toEqual([[], 3])
    expect(await ask({ include_rows: false })).toEqual([[], 0])
  })

  test("law 3: rows, outputs and scores come back with every byte they came with", async () => {
    const project = runProject(opened.acme)
    const run = await project.run()
    const [inputs, output, value] = ['{"n":9007199254740993, "k":"\\ud800"}', "[1.0, 1e400]", '{"v":0.10}']
    const body = `{"model":"m","evaluation_run_id":"${run}","inputs":${inputs},"output":${output}}`
    const { prediction_id } = (await project.post("predictions", body)).body as { prediction_id: string }
    const scored = `{"prediction_id":"${prediction_id}","evaluation_run_id":"${run}","scorer":"${project.ref("s")}","value":${value}}`
    await project.post("scores", scored)
    await project.post(`predictions/${prediction_id}/finish`)
    const { text } = await project.post("eval_results/query", {
      evaluation_run_ids: [run],
      include_raw_data_rows: true,
    })
    expect(text).toContain(`"raw_data_row":${inputs}`)
    expect(text).toContain(`"model_output":${output},"scores":{"s":${value}}`)
  })

  test("rows that differ only by what ClickHouse's reader of JSON refuses are not one row", async () => {
    const project = runProject(opened.acme)
    const run = await project.run()
    for (const inputs of ['{"k":"\\ud800","q":1}', '{"k":"\\ud800","q":2}', '{"q":1}']) {
      await project.post("predictions", `{"model":"m","evaluation_run_id":"${run}","inputs":${inputs},"output":1}`)
    }
    expect((await results(project, { evaluation_run_ids: [run] })).total_rows).toBe(3)
  })
})

describe("law 8: trials with large scores", () => {
  test("are summed up some at a time, in the summary and when their run is finished", async () => {
    const project = runProject(opened.acme)
    const trials = 24
    const [run, note] = [uuid(1), "x".repeat(1_000_000)]
    const call = (n: number, fields: object) => ({
      id: uuid(n),
      trace_id: run,
      started_at: "2026-01-01 00:00:00.000000",
      attributes: "{}",
      inputs: `{"example":${n % trials}}`,
      summary: "{}",
      ...fields,
    })
    await storeCalls(opened.app, project.name, [
      call(1, { op_name: "Evaluation.evaluate" }),
      ...Array.from({ length: trials }, (_, n) => {
        const output = JSON.stringify({ scores: { judge: { value: n, note } } })
        return call(n + 2, { op_name: "Evaluation.predict_and_score", parent_id: run, output })
      }),
    ])
    const { traces } = opened.app.stores
    const rows = vi.spyOn(traces, "rows")
    try {
      const body = { evaluation_call_ids: [run], include_rows: false, include_summary: true }
      for (const require_intersection of [false, true]) {
        const { summary } = await results(project, { ...body, require_intersection })
        expect(summary?.evaluations[0]).toMatchObject({
          trial_count: trials,
          scorer_stats: [
            { path: "value", numeric_count: trials, numeric_mean: 11.5 },
            { path: "note", trial_count: trials },
          ],
        })
      }
      expect((await project.post(`evaluation_runs/${run}/finish`)).status).toBe(200)
      const answers = await Promise.all(
        rows.mock.results.map(({ value }) => (value as Promise<unknown>).catch(() => "")),
      )
      const largest = Math.max(...answers.map((answer) => JSON.stringify(answer).length))
      expect(largest).toBeGreaterThan(1_000_000)
      expect(largest).toBeLessThan(17 * 1024 * 1024)
    } finally {
      rows.mockRestore()
    }
    const { body } = await opened.acme.post("/call/read", { project_id: project.name, id: run })
    expect(body).toMatchObject({ call: { output: { judge: { value: { mean: 11.5 } } } } })
  })
})

describe("law 8: a trial with many scores", () => {
  test("is told with their calls, whose attributes are read no more often for it", async () => {
    const project = runProject(opened.acme)
    await project.run()
    const [run, trial] = [uuid(1), uuid(2)]
    const call = (n: number, fields: object) => ({
      id: uuid(n),
      trace_id: run,
      started_at: "2026-01-01 00:00:00.000000",
      ended_at: "2026-01-01 00:00:01.000000",
      attributes: "{}",
      inputs: "{}",
      output: "null",
      summary: "{}",
      ...fields,
    })
    const scores = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`quality_${n}`, n]))
    // To look for a member takes a while, since it may be the last one.
    const attributes = (scorer: string) =>
      `{"pad":[${"0,".repeat(200_000)}0],"weave":{"scorer":"${project.ref(scorer)}"}}`
    await storeCalls(opened.app, project.name, [
      call(1, { op_name: "Evaluation.evaluate" }),
      call(2, { op_name: "Evaluation.predict_and_score", parent_id: run, output: JSON.stringify({ scores }) }),
      ...Array.from({ length: 20 }, (_, n) =>
        call(n + 3, { op_name: `check_${n}`, parent_id: trial, attributes: attributes(`quality_${100 * n}`) }),
      ),
    ])
    const [found] = (await results(project, { evaluation_call_ids: [run] })).rows[0]?.evaluations[0]?.trials ?? []
    expect(found?.scores).toEqual(scores)
    expect(found?.scorer_call_ids).toEqual(
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`quality_${100 * n}`, uuid(n + 3)])),
    )
  })
})

describe("objects 7: sorting eval_results/query", () => {
  let project: RunProject
  let first: string
  let second: string
  beforeAll(async () => {
    project = runProject(opened.acme)
    first = await runWith(project, [
      { q: "a", output: { n: 3 }, scores: { length: 1, exact: true, deep: { x: 5 } } },
      { q: "b", output: { n: 10 }, scores: { length: 10, exact: false, deep: { x: 4 } } },
      { q: "c", output: { n: 2 }, scores: { length: 2, exact: true } },
      { q: "c", output: { n: 2 }, scores: { length: 4, exact: false } },
    ])
    second = await runWith(project, [
      { q: "a", output: { n: 1 }, scores: { length: 9 } },
      { q: "b", output: { n: 2 }, scores: { length: 11 } },
    ])
  })

  const sorted = async (sort: object, evaluation_run_ids = [first, second]) =>
    questions(
      await results(project, {
        evaluation_run_ids,
        include_raw_data_rows: true,
        sort_by: [{ direction: "asc", ...sort }],
      }),
    ).join("")

  test("by the mean of a score, of all evaluations or of one, missing values last", async () => {
    expect(await sorted({ field: "scores.length" })).toBe("cab")
    expect(await sorted({ field: "scores.length", direction: "desc" })).toBe("bac")
    expect(await sorted({ field: "scores.length", evaluation_call_id: first })).toBe("acb")
    expect(await sorted({ field: "scores.length", evaluation_call_id: second, direction: "desc" })).toBe("bac")
    expect(await sorted({ field: "scores.exact", direction: "desc" })).toBe("acb")
    expect(await sorted({ field: "scores.deep.x" })).toBe("bac")
  })

  test("by inputs, outputs and row_digest", async () => {
    expect(await sorted({ field: "inputs.q", direction: "desc" })).toBe("cba")
    expect(await sorted({ field: "outputs.n", evaluation_call_id: first })).toBe("cab")
    expect(await sorted({ field: "output.n", evaluation_call_id: second, direction: "desc" })).toBe("bac")
    const byDigest = await sorted({ field: "row_digest", direction: "desc" })
    expect(byDigest.split("").toReversed().join("")).toBe(await sorted({ field: "row_digest" }))
  })

  test("by the difference between evaluations; a row that one of them has alone comes last", async () => {
    expect(await sorted({ field: "scores.length", mode: "difference", direction: "desc" })).toBe("abc")
    expect(await sorted({ field: "scores.length", mode: "difference" })).toBe("bac")
    expect(await sorted({ field: "scores.length", mode: "difference" }, [first])).toBe("acb")
  })

  test("a field, mode or evaluation that means nothing is refused by name", async () => {
    const refused = async (sort: object) => {
      const answer = await project.post("eval_results/query", { evaluation_run_ids: [first], sort_by: [sort] })
      return [answer.status, (answer.body as { reason: string }).reason]
    }
    expect(await refused({ field: "latency" })).toEqual([400, expect.stringContaining('"latency"')])
    expect(await refused({ field: "scores" })).toEqual([400, expect.stringContaining('"scores"')])
    expect(await refused({ field: "inputs.q", mode: "difference" })).toEqual([400, expect.stringContaining("inputs.q")])
    const other = { field: "scores.length", evaluation_call_id: second }
    expect(await refused(other)).toEqual([400, expect.stringContaining(second)])
  })
})

describe("objects 7: filtering eval_results/query", () => {
  let project: RunProject
  let first: string
  let second: string
  beforeAll(async () => {
    project = runProject(opened.acme)
    first = await runWith(project, [
      { q: "a", output: "yes", scores: { length: 1, ok: true } },
      { q: "b", output: "no", scores: { length: 5, ok: false } },
      { q: "c", output: "no", scores: { length: 9, ok: true } },
    ])
    second = await runWith(project, [
      { q: "a", output: "no", scores: { length: 9, ok: true } },
      { q: "b", output: "no", scores: { length: 2, ok: false } },
    ])
  })

  const field = (name: string) => ({ $getField: name })
  const compare = (operator: string, name: string, value: unknown) => ({
    query: { $expr: { [operator]: [field(name), { $literal: value }] } },
  })
  const filtered = async (filters: object[], more: object = {}) =>
    questions(
      await results(project, {
        evaluation_run_ids: [first, second],
        include_raw_data_rows: true,
        sort_by: [{ field: "inputs.q" }],
        filters,
        ...more,
      }),
    ).join("")

  test("a filter without an evaluation matches in any, or with `and` in all", async () => {
    const filters = [compare("$gte", "scores.length", 9)]
    expect(await filtered(filters)).toBe("ac")
    expect(await filtered(filters, { filter_logic_operator: "and" })).toBe("")
    expect(await filtered([compare("$gte", "scores.length", 1)], { filter_logic_operator: "and" })).toBe("ab")
  })

  test("filters of one evaluation are ANDed, those of different ones joined as asked", async () => {
    const inFirst = { ...compare("$gt", "scores.length", 3), evaluation_call_id: first }
    const okInFirst = { ...compare("$eq", "scores.ok", true), evaluation_call_id: first }
    const inSecond = { ...compare("$eq", "scores.length", 9), evaluation_call_id: second }
    expect(await filtered([inFirst, okInFirst])).toBe("c")
    expect(await filtered([inFirst, inSecond])).toBe("abc")
    expect(await filtered([inFirst, inSecond], { filter_logic_operator: "and" })).toBe("")
    expect(await filtered([okInFirst, inSecond], { filter_logic_operator: "and" })).toBe("a")
  })

  test("inputs and outputs may be filtered, and totals count what is left", async () => {
    expect(await filtered([compare("$eq", "outputs", "yes")])).toBe("a")
    expect(await filtered([{ query: { $expr: { $not: [compare("$eq", "inputs.q", "b").query.$expr] } } }])).toBe("ac")
    const found = await results(project, {
      evaluation_run_ids: [first],
      filters: [compare("$eq", "outputs", "no")],
      limit: 1,
    })
    expect(found).toMatchObject({ total_rows: 2, rows: [{}] })
  })

  test("whole numbers past 2^53 are compared exactly", async () => {
    const run = await project.run()
    for (const n of ["9007199254740993", "9007199254740992"]) {
      await project.post("predictions", `{"model":"m","evaluation_run_id":"${run}","inputs":{"n":${n}},"output":1}`)
    }
    const filter = `{"query":{"$expr":{"$eq":[{"$getField":"inputs.n"},{"$literal":9007199254740993}]}}}`
    const body = `{"evaluation_run_ids":["${run}"],"include_raw_data_rows":true,"filters":[${filter}]}`
    expect((await project.post("eval_results/query", body)).text).toContain('"raw_data_row":{"n":9007199254740993}')
    expect((await project.post("eval_results/query", body)).body).toMatchObject({ total_rows: 1 })
  })

  test("a filter that means nothing is refused", async () => {
    const status = async (filter: object) =>
      (await project.post("eval_results/query", { evaluation_run_ids: [first], filters: [filter] })).status
    expect(await status(compare("$eq", "op_name", "x"))).toBe(400)
    expect(await status({ ...compare("$eq", "scores.ok", true), evaluation_call_id: second })).toBe(400)
    expect(await status({ query: { $expr: { $literal: true } } })).toBe(422)
    expect(await status({ query: { $expr: { $and: [] } } })).toBe(400)
    expect((await project.post("eval_results/query", {})).status).toBe(422)
    expect((await project.post("eval_results/query", { evaluation_run_ids: [] })).status).toBe(422)
    expect((await project.post("eval_results/query", { evaluation_run_ids: [first], limit: -1 })).status).toBe(400)
    const many = Array.from({ length: 1001 }, (_, index) => `run-${index}`)
    expect((await project.post("eval_results/query", { evaluation_run_ids: many })).status).toBe(400)
  })
})

describe("objects 7: the summary of eval_results/query", () => {
  test("has one statistic for each leaf of a scorer's value", async () => {
    const project = runProject(opened.acme)
    const first = await runWith(project, [
      { q: 1, scores: { exact: true, distance: { value: 1, passed: true }, note: "fine" } },
      { q: 2, scores: { exact: false, distance: { value: 4, passed: true }, note: null } },
      { q: 3, scores: { exact: false, mixed: 1 } },
    ])
    const second = await runWith(project, [{ q: 3, scores: { exact: true, mixed: false } }])
    const body = { evaluation_run_ids: [first, second], include_rows: false, include_summary: true }
    const { summary, rows, total_rows } = await results(project, body)
    expect([rows, total_rows, summary?.row_count]).toEqual([[], 0, 3])
    const [one, two] = summary?.evaluations ?? []
    expect(one).toMatchObject({
      evaluation_call_id: first,
      trial_count: 3,
      evaluation_ref: project.ref("eval"),
      model_ref: project.ref("model"),
      display_name: null,
      trace_id: first,
      predict_total_tokens: null,
      predict_total_cost: null,
    })
    const stats = (one?.scorer_stats ?? []).toSorted((a, b) =>
      `${a.scorer_key}${a.path}`.localeCompare(`${b.scorer_key}${b.path}`),
    )
    const none = { numeric_count: 0, numeric_mean: null, pass_true_count: 0, pass_known_count: 0, pass_rate: null }
    expect(stats).toEqual([
      {
        ...none,
        scorer_key: "distance",
        path: "passed",
        value_type: "binary",
        trial_count: 2,
        pass_true_count: 2,
        pass_known_count: 2,
        pass_rate: 1,
        pass_signal_coverage: 1,
      },
      {
        ...none,
        scorer_key: "distance",
        path: "value",
        value_type: "continuous",
        trial_count: 2,
        numeric_count: 2,
        numeric_mean: 2.5,
        pass_signal_coverage: 0,
      },
      {
        ...none,
        scorer_key: "exact",
        path: null,
        value_type: "binary",
        trial_count: 3,
        pass_true_count: 1,
        pass_known_count: 3,
        pass_rate: 1 / 3,
        pass_signal_coverage: 1,
      },
      {
        ...none,
        scorer_key: "mixed",
        path: null,
        value_type: "continuous",
        trial_count: 1,
        numeric_count: 1,
        numeric_mean: 1,
        pass_signal_coverage: 0,
      },
      { ...none, scorer_key: "note", path: null, value_type: "text", trial_count: 1, pass_signal_coverage: 0 },
    ])
    expect(two).toMatchObject({ trial_count: 1 })
    const common = await results(project, { ...body, summary_require_intersection: true })
    expect(common.summary).toMatchObject({ row_count: 1, evaluations: [{ trial_count: 1 }, { trial_count: 1 }] })
    const inherited = await results(project, { ...body, require_intersection: true })
    expect(inherited.summary).toEqual(common.summary)
    const own = { ...body, require_intersection: true, summary_require_intersection: false }
    expect((await results(project, own)).summary).toEqual(summary)
  })
})

describe("objects 7: evaluations that SDKs recorded", () => {
  const model = (project: RunProject) => project.ref("Adder")

  /** Stores calls as Python's `Evaluation.evaluate` does: rows of a dataset by ref, usage in the model's call. */
  async function pythonEvaluation(project: RunProject, rows: readonly string[], base = 0, ofData = project) {
    const example = (index: number) => `weave:///${ofData.name}/object/data:v0/attr/rows/id/${rows[index]}`
    const calls = rows.flatMap((_, index) => {
      const [trial, predict, score, inner] = [1, 2, 3, 4].map((part) => base + 10 * (index + 1) + part)
      const usage = { "m-1": { requests: 1, prompt_tokens: 100, completion_tokens: 10 + index } }
      const judge = { judge: { requests: 1, prompt_tokens: 1000, completion_tokens: 1000 } }
      return [
        {
          ...call(project, {
            id: trial as number,
            parent: base + 1,
            trace: base,
            opName: "Evaluation.predict_and_score",
          }),
          inputs: { self: project.ref("eval"), model: model(project), example: example(index) },
          output: { output: `out-${index}`, scores: { exact: { correct: index === 0 } }, model_latency: 9 },
          summary: { usage: { ...usage, ...judge } },
        },
        {
          ...call(project, {
            id: predict as number,
            parent: trial as number,
            trace: base,
            opName: "Adder.predict",
            usage,
          }),
          inputs: { self: model(project), text: "x" },
        },
        {
          ...call(project, {
            id: score as number,
            parent: trial as number,
            trace: base,
            opName: "exact",
            usage: judge,
          }),
          started_at: "2026-03-01T00:00:02Z",
          ended_at: "2026-03-01T00:00:03Z",
        },
        call(project, { id: inner as number, parent: predict as number, trace: base, opName: "openai.chat", usage }),
      ]
    })
    const root = {
      ...call(project, { id: base + 1, trace: base, opName: "Evaluation.evaluate" }),
      display_name: "nightly",
      inputs: { self: project.ref("eval"), model: model(project) },
      summary: { status_counts: { success: 1, error: 0 } },
    }
    const answer = await project.post("calls/complete", { batch: [root, ...calls] })
    if (answer.status !== 200) throw new Error(answer.text)
    return uuid(base + 1)
  }

  function call(project: RunProject, fields: Parameters<typeof completedCall>[1]) {
    const { opName = "op" } = fields
    const ref = `weave:///${project.name}/op/${opName}:d1`
    return completedCall(project.name, { ...fields, opName: ref, endedAt: "2026-03-01T00:00:01.500Z" })
  }

  /** Publishes the rows as the dataset `data`; returns their digests. */
  async function dataset(project: RunProject, rows: readonly object[]): Promise<string[]> {
    const table = { project_id: project.name, rows }
    const made = (await opened.acme.post("/table/create", { table })).body as { digest: string; row_digests: string[] }
    const val = { _type: "Dataset", rows: `weave:///${project.name}/table/${made.digest}` }
    await opened.acme.post("/obj/create", { obj: { project_id: project.name, object_id: "data", val } })
    return made.row_digests
  }

  test("are runs, with rows named by the digests of their dataset", async () => {
    const project = runProject(opened.acme)
    const digests = await dataset(project, [{ text: "1 + 1" }, { text: "2 + 2" }])
    const root = await pythonEvaluation(project, digests)
    expect((await project.get(`evaluation_runs/${root}`)).body).toMatchObject({
      evaluation_run_id: root,
      evaluation: project.ref("eval"),
      model: model(project),
      status: "success",
      summary: { status_counts: { success: 1 } },
    })
    expect(await project.lines("evaluation_runs")).toMatchObject([{ evaluation_run_id: root }])
    const sort_by = [{ field: "inputs.text", direction: "desc" }]
    const { rows } = await results(project, { evaluation_call_ids: [root], include_raw_data_rows: true, sort_by })
    expect(rows.map(({ row_digest }) => row_digest)).toEqual(digests.toReversed())
    expect(rows[1]?.raw_data_row).toBe(`weave:///${project.name}/object/data:v0/attr/rows/id/${digests[0]}`)
    expect(rows[1]?.evaluations[0]?.trials).toEqual([
      {
        predict_and_score_call_id: uuid(11),
        predict_call_id: uuid(12),
        model_output: "out-0",
        scores: { exact: { correct: true } },
        model_latency_seconds: 1.5,
        total_tokens: 110,
        total_cost: null,
        scorer_call_ids: { exact: uuid(13) },
        genai_span_ref: null,
      },
    ])
    const prediction = await project.get(`predictions/${uuid(12)}`)
    expect(prediction.body).toMatchObject({ model: model(project), inputs: { text: "x" }, evaluation_run_id: root })
    expect((await project.get(`predictions/${uuid(14)}`)).status).toBe(404)
  })

  test("of a dataset in another project are filtered and sorted by its rows, where the caller may read them", async () => {
    const [project, ofData] = [runProject(opened.acme), runProject(opened.acme)]
    const foreign = runProject(opened.rival)
    const digests = await dataset(ofData, [{ text: "1 + 1" }, { text: "2 + 2" }, { text: "3 + 3" }])
    const rowsOf = async (of: RunProject, root: string) => {
      const query = { $expr: { $not: [{ $eq: [{ $getField: "inputs.text" }, { $literal: "2 + 2" }] }] } }
      const sort_by = [{ field: "inputs.text", direction: "desc" }]
      const { rows } = await results(of, { evaluation_call_ids: [root], filters: [{ query }], sort_by })
      return rows.map(({ row_digest }) => row_digest)
    }
    const own = await pythonEvaluation(project, digests, 0, ofData)
    expect(await rowsOf(project, own)).toEqual([digests[2], digests[0]])
    expect(await rowsOf(foreign, await pythonEvaluation(foreign, digests, 0, ofData))).toEqual([])
  })

  test("resolve_row_refs shows the rows of the dataset, and warns of what is not there", async () => {
    const project = runProject(opened.acme)
    const [digest = ""] = await dataset(project, [{ text: "1 + 1" }])
    const root = await pythonEvaluation(project, [digest, "gone"])
    const body = { evaluation_call_ids: [root], include_raw_data_rows: true, resolve_row_refs: true }
    const { rows, warnings } = await results(project, body)
    const data = new Map(rows.map((row) => [row.row_digest, row.raw_data_row]))
    expect(data.get(digest)).toEqual({ text: "1 + 1" })
    expect(data.get("gone")).toMatch(/^weave:/)
    expect(warnings).toEqual([expect.stringContaining(`1 rows of the dataset ${project.name}/data:v0`)])
    await opened.acme.post("/obj/delete", { project_id: project.name, object_id: "data" })
    const after = await results(project, body)
    expect(after.warnings).toEqual([expect.stringContaining("data:v0")])
    expect(after.rows.map(({ raw_data_row }) => raw_data_row)).toEqual([expect.any(String), expect.any(String)])
  })

  test("include_costs prices the model's call alone, by trial and in sum", async () => {
    const project = runProject(opened.acme)
    const root = await pythonEvaluation(project, ["r1", "r2"])
    const price = { prompt_token_cost: 0.01, completion_token_cost: 0.1, effective_date: "2026-01-01T00:00:00Z" }
    await opened.acme.post("/cost/create", { project_id: project.name, costs: { "m-1": price, judge: price } })
    const body = { evaluation_call_ids: [root], include_summary: true, include_costs: true }
    const { rows, summary } = await results(project, body)
    const trials = rows.flatMap((row) => row.evaluations.flatMap((one) => one.trials))
    expect(trials.map(({ total_cost }) => total_cost)).toEqual([2, 2.1])
    expect(summary?.evaluations[0]?.predict_total_cost).toBeCloseTo(4.1, 12)
    expect(summary?.evaluations[0]).toMatchObject({ display_name: "nightly", predict_total_tokens: 221 })
    const bare = await results(project, { ...body, include_predict_and_score_children: false })
    expect(bare.summary?.evaluations[0]?.predict_total_tokens).toBe(4221)
    expect(bare.summary?.evaluations[0]?.predict_total_cost).toBeCloseTo(4.1, 12)
    expect(bare.rows[0]?.evaluations[0]?.trials[0]).toMatchObject({ total_tokens: 2110, total_cost: 2 })
  })

  test("of the npm client have their outputs and latencies under its names", async () => {
    const project = runProject(opened.acme)
    const root = { ...call(project, { id: 1, opName: "Evaluation.evaluate" }), inputs: { this: "e", model: "m" } }
    const trial = {
      ...call(project, { id: 2, parent: 1, opName: "Evaluation.predictAndScore" }),
      inputs: { this: "e", model: "m", example: { q: 1 } },
      output: { model_success: true, model_output: { a: 1 }, scores: { s: 0.5 }, model_latency: 0.25 },
    }
    await project.post("calls/complete", { batch: [root, trial] })
    const { rows, summary } = await results(project, {
      evaluation_call_ids: [uuid(1)],
      include_summary: true,
      sort_by: [{ field: "outputs.a" }],
    })
    expect(rows[0]?.evaluations[0]?.trials[0]).toMatchObject({
      model_output: { a: 1 },
      scores: { s: 0.5 },
      model_latency_seconds: 0.25,
      predict_call_id: null,
    })
    expect(summary?.evaluations[0]).toMatchObject({ evaluation_ref: "e", model_ref: "m" })
    expect((await project.get(`evaluation_runs/${uuid(1)}`)).body).toMatchObject({ evaluation: "e", model: "m" })
  })

  test("deleted trials are gone, and calls below a root that are no trials are none", async () => {
    const project = runProject(opened.acme)
    const root = await pythonEvaluation(project, ["r1", "r2"])
    await opened.acme.post("/calls/delete", { project_id: project.name, call_ids: [uuid(11)] })
    const { rows, summary } = await results(project, { evaluation_call_ids: [root], include_summary: true })
    expect(rows.map(({ row_digest }) => row_digest)).toEqual(["r2"])
    expect(summary).toMatchObject({ row_count: 1, evaluations: [{ trial_count: 1, predict_total_tokens: 111 }] })
    expect(await results(project, { evaluation_call_ids: [uuid(22)], include_summary: true })).toMatchObject({
      rows: [],
      summary: { row_count: 0, evaluations: [{ trial_count: 0, scorer_stats: [] }] },
    })
  })
})

test("security 5.3: another team's evaluation is not found, in its project or in one's own", async () => {
  const project = runProject(opened.acme)
  const run = await runWith(project, [{ q: 1, output: "secret" }])
  const theirs = await runProject(opened.rival, project.name).post("eval_results/query", { evaluation_run_ids: [run] })
  expect([theirs.status, theirs.body]).toEqual([403, { detail: "Project not found" }])
  const own = runProject(opened.rival)
  await own.run()
  const found = await results(own, { evaluation_run_ids: [run], include_summary: true })
  expect(found).toEqual({
    rows: [],
    total_rows: 0,
    summary: { row_count: 0, evaluations: [] },
    warnings: [`evaluation ${run} was not found`],
  })
})
