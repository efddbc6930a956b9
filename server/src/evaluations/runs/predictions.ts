/** Predictions: the call of a model, in a run under a `predict_and_score` call of its own (evaluation-store-objects 7). */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { memberText, withoutMembers } from "../../json/json-members.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import type { OfRunList, SpanRef } from "../../wire/evaluations/evaluation-run.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { textOr } from "../../objects/families/family.ts"
import { type CallRecord, recordCalls } from "../../calls/write/recorded-call.ts"
import type { ListRange } from "../../objects/requests/list-range.ts"
import { type ProjectAccess, existingProject, ensureProject } from "../../access/project-access.ts"
import { tryParseRef } from "../../objects/refs/refs.ts"
import { findCall, isScoreCall, listCalls, markersOf, notFound, stringAt } from "./run-calls.ts"
import { isPredictAndScoreOp, type RunMarkers } from "./run-names.ts"
import { runOpRef } from "./run-ops.ts"
import { evaluationOf, findRun } from "./runs.ts"

/** `inputs` and `output` are JSON texts. */
export interface NewPrediction {
  model: string
  inputs: string
  output: string
  evaluation_run_id: string | null
  genai_span_ref: readonly SpanRef[] | null
}

export async function createPrediction(
  dependencies: CallDependencies,
  principal: Principal,
  projectName: string,
  body: NewPrediction,
): Promise<{ prediction_id: string }> {
  const { database } = dependencies
  const runId = body.evaluation_run_id
  const project = await (runId === null ? ensureProject : existingProject)(database, principal, projectName)
  const id = randomUUIDv7()
  const trial = runId === null ? null : await startTrial(dependencies, principal, project, { id, runId, body })
  const markers: RunMarkers = {
    prediction: "true",
    model: body.model,
    ...(runId === null ? {} : { evaluation_run_id: runId }),
    ...spanMarkers(body),
  }
  const name = { owner: tryParseRef(body.model)?.name || "Model", method: "predict", otherwise: "Model" }
  const now = new Date()
  const start = {
    id,
    traceId: trial?.traceId ?? id,
    parentId: trial?.id ?? null,
    opName: await runOpRef(dependencies, principal, project, name),
    startedAt: now,
    attributes: JSON.stringify({ weave: markers }),
    inputs: `{"self":${JSON.stringify(body.model)},"inputs":${body.inputs}}`,
  }
  const end = { id, endedAt: now, output: body.output, summary: "{}", exception: null }
  await recordCalls(dependencies, principal, project.name, [
    ...(trial === null ? [] : [{ start: trial }]),
    { start, end },
  ])
  return { prediction_id: id }
}

const predictAndScore = { owner: "Evaluation", method: "predict_and_score", otherwise: "Evaluation" }

/** The `predict_and_score` call of a prediction in a run. */
async function startTrial(
  dependencies: CallDependencies,
  principal: Principal,
  project: ProjectAccess,
  { id, runId, body }: { id: string; runId: string; body: NewPrediction },
): Promise<NonNullable<CallRecord["start"]>> {
  const run = await findRun(dependencies, project, runId)
  const markers: RunMarkers = { predict_call_id: id, ...spanMarkers(body) }
  const refs = JSON.stringify({ self: evaluationOf(run), model: body.model })
  return {
    id: randomUUIDv7(),
    traceId: run.trace_id,
    parentId: runId,
    opName: await runOpRef(dependencies, principal, project, predictAndScore),
    startedAt: new Date(),
    attributes: JSON.stringify({ weave: markers }),
    inputs: `${refs.slice(0, -1)},"example":${body.inputs}}`,
  }
}

function spanMarkers({ genai_span_ref }: NewPrediction): Pick<RunMarkers, "genai_span_ref"> {
  return genai_span_ref === null || genai_span_ref.length === 0 ? {} : { genai_span_ref }
}

export interface FoundPrediction {
  row: CallRow
  /** Its `predict_and_score` call; null: it stands alone. */
  trial: CallRow | null
}

/**
 * Also the call of a model below a `predict_and_score` call that an SDK made.
 * @throws {HeddleError} 404.
 */
export async function findPrediction(
  dependencies: Pick<CallDependencies, "traces">,
  project: ProjectAccess,
  id: string,
): Promise<FoundPrediction> {
  const row = await findCall(dependencies, project, id)
  const parent = row?.parent_id == null ? null : await findCall(dependencies, project, row.parent_id)
  const trial = parent !== null && isPredictAndScoreOp(parent.op_name) ? parent : null
  if (row === null || !(isPrediction(row) || (trial !== null && !isScoreCall(row)))) throw notFound("Prediction", id)
  return { row, trial }
}

export const isPrediction = (row: CallRow): boolean => markersOf(row).prediction === "true"

/** JSON texts, oldest first. */
export async function* listPredictions(
  dependencies: Pick<CallDependencies, "traces">,
  project: ProjectAccess,
  query: OfRunList,
  range: ListRange,
): AsyncGenerator<string[]> {
  for await (const rows of listMarked(dependencies, project, "prediction", query, range)) {
    yield rows.map((row) => predictionText({ row, trial: null }))
  }
}

/** Calls with the flag, of one run or of the project. */
export async function* listMarked(
  dependencies: Pick<CallDependencies, "traces">,
  project: ProjectAccess,
  flag: "prediction" | "score",
  { evaluation_run_id: runId }: OfRunList,
  range: ListRange,
): AsyncGenerator<CallRow[]> {
  const marked = (name: string, value: string) => ({
    $eq: [{ $getField: `attributes.weave.${name}` }, { $literal: value }] as [
      { $getField: string },
      { $literal: string },
    ],
  })
  const conditions = [marked(flag, "true")]
  if (!runId) {
    yield* listCalls(dependencies, project, { filter: {}, query: { $expr: { $and: conditions } } }, range)
    return
  }
  const run = await findCall(dependencies, project, runId)
  if (run === null) return
  conditions.push(marked("evaluation_run_id", runId))
  const filter = { trace_ids: [run.trace_id] }
  yield* listCalls(dependencies, project, { filter, query: { $expr: { $and: conditions } } }, range)
}

export function predictionText({ row, trial }: FoundPrediction): string {
  const markers = markersOf(row)
  const known = JSON.stringify({
    prediction_id: row.id,
    model: textOr(markers.model, null) ?? stringAt(trial?.inputs, "model") ?? stringAt(row.inputs, "self") ?? "",
    evaluation_run_id: textOr(markers.evaluation_run_id, trial?.parent_id ?? null),
    wb_user_id: row.wb_user_id ?? null,
  })
  return `${known.slice(0, -1)},"inputs":${inputsOf(row)},"output":${row.output ?? "null"}}`
}

/** JSON text of what the model was given; SDKs put it beside the model. */
export function inputsOf({ inputs }: CallRow): string {
  const nested = memberText(inputs ?? "null", "inputs")
  return nested?.startsWith("{") === true ? nested : withoutMembers(inputs ?? "{}", ["self"])
}

/** @throws {HeddleError} 400 when the prediction is in another run. */
export function checkRun({ row, trial }: FoundPrediction, runId: string): void {
  if (trial === null || trial.parent_id === runId) return
  throw new HeddleError(
    "value_error",
    `prediction ${row.id} is of the evaluation run ${trial.parent_id}, not of ${runId}`,
  )
}
