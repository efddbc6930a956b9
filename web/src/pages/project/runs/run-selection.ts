/** Which runs a list shows and in which order, as the server wants both told. */
import type { RunSelection, RunState } from "../../../api/runs/run-list.ts"
import type { runStateChoices } from "./runs-search.ts"

export type StateChoice = (typeof runStateChoices)[number]

export interface RunFilter {
  q?: string | undefined
  state?: StateChoice | undefined
  tag?: string | undefined
  group?: string | undefined
  type?: string | undefined
}

interface RunSort {
  /** `created`, `config.<key>`, or a metric. */
  sort?: string | undefined
  up?: boolean | undefined
}

/** Filters that are values of a run, each with its word for people and its field of the public API. */
export const filterFields = [
  { key: "tag", word: "tag", field: "tags" },
  { key: "group", word: "group", field: "group" },
  { key: "type", word: "job type", field: "jobType" },
] as const

const states: Readonly<Record<StateChoice, readonly RunState[]>> = {
  running: ["pending", "running", "preempting"],
  finished: ["finished"],
  failed: ["failed"],
  crashed: ["crashed"],
  killed: ["killed"],
  unsuccessful: ["failed", "crashed", "killed"],
}

export function runSelection({ q, state, sort, up = false, ...values }: RunFilter & RunSort): RunSelection {
  const conditions = [
    ...(q ? [{ display_name: { $regex: `(?i)${escaped(q)}` } }] : []),
    ...(state === undefined ? [] : [{ state: { $in: states[state] } }]),
    ...filterFields.flatMap(({ key, field }) => (values[key] ? [{ [field]: values[key] }] : [])),
  ]
  return {
    order: sort === undefined ? undefined : `${up ? "+" : "-"}${orderOf(columnOfSort(sort))}`,
    filters: conditions.length === 0 ? undefined : { $and: conditions },
  }
}

const escaped = (text: string) => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&")

const orderOf = (column: string) =>
  column === "created" ? "created_at" : column.replace(/^summary\./, "summary_metrics.")

/** A value of a config or summary: `config.lr`, `summary.val/loss`. */
export const isPath = (column: string) => /^(?:config|summary)\../.test(column)

export const isConfigPath = (column: string) => column.startsWith("config.")

/** The server reads the dots of a name as a path, whose parts are not empty. */
export const isSortable = (path: string) => path.split(".").every((part) => part !== "")

/** The column that the address names: a metric stands there without more. */
export const columnOfSort = (sort: string) => (sort === "created" || isPath(sort) ? sort : `summary.${sort}`)

/** What {@link columnOfSort} reads. */
export function sortOfColumn(column: string): string {
  const metric = column.replace(/^summary\./, "")
  return columnOfSort(metric) === column ? metric : column
}
