/** A leaderboard of the SDK: which figures of which evaluations it has as columns, and what each model came to in them. */
import type { Call } from "../api/calls/calls.ts"
import { valueAt } from "../calls/payload-path.ts"
import { elementTexts, type JsonText, memberTexts } from "../json/json-text.ts"
import { type EvalRun, evalRunOf } from "./eval-run.ts"
import type { Metric } from "./metrics.ts"

export interface BoardColumn {
  /** Of one version. */
  evaluationRef: string
  metric: Metric
  /** In what a run of the evaluation gave. */
  path: readonly string[]
  isLessBetter: boolean
}

/** null: it is no leaderboard with columns. */
export function boardColumns(val: JsonText): BoardColumn[] | null {
  if (!val.trimStart().startsWith("{")) return null
  const columns = memberTexts(val).get("columns")
  if (columns?.startsWith("[") !== true) return null
  const read = elementTexts(columns).flatMap((text) => columnOf(text) ?? [])
  return read.length === 0 ? null : read
}

function columnOf(text: string): BoardColumn | null {
  if (!text.startsWith("{")) return null
  const members = memberTexts(text)
  const textOf = (name: string) => {
    const value = members.get(name)
    return value?.startsWith('"') === true ? (JSON.parse(value) as string) : null
  }
  const [evaluationRef, scorer, summary] = [
    textOf("evaluation_object_ref"),
    textOf("scorer_name"),
    textOf("summary_metric_path"),
  ]
  if (evaluationRef === null || scorer === null || summary === null) return null
  // The name of a scorer may have dots in it.
  const path = [scorer, ...summary.split(".").filter((step) => step !== "")]
  const name = path.join(".")
  return {
    evaluationRef,
    metric: { id: name, name, kind: path.at(-1) === "true_fraction" ? "share" : "number", isMeasured: false },
    path,
    isLessBetter: members.get("should_minimize") === "true",
  }
}

export interface BoardCell {
  value: number
  run: EvalRun
}

export interface BoardRow {
  /** A ref or a plain name; one row for each. */
  model: Pick<EvalRun, "model" | "modelRef">
  /** As the columns; undefined: no run of the model has the figure. */
  cells: (BoardCell | undefined)[]
}

/** `calls`: runs of the evaluations, the newest first, whose figures count. */
export function boardRows(columns: readonly BoardColumn[], calls: readonly Call[]): BoardRow[] {
  const rows = new Map<string, BoardRow>()
  for (const call of calls) {
    const run = evalRunOf(call)
    const key = run.modelRef ?? run.model
    const row = rows.get(key) ?? { model: run, cells: columns.map(() => undefined) }
    for (const [index, column] of columns.entries()) {
      if (row.cells[index] !== undefined || column.evaluationRef !== run.evaluationRef) continue
      const value = figureAt(call.output, column.path)
      if (value !== null) row.cells[index] = { value, run }
    }
    if (row.cells.some((cell) => cell !== undefined)) rows.set(key, row)
  }
  return [...rows.values()]
}

function figureAt(output: JsonText, path: readonly string[]): number | null {
  const text = valueAt(output, path)
  if (text === "true" || text === "false") return Number(text === "true")
  return text !== null && /^-?\d/.test(text) ? Number(text) : null
}

/** The best first, or the worst; models without the figure last. */
export function rankedRows(rows: readonly BoardRow[], index: number, direction: "asc" | "desc"): BoardRow[] {
  const sign = direction === "asc" ? 1 : -1
  const valueOf = ({ cells }: BoardRow) => cells[index]?.value ?? sign * Infinity
  return rows.toSorted((a, b) => sign * (valueOf(a) - valueOf(b)) || 0)
}

/** The best value of a column; undefined: it has none, or no two to choose from. */
export function bestOf({ isLessBetter }: BoardColumn, index: number, rows: readonly BoardRow[]): number | undefined {
  const values = rows.flatMap(({ cells }) => cells[index]?.value ?? [])
  if (values.length < 2) return undefined
  return isLessBetter ? Math.min(...values) : Math.max(...values)
}
