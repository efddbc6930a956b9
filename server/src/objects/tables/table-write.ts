/** Making tables: evaluation-store-calls 6.2. They never change; an update makes another one. */
import type { HeldBody } from "../../http/bodies/body-budget.ts"
import type { RouteContext } from "../../http/route.ts"
import { insertTable, insertTableRows } from "../../storage/traces/table-rows.ts"
import type { ThreadTask } from "../../threads/thread-task.ts"
import type { StoreDependencies } from "../dependencies.ts"
import type { PayloadLookup } from "../payload/payload-lookups.ts"
import { runPayloadTask } from "../payload/run-payload-task.ts"
import type { TableInput, TableResult } from "./table-tasks.ts"

type Sent = Pick<RouteContext, "principal" | "held"> & { body: Buffer }

/** Stores the table that a task makes of a body; returns the JSON of the answer. */
export async function writeTable(
  dependencies: StoreDependencies,
  task: ThreadTask<TableInput, TableResult, PayloadLookup, unknown>,
  { body, principal, held }: Sent,
): Promise<Buffer> {
  const input = { bytes: body, ...rowLimits(dependencies) }
  const options = { bytes: body.length }
  const { answer, ...table } = await runPayloadTask(dependencies, principal, task, input, options)
  await storeTable(dependencies, held, table)
  return answer
}

/** The rows first: a stored row that no table names does no harm. */
export async function storeTable(
  { traces }: Pick<StoreDependencies, "traces">,
  held: HeldBody,
  { projectId, rowLines, lines }: Omit<TableResult, "answer">,
): Promise<void> {
  // With very small rows the row lines are several times the size of the body.
  await held.take(rowLines.length + lines.length)
  await insertTableRows(traces, projectId, rowLines)
  await insertTable(traces, projectId, lines)
}

export function rowLimits({ limits }: Pick<StoreDependencies, "limits">) {
  return { mostRows: limits.table_rows, mostProjects: limits.request_projects }
}
