/** Evaluation runs, each the root call of an evaluation: evaluation-store-objects 7. */
import { randomUUIDv7 } from "node:crypto"
import { formatRef } from "../../objects/refs/refs.ts"
import type { Principal } from "../../http/principal.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import type { Operand } from "../../wire/queries/query.ts"
import type { EvaluationRunCreate, EvaluationRunList } from "../../wire/evaluations/evaluation-run.ts"
import { statusOf } from "../../calls/read/call-record.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { recordCalls } from "../../calls/write/recorded-call.ts"
import type { ListRange } from "../../objects/requests/list-range.ts"
import { textOr } from "../../objects/families/family.ts"
import { type ProjectAccess, ensureProject } from "../../access/project-access.ts"
import { findCall, listCalls, markersOf, notFound, stringAt } from "./run-calls.ts"
import { isRunOp, runOp, type RunMarkers } from "./run-names.ts"
import { runOpRef } from "./run-ops.ts"

const evaluateOp = { owner: "Evaluation", method: "evaluate", otherwise: "Evaluation" }

export async function createRun(
  dependencies: CallDependencies,
  principal: Principal,
  projectName: string,
  { evaluation, model, source_evaluation_run_id }: EvaluationRunCreate,
): Promise<{ evaluation_run_id: string }> {
  const project = await ensureProject(dependencies.database, principal, projectName)
  const id = randomUUIDv7()
  const markers: RunMarkers = {
    evaluation_run: "true",
    evaluation,
    model,
    ...(source_evaluation_run_id == null ? {} : { source_evaluation_run_id }),
  }
  const start = {
    id,
    traceId: id,
    parentId: null,
    opName: await runOpRef(dependencies, principal, project, evaluateOp),
    startedAt: new Date(),
    attributes: JSON.stringify({ weave: markers }),
    inputs: JSON.stringify({ self: evaluation, model }),
  }
  await recordCalls(dependencies, principal, project.name, [{ start }])
  return { evaluation_run_id: id }
}

/** @throws {HeddleError} 404 when it is not there, deleted, or no evaluation. */
export async function findRun(
  dependencies: Pick<CallDependencies, "traces">,
  project: ProjectAccess,
  id: string,
): Promise<CallRow> {
  const row = await findCall(dependencies, project, id)
  if (row === null || !isRun(row)) throw notFound("Evaluation run", id)
  return row
}

export function isRun(row: CallRow): boolean {
  return isRunOp(row.op_name) || markersOf(row).evaluation_run === "true"
}

/** JSON texts of the runs, also of those that the SDKs made, oldest first. */
export async function* listRuns(
  dependencies: Pick<CallDependencies, "traces">,
  project: ProjectAccess,
  selection: EvaluationRunList,
  range: ListRange,
): AsyncGenerator<string[]> {
  const conditions = [
    anyOf(["inputs.self", "inputs.this"], [...(selection.evaluations ?? []), ...(selection.evaluation_refs ?? [])]),
    anyOf(["inputs.model"], [...(selection.models ?? []), ...(selection.model_refs ?? [])]),
  ].filter((condition) => condition !== null)
  const filter = {
    op_names: [formatRef(project.name, "op", runOp, "*"), runOp],
    call_ids: selection.evaluation_run_ids ?? null,
  }
  const query = conditions.length === 0 ? null : { $expr: { $and: conditions } }
  for await (const rows of listCalls(dependencies, project, { filter, query }, range)) yield rows.map(runText)
}

/** One of the fields has one of the values; null: any value will do. */
function anyOf(fields: readonly string[], values: readonly string[]): Operand | null {
  if (values.length === 0) return null
  const literals = values.map((value) => ({ $literal: value }))
  return { $or: fields.map((field): Operand => ({ $in: [{ $getField: field }, literals] })) }
}

export function runText(row: CallRow): string {
  const markers = markersOf(row)
  const known = JSON.stringify({
    evaluation_run_id: row.id,
    evaluation: textOr(markers.evaluation, null) ?? evaluationOf(row) ?? "",
    model: textOr(markers.model, null) ?? stringAt(row.inputs, "model") ?? "",
    status: statusOf(row),
    started_at: row.started_at,
    finished_at: row.ended_at ?? null,
    source_evaluation_run_id: textOr(markers.source_evaluation_run_id, null),
  })
  return `${known.slice(0, -1)},"summary":${row.ended_at == null ? "null" : (row.summary ?? "null")}}`
}

/** npm's SDK calls the evaluation `this`. */
export function evaluationOf({ inputs }: CallRow): string | null {
  return stringAt(inputs, "self") ?? stringAt(inputs, "this")
}
