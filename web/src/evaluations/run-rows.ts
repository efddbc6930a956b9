/** Rows of one run with what their trials scored: what intervals, tests and tables are made of. */
import type { evalResults } from "@heddle/server/wire/evaluations/eval-results.ts"
import type * as z from "zod"
import { isJsonObject } from "../json/parsed-json.ts"
import { latency, type Metric, metricOfScore, price, pricedAnswers, tokens } from "./metrics.ts"

export type ResultRow = z.output<typeof evalResults>["rows"][number]

export interface Trial {
  /** Id of the call that predicted and scored. */
  id: string
  values: ReadonlyMap<string, number>
}

export interface RunRows {
  /** Trials by the digest of their row. */
  rows: ReadonlyMap<string, readonly Trial[]>
  /** Rows of the whole run; more than `rows` holds if it was too long to read. */
  total: number
  metrics: readonly Metric[]
}

/** Rows of one run, in the order in which they came. */
export function runRows(runId: string, found: readonly ResultRow[], total: number): RunRows {
  const metrics = new Map<string, Metric>()
  const rows = new Map<string, Trial[]>()
  for (const { row_digest: digest, evaluations } of found) {
    const trials = evaluations.find(({ evaluation_call_id }) => evaluation_call_id === runId)?.trials ?? []
    rows.set(
      digest,
      trials.map((trial) => ({ id: trial.predict_and_score_call_id, values: valuesOf(trial, metrics) })),
    )
  }
  return { rows, total, metrics: [...metrics.values()] }
}

type AnswerTrial = ResultRow["evaluations"][number]["trials"][number]

function valuesOf(trial: AnswerTrial, metrics: Map<string, Metric>): Map<string, number> {
  const values = new Map<string, number>()
  const note = (metric: Metric, value: number) => {
    const known = metrics.get(metric.id)
    // A scorer that says yes to one row and 0.5 to another gives numbers.
    metrics.set(metric.id, known?.kind === "number" ? known : metric)
    values.set(metric.id, value)
  }
  const walk = (path: readonly string[], value: unknown) => {
    if (typeof value === "boolean") note(metricOfScore(path, "share"), Number(value))
    else if (typeof value === "number") note(metricOfScore(path, "number"), value)
    else if (isJsonObject(value)) {
      for (const [name, inner] of Object.entries(value)) walk([...path, name], inner)
    }
  }
  walk([], trial.scores)
  if (trial.model_latency_seconds !== null) note(latency, trial.model_latency_seconds * 1000)
  if (trial.total_tokens !== null) note(tokens, trial.total_tokens)
  if (trial.total_cost !== null) note(price, trial.total_cost * pricedAnswers)
  return values
}

/** The mean over the trials of a row; undefined: none of them has the value. */
export function rowValue(trials: readonly Trial[] | undefined, metricId: string): number | undefined {
  let [sum, count] = [0, 0]
  for (const { values } of trials ?? []) {
    const value = values.get(metricId)
    if (value === undefined) continue
    sum += value
    count += 1
  }
  return count === 0 ? undefined : sum / count
}

/** Values of a metric, from each row that has one. */
export function rowValues({ rows }: RunRows, metricId: string): number[] {
  return Array.from(rows.values(), (trials) => rowValue(trials, metricId)).filter((value) => value !== undefined)
}
