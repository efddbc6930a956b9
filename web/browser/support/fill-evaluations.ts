/**
 * Runs of an evaluation as Python's SDK leaves them, on two versions of a dataset: made by requests that clients send.
 */
import { randomUUID } from "node:crypto"
import type { Heddle } from "./heddle.ts"

const minute = 60_000

export interface FilledEvaluation {
  /** `entity/project` */
  id: string
  /**
   * Ids of the runs, the oldest first: two of versions v0 and v1 of a model, then one of another with three trials a
   * row.
   */
  runs: [string, string, string]
}

const tickets = [
  "The jacket is fine but one size too small. I cut off the label already. Can I still exchange it?",
  "Refund went to a card that is closed now. Where is my money?",
  "My return parcel is lost, the carrier says so. NL-86610",
  "I want to speak to a person, not to a program.",
  "Chargeback it is then, if I do not hear from you today.",
  "Boots worn outside twice, sole comes off. Is it a warranty case?",
]

/** The newer version resolves a quarter more of them, and not the first one any more. */
const rowCount = 40

const questions = Array.from({ length: rowCount }, (_, index) => ({
  ticket: index < tickets.length ? tickets[index] : `${tickets[index % tickets.length]} (${index})`,
  expected: "Allow it, and send a free label.",
}))

const before =
  "Thank you for telling us. A missing label is not a problem and you can exchange it. I have sent a free return label."
const after =
  "Thank you for telling us. Our policy asks for the original label, so an exchange is not possible. I have sent the policy."

export async function fillEvaluation(heddle: Heddle, project: string): Promise<FilledEvaluation> {
  const id = `local/${project}`
  await heddle.send("POST", "/v1/projects", { entity: "local", name: project })
  const made = <Answer>(family: string, body: object) => heddle.send<Answer>("POST", `/v2/${id}/${family}`, body)
  const dataset = async (rows: readonly object[]) => {
    const { digest } = await made<{ digest: string }>("datasets", { name: "returns-eval", rows })
    const shown = await heddle.send<{ rows: string }>("GET", `/v2/${id}/datasets/returns-eval/versions/${digest}`)
    const table = shown.rows.slice(shown.rows.lastIndexOf(":") + 1).replace(/^.*\//, "")
    const found = await heddle.send<{ rows: { digest: string }[] }>("POST", "/table/query", {
      project_id: id,
      digest: table,
    })
    const ref = `weave:///${id}/object/returns-eval:${digest}`
    return { ref, rows: found.rows.map((row) => `${ref}/attr/rows/id/${row.digest}`) }
  }
  const older = await dataset(questions)
  // The newer version has one new row, and the first row at its end.
  const newer = await dataset([...questions.slice(1), { ticket: "Is this new?", expected: "Yes." }, questions[0] ?? {}])
  const evaluation = async (ref: string) =>
    (await made<{ evaluation_ref: string }>("evaluations", { name: "returns-regression", dataset: ref })).evaluation_ref
  const [first, second] = [await evaluation(older.ref), await evaluation(newer.ref)]
  const model = async (name: string, step: number) =>
    (await made<{ model_ref: string }>("models", { name, source_code: `step = ${step}\n` })).model_ref
  await heddle.send("POST", "/cost/create", {
    project_id: id,
    costs: {
      "returns-agent": { prompt_token_cost: 1e-7, completion_token_cost: 4e-7, effective_date: "2026-01-01T00:00:00Z" },
    },
  })
  const send = (run: RunOf) => sendRun(heddle, id, run)
  const now = Date.now()
  return {
    id,
    runs: [
      await send({
        evaluation: first,
        model: await model("returns-agent", 36),
        rows: older.rows.slice(0, -1),
        startedAt: now - 300 * minute,
        trials: 1,
        answer: (row) => ({
          output: before,
          resolved: row === 0 || row % 4 > 1,
          tone: 3 + (row % 3) / 2,
          tokens: 60 + (row % 9),
        }),
      }),
      await send({
        evaluation: second,
        model: await model("returns-agent", 42),
        rows: [...newer.rows.slice(-1), ...newer.rows.slice(0, -1)],
        startedAt: now - 120 * minute,
        trials: 1,
        answer: (row) => ({
          output: row === 0 ? after : before,
          resolved: row !== 0 && row % 4 > 0,
          tone: row === 0 ? 1 : 3.1 + (row % 3) / 2,
          tokens: 48 + (row % 7),
        }),
      }),
      await send({
        evaluation: second,
        model: await model("other-model", 1),
        rows: [...newer.rows.slice(-1), ...newer.rows.slice(0, -1)],
        startedAt: now - 30 * minute,
        trials: 3,
        answer: (row, trial) => ({
          output: before.replace("exchange it", `exchange it, trial ${trial + 1}`),
          resolved: (row * 3 + trial) % 5 > 1,
          tone: 2.5 + ((row + trial) % 4) / 2,
          tokens: 90 + row,
        }),
      }),
    ],
  }
}

interface RunOf {
  evaluation: string
  model: string
  /** Refs of rows of the dataset. */
  rows: readonly string[]
  startedAt: number
  trials: number
  answer: (row: number, trial: number) => { output: string; resolved: boolean; tone: number; tokens: number }
}

async function sendRun(heddle: Heddle, project: string, run: RunOf): Promise<string> {
  const trace = randomUUID()
  const op = (name: string) => `weave:///${project}/op/${name}:Qm3bXSUkTwX5vbXGIE5QYr2jZkJ8VqVNYkDrXcXwKv0`
  const call = (
    fields: { id: string; parent: string | null; name: string; at: number; took: number },
    more: object,
  ) => ({
    project_id: project,
    id: fields.id,
    trace_id: trace,
    parent_id: fields.parent,
    op_name: op(fields.name),
    started_at: new Date(fields.at).toISOString(),
    ended_at: new Date(fields.at + fields.took).toISOString(),
    attributes: {},
    inputs: {},
    summary: {},
    ...more,
  })
  const root = randomUUID()
  const { evaluation, model, startedAt } = run
  const batch: object[] = []
  for (const [row, example] of run.rows.entries()) {
    for (let trial = 0; trial < run.trials; trial += 1) {
      const { output, resolved, tone, tokens } = run.answer(row, trial)
      const at = startedAt + (row * run.trials + trial) * 1500
      const took = 700 + ((row * 37 + trial * 11) % 600)
      const usage = { "returns-agent": { requests: 1, prompt_tokens: 400, completion_tokens: tokens } }
      const [id, predict] = [randomUUID(), randomUUID()]
      batch.push(
        call(
          { id, parent: root, name: "Evaluation.predict_and_score", at, took: took + 300 },
          {
            inputs: { self: evaluation, model, example },
            output: {
              output: { answer: output },
              scores: { resolved, judge: { tone, reason: `tone ${tone} of 5` } },
              model_latency: took / 1000,
            },
            summary: { usage },
          },
        ),
        call(
          { id: predict, parent: id, name: "Model.predict", at, took },
          { inputs: { self: model }, output: { answer: output }, summary: { usage } },
        ),
      )
    }
  }
  const took = run.rows.length * run.trials * 1500
  batch.push(
    call(
      { id: root, parent: null, name: "Evaluation.evaluate", at: startedAt, took },
      { inputs: { self: evaluation, model }, output: {} },
    ),
  )
  await heddle.send("POST", `/v2/${project}/calls/complete`, { batch })
  return root
}
