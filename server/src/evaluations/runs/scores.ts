/** Scores: the call of a scorer beside the prediction it scores, and feedback on that (evaluation-store-objects 7). */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import type { OfRunList } from "../../wire/evaluations/evaluation-run.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { recordCalls } from "../../calls/write/recorded-call.ts"
import { createFeedback } from "../../labelling/feedback/feedback-create.ts"
import type { NewFeedback } from "../../labelling/feedback/feedback-task.ts"
import { checkPayloadSize } from "../../labelling/feedback/payload-size.ts"
import { checkFeedback } from "../../labelling/feedback/feedback-types.ts"
import type { ListRange } from "../../objects/requests/list-range.ts"
import { textOr } from "../../objects/families/family.ts"
import { type ProjectAccess, existingProject } from "../../access/project-access.ts"
import { formatRef, refPrefix, tryParseRef } from "../../objects/refs/refs.ts"
import { checkRun, findPrediction, type FoundPrediction, inputsOf, listMarked } from "./predictions.ts"
import { findCall, markersOf, notFound } from "./run-calls.ts"
import type { RunMarkers } from "./run-names.ts"
import { runOpRef } from "./run-ops.ts"
import { findRun } from "./runs.ts"

export interface NewScore {
  prediction_id: string
  scorer: string
  /** JSON text. */
  value: string
  evaluation_run_id: string | null
}

export async function createScore(
  dependencies: CallDependencies,
  principal: Principal,
  projectName: string,
  body: NewScore,
): Promise<{ score_id: string }> {
  const scorerName = nameOfScorer(body.scorer)
  const project = await existingProject(dependencies.database, principal, projectName)
  const found = await findPrediction(dependencies, project, body.prediction_id)
  const id = randomUUIDv7()
  const place = await placeOf(dependencies, project, found, { id, runId: body.evaluation_run_id })
  const markers: RunMarkers = {
    score: "true",
    prediction_id: body.prediction_id,
    scorer: body.scorer,
    ...(body.evaluation_run_id === null ? {} : { evaluation_run_id: body.evaluation_run_id }),
  }
  const name = { owner: scorerName, method: "score", otherwise: "Scorer" }
  const now = new Date()
  const start = {
    id,
    ...place,
    opName: await runOpRef(dependencies, principal, project, name),
    startedAt: now,
    attributes: JSON.stringify({ weave: markers }),
    inputs: `{"self":${JSON.stringify(body.scorer)},"inputs":${inputsOf(found.row)},"output":${found.row.output ?? "null"}}`,
  }
  const end = { id, endedAt: now, output: body.value, summary: "{}", exception: null }
  const feedback = feedbackOf(project, { id, scorerName, body })
  // Feedback's stricter rules are checked first: a refusal leaves no call, and no feedback names a missing call.
  checkFeedback({ ...feedback.fields, payload: { output: null } })
  checkPayloadSize(feedback.payload)
  await recordCalls(dependencies, principal, project.name, [{ start, end }])
  await createFeedback(dependencies, principal, [feedback])
  return { score_id: id }
}

function nameOfScorer(scorer: string): string {
  const ref = tryParseRef(scorer)
  if (ref !== null && (ref.kind === "object" || ref.kind === "op")) return ref.name
  const form = `${refPrefix}<entity>/<project>/object/<name>:<version>`
  throw new HeddleError("value_error", `scorer "${scorer}" is not the ref of an object or op: ${form}`)
}

/** Beside its prediction in the run; below the run when the prediction stands alone; alone without a run. */
async function placeOf(
  dependencies: CallDependencies,
  project: ProjectAccess,
  found: FoundPrediction,
  { id, runId }: { id: string; runId: string | null },
): Promise<{ traceId: string; parentId: string | null }> {
  if (runId === null) return { traceId: id, parentId: null }
  const run = await findRun(dependencies, project, runId)
  checkRun(found, runId)
  return { traceId: run.trace_id, parentId: found.trial?.id ?? runId }
}

function feedbackOf(
  project: ProjectAccess,
  { id, scorerName, body }: { id: string; scorerName: string; body: NewScore },
): NewFeedback {
  const fields = {
    project_id: project.name,
    weave_ref: formatRef(project.name, "call", body.prediction_id),
    feedback_type: `wandb.runnable.${scorerName}`,
    runnable_ref: body.scorer,
    call_ref: formatRef(project.name, "call", id),
  }
  return { fields, payload: `{"output":${withoutNotFinite(body.value)}}` }
}

export const isScore = (row: CallRow): boolean => markersOf(row).score === "true"

/** JSON text. @throws {HeddleError} 404. */
export async function readScore(
  dependencies: Pick<CallDependencies, "traces">,
  project: ProjectAccess,
  id: string,
): Promise<string> {
  const row = await findCall(dependencies, project, id)
  if (row === null || !isScore(row)) throw notFound("Score", id)
  return scoreText(row)
}

/** JSON texts, oldest first. */
export async function* listScores(
  dependencies: Pick<CallDependencies, "traces">,
  project: ProjectAccess,
  query: OfRunList,
  range: ListRange,
): AsyncGenerator<string[]> {
  for await (const rows of listMarked(dependencies, project, "score", query, range)) yield rows.map(scoreText)
}

function scoreText(row: CallRow): string {
  const { scorer, evaluation_run_id } = markersOf(row)
  const known = JSON.stringify({
    score_id: row.id,
    scorer: textOr(scorer, ""),
    evaluation_run_id: textOr(evaluation_run_id, null),
    wb_user_id: row.wb_user_id ?? null,
  })
  return `${known.slice(0, -1)},"value":${row.output ?? "null"}}`
}
