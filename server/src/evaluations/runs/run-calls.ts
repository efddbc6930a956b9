/** Reads the calls of evaluations: one by its id, or a list as JSON Lines. */
import { HeddleError } from "../../errors.ts"
import { memberText, textAt } from "../../json/json-members.ts"
import { findCalls } from "../../storage/traces/calls/calls-read.ts"
import { type CallsQuery, selectCalls } from "../../storage/traces/calls/calls-selection.ts"
import { type CallColumn, type CallRow, readCallRows, readRowsOf } from "../../storage/traces/calls/call-row-reads.ts"
import { type EvaluationFailures, evaluationFailures } from "../../wire/evaluations/execution.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import type { ListRange } from "../../objects/requests/list-range.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import type { RunMarkers } from "./run-names.ts"

const columns: readonly CallColumn[] = [
  "attributes",
  "inputs",
  "output",
  "summary",
  "ended_at",
  "exception",
  "wb_user_id",
]

/** null: not there, or deleted. */
export async function findCall(
  { traces }: Pick<CallDependencies, "traces">,
  project: ProjectAccess,
  id: string,
): Promise<CallRow | null> {
  const [row] = await readCallRows(traces, project.id, [id], columns)
  return row ?? null
}

const rowsAtOnce = 100

/** The rows that match, oldest first. */
export async function* listCalls(
  { traces }: Pick<CallDependencies, "traces">,
  project: ProjectAccess,
  { filter, query }: Pick<CallsQuery, "filter" | "query">,
  range: ListRange,
): AsyncGenerator<CallRow[]> {
  if (range.limit === 0) return
  // No query of evaluations asks when a call goes.
  const scope = { projectId: project.id, projectName: project.name, retentionDays: null }
  const selection = selectCalls({ ...scope, filter, query, sortBy: null })
  for await (const calls of findCalls(traces, selection, range)) {
    for (let from = 0; from < calls.length; from += rowsAtOnce) {
      yield await readRowsOf(traces, project.id, calls.slice(from, from + rowsAtOnce), columns)
    }
  }
}

/** Those of the ids that `isOne` says yes to. */
export async function idsOfKind(
  { traces }: Pick<CallDependencies, "traces">,
  project: ProjectAccess,
  ids: readonly string[],
  isOne: (row: CallRow) => boolean,
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await readCallRows(traces, project.id, [...new Set(ids)], ["attributes"])
  return rows.filter(isOne).map(({ id }) => id)
}

/** The markers under `attributes.weave`. Any client may have written them, so nothing about them is certain. */
export function markersOf({ attributes }: CallRow): Partial<Record<keyof RunMarkers, unknown>> {
  const markers: unknown = JSON.parse(memberText(attributes ?? "null", "weave") ?? "null")
  return typeof markers === "object" && markers !== null ? markers : {}
}

/** Marked by this API, or by the SDK's imperative evaluations. */
export function isScoreCall(row: CallRow): boolean {
  const meta = memberText(row.attributes ?? "null", "_weave_eval_meta")
  return markersOf(row).score === "true" || memberText(meta ?? "null", "score") === "true"
}

/** The string at a path of a payload; null: none. */
export function stringAt(payload: string | null | undefined, ...path: readonly string[]): string | null {
  const text = textAt(payload ?? "null", path)
  return text?.trimStart().startsWith('"') === true ? (JSON.parse(text) as string) : null
}

/** Failures of a run by the server, from its summary; null if it had none or another client ran it. */
export function failuresOf({ summary }: CallRow): EvaluationFailures | null {
  const stored: unknown = JSON.parse(memberText(summary ?? "null", "failures") ?? "null")
  return evaluationFailures.safeParse(stored).data ?? null
}

export function notFound(kind: string, id: string): HeddleError {
  return new HeddleError("not_found", `${kind} ${id} not found`)
}
