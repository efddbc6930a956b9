/** Which runs a list shows and in which order, as the server wants both told. */
import type { RunSelection } from "../../../api/runs/run-list.ts"

export interface RunFilter {
  q?: string | undefined
  tag?: string | undefined
  group?: string | undefined
  type?: string | undefined
}

interface RunSort {
  /** `created`, or a metric. */
  sort?: string | undefined
  up?: boolean | undefined
}

/** Filters that are values of a run, each with its word for people and its field of the public API. */
export const filterFields = [
  { key: "tag", word: "tag", field: "tags" },
  { key: "group", word: "group", field: "group" },
  { key: "type", word: "job type", field: "jobType" },
] as const

export function runSelection({ q, sort, up = false, ...values }: RunFilter & RunSort): RunSelection {
  const conditions = [
    ...(q ? [{ display_name: { $regex: `(?i)${escaped(q)}` } }] : []),
    ...filterFields.flatMap(({ key, field }) => (values[key] ? [{ [field]: values[key] }] : [])),
  ]
  const column = sort === "created" ? "created_at" : `summary_metrics.${sort}`
  return {
    order: sort === undefined ? undefined : `${up ? "+" : "-"}${column}`,
    filters: conditions.length === 0 ? undefined : { $and: conditions },
  }
}

const escaped = (text: string) => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&")

/** The server reads the dots of a name as a path, whose parts are not empty. */
export const isSortable = (metric: string) => metric.split(".").every((part) => part !== "")
