/** `columns` of a calls query: evaluation-store-calls 3.8. */
import { HeddleError } from "../../errors.ts"
import type { CallColumn } from "../../storage/traces/calls/call-row-reads.ts"

/** `expire_at` is computed: no column of the store has it. */
export type ShownColumn = CallColumn | "expire_at"

const optional = [
  "display_name",
  "thread_id",
  "turn_id",
  "ended_at",
  "exception",
  "wb_user_id",
  "wb_run_id",
  "wb_run_step",
  "wb_run_step_end",
  "expire_at",
  "attributes",
  "inputs",
  "output",
  "summary",
] as const satisfies ShownColumn[]

/** Shown with every call, or computed by flags of their own. */
const elsewhere = new Set([
  "id",
  "project_id",
  "trace_id",
  "op_name",
  "started_at",
  "parent_id",
  "deleted_at",
  "wb_username",
  "storage_size_bytes",
  "total_storage_size_bytes",
  "otel",
  "feedback",
])

export interface ColumnWishes {
  columns: readonly string[] | null
  includeCosts: boolean
  includeUsernames: boolean
  includeStorageSize: boolean
}

/**
 * The columns to show. A dotted path asks for the whole column; an empty list for everything.
 * @throws {HeddleError} `invalid_field` for a name that is no column.
 */
export function chosenColumns(wishes: ColumnWishes): Set<ShownColumn> {
  const chosen = new Set<ShownColumn>()
  if (wishes.columns === null || wishes.columns.length === 0) for (const column of optional) chosen.add(column)
  else for (const path of wishes.columns) addColumn(chosen, path)
  if (wishes.includeCosts) chosen.add("summary")
  if (wishes.includeUsernames) chosen.add("wb_user_id")
  if (wishes.includeStorageSize) chosen.add("storage_size_bytes")
  if (chosen.has("attributes")) chosen.add("otel_dump")
  // `summary.weave` is computed from these columns, and the answer shows it.
  if (chosen.has("summary")) {
    for (const column of ["ended_at", "exception", "display_name"] as const) {
      chosen.add(column)
    }
  }
  return chosen
}

/** Those of the columns that are read from the store. */
export function storedColumns(shown: ReadonlySet<ShownColumn>): CallColumn[] {
  return [...shown].filter((column) => column !== "expire_at")
}

function addColumn(chosen: Set<ShownColumn>, path: string): void {
  const head = path.split(".", 1)[0] ?? ""
  const name = head.endsWith("_dump") ? head.slice(0, -"_dump".length) : head
  const column = optional.find((one) => one === name)
  if (column !== undefined) chosen.add(column)
  else if (!elsewhere.has(name)) throw new HeddleError("invalid_field", `Field ${path} is not allowed`)
}
