/** The calls of an evaluation that the server runs, as the SDK and the evaluation-run endpoints write them (evaluation-store-objects 7). */
import { isPassing, isRefusal } from "../../../errors.ts"
import type { Principal } from "../../../http/principal.ts"
import { objectText } from "../../../json/json-members.ts"
import { readCallRows } from "../../../storage/traces/calls/call-row-reads.ts"
import { recordCalls } from "../../../calls/write/recorded-call.ts"
import { findCall } from "../../runs/run-calls.ts"
import type { RunMarkers } from "../../runs/run-names.ts"
import { runOpRef } from "../../runs/run-ops.ts"
import type { ProjectAccess } from "../../../access/project-access.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { applyScorer, type ScoringTarget } from "./scored-call.ts"
import type { Scorer } from "../scorer.ts"
import type { JobContext } from "./job-runner.ts"
import { forEachParallel } from "./parallel.ts"
import { statusCounts } from "./run-failures.ts"

export interface RunRefs {
  evaluation: string
  model: string
  source_evaluation_run_id?: string
}

export const trialOp = { owner: "Evaluation", method: "predict_and_score", otherwise: "Evaluation" }

const evalMeta = { evaluate_model_worker: true, declarative: true }

/** The root call; `id` is also that of its trace and of the job. Begun again, it is the same. */
async function startRun(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  id: string,
  refs: RunRefs,
): Promise<void> {
  const markers: RunMarkers = { evaluation_run: "true", ...refs }
  const start = {
    id,
    traceId: id,
    parentId: null,
    opName: await runOpRef(dependencies, principal, project, {
      owner: "Evaluation",
      method: "evaluate",
      otherwise: "Evaluation",
    }),
    startedAt: new Date(),
    attributes: attributesOf(markers),
    inputs: JSON.stringify({ self: refs.evaluation, model: refs.model }),
  }
  await recordCalls(dependencies, principal, project.name, [{ start }])
}

/** A server that stopped after it had stored the job may not have begun the run. */
export async function ensureRun(
  dependencies: ExecutionDependencies,
  context: JobContext,
  refs: RunRefs,
): Promise<void> {
  const { jobId, principal, project } = context
  if ((await findCall(dependencies, project, jobId)) === null)
    await startRun(dependencies, principal, project, jobId, refs)
}

/**
 * Begins the run of a job that was just stored. What fails for a while, or on the server's side, the job does later: told
 * of it, the client would ask for a second run beside this one, and both would be paid.
 * @throws {HeddleError} below 500: the job will be refused the same way before it asks a model.
 */
export async function startStoredRun(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  id: string,
  refs: RunRefs,
): Promise<void> {
  try {
    await startRun(dependencies, principal, project, id, refs)
  } catch (error) {
    if (isRefusal(error) && !isPassing(error)) throw error
  }
}

export function attributesOf(markers: RunMarkers): string {
  return JSON.stringify({ weave: markers, _weave_eval_meta: evalMeta })
}

/** Ends the root call with `reason`; it had to be begun. */
export async function failRun(
  dependencies: ExecutionDependencies,
  { jobId, principal, project }: JobContext,
  reason: string,
): Promise<void> {
  const end = { id: jobId, endedAt: new Date(), output: "null", summary: "{}", exception: reason }
  await recordCalls(dependencies, principal, project.name, [{ end }])
}

interface TrialScores {
  /** JSON text by the scorers' names; one that failed gives `{}`, as in the SDK. */
  scores: string
  /** Summary of a trial whose prediction succeeded, as JSON text. */
  summary: string
}

export async function scoreTrial(
  dependencies: ExecutionDependencies,
  context: JobContext,
  scorers: readonly Scorer[],
  predictionId: string,
  target: ScoringTarget,
): Promise<TrialScores> {
  const outputs = new Map<Scorer, string | null>()
  await forEachParallel(scorers, context.signal, async (scorer) => {
    const markers: RunMarkers = {
      score: "true",
      prediction_id: predictionId,
      scorer: scorer.ref,
      evaluation_run_id: context.jobId,
    }
    const marked = { ...target, attributes: attributesOf(markers) }
    outputs.set(scorer, await applyScorer(dependencies, context, scorer, marked))
  })
  // If a scorer is listed in two versions, the last one counts.
  const scores = new Map(scorers.map((scorer) => [scorer.name, outputs.get(scorer) ?? "{}"]))
  const failed = [...outputs.values()].filter((output) => output === null).length
  const summary = failed === 0 ? "{}" : JSON.stringify(statusCounts(1 + scorers.length - failed, failed))
  return { scores: objectText(scores), summary }
}

const trialsAtOnce = 256

/** The trials whose call has not ended, in batches: a job that was cut off goes on with these. */
export async function* openTrials<Trial>(
  { traces }: ExecutionDependencies,
  project: ProjectAccess,
  trials: readonly Trial[],
  callIdOf: (trial: Trial) => string,
): AsyncGenerator<Trial[]> {
  for (let from = 0; from < trials.length; from += trialsAtOnce) {
    const batch = trials.slice(from, from + trialsAtOnce)
    const rows = await readCallRows(traces, project.id, batch.map(callIdOf), ["ended_at"])
    const ended = new Set(rows.flatMap(({ id, ended_at }) => (ended_at == null ? [] : [id])))
    yield batch.filter((trial) => !ended.has(callIdOf(trial)))
  }
}
