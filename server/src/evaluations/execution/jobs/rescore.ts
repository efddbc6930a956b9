/** `/evaluations/rescore`: other scorers over the predictions of a run, as a run of its own (evaluation-store-calls 9). */
import { randomUUIDv7 } from "node:crypto"
import { isRefusal } from "../../../errors.ts"
import type { Principal } from "../../../http/principal.ts"
import { memberText } from "../../../json/json-members.ts"
import { setExecutionJobTotal } from "../../../storage/catalog/evaluations/execution-jobs.ts"
import { findChildIds } from "../../../storage/traces/calls/call-children.ts"
import { type CallRow, readCallPieces, readCallRows } from "../../../storage/traces/calls/call-row-reads.ts"
import { namedAtOnce } from "../../../storage/traces/query/named-at-once.ts"
import { rowPieces } from "../../../storage/traces/table-rows.ts"
import type { RescoreBody } from "../../../wire/evaluations/execution.ts"
import { derivedId } from "../../../calls/write/derived-id.ts"
import { recordCalls } from "../../../calls/write/recorded-call.ts"
import { finishRun } from "../../runs/finish-run.ts"
import { markersOf, stringAt } from "../../runs/run-calls.ts"
import { isPredictAndScoreOp, type RunMarkers } from "../../runs/run-names.ts"
import { evaluationOf, findRun } from "../../runs/runs.ts"
import { textOr } from "../../../objects/families/family.ts"
import { type ProjectAccess, existingProject, requireRoom } from "../../../access/project-access.ts"
import { tryParseRef } from "../../../objects/refs/refs.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { readScorers, type Scorer } from "../scorer.ts"
import {
  attributesOf,
  ensureRun,
  failRun,
  openTrials,
  type RunRefs,
  scoreTrial,
  startStoredRun,
  trialOp,
} from "./evaluation-run.ts"
import type { JobContext, JobKind, JobRunner } from "./job-runner.ts"
import { jobOpRef } from "./op-refs.ts"
import { forEachParallel } from "./parallel.ts"
import { runSummary, statusCounts } from "./run-failures.ts"

interface RescoreRequest {
  /** Pinned. */
  scorerRefs: string[]
  refs: RunRefs & { source_evaluation_run_id: string }
}

/** The id of the new run, which is begun. @throws {HeddleError} 400, 403, 404: nothing was stored. */
export async function rescore(
  dependencies: ExecutionDependencies,
  jobs: JobRunner,
  principal: Principal,
  body: RescoreBody,
): Promise<string> {
  const project = await existingProject(dependencies.database, principal, body.project_id)
  const source = await findRun(dependencies, project, body.source_evaluation_run_id)
  const scorers = await readScorers(dependencies, principal, body.scorer_refs)
  const markers = markersOf(source)
  const evaluation = textOr(markers.evaluation, null) ?? evaluationOf(source) ?? ""
  const model = textOr(markers.model, null) ?? stringAt(source.inputs, "model") ?? ""
  const refs = { evaluation, model, source_evaluation_run_id: source.id }
  const request: RescoreRequest = { scorerRefs: scorers.map(({ pinnedRef }) => pinnedRef), refs }
  const id = randomUUIDv7()
  await jobs.add("rescore", id, principal, project, request)
  await startStoredRun(dependencies, principal, project, id, refs)
  return id
}

const trialColumns = ["inputs", "output", "attributes"] as const

export function rescoreJob(dependencies: ExecutionDependencies): JobKind {
  return {
    run: async (context) => {
      const { principal, project, jobId, signal } = context
      const request = JSON.parse(context.request) as RescoreRequest
      const scorers = await readScorers(dependencies, principal, request.scorerRefs)
      const source = await findRun(dependencies, project, request.refs.source_evaluation_run_id)
      await ensureRun(dependencies, context, request.refs)
      const trials = await endedTrials(dependencies, project, source)
      await setExecutionJobTotal(dependencies.database, jobId, trials.length)
      for await (const ids of openTrials(dependencies, project, trials, (id) => derivedId(jobId, id))) {
        for await (const rows of readCallPieces(dependencies.traces, project.id, ids, trialColumns)) {
          const exceptions = await predictionExceptions(dependencies, project, rows)
          for await (const some of withExamples(dependencies, principal, rows)) {
            await forEachParallel(some, signal, ({ row, example }) => {
              const trial = { example, exception: exceptions.get(row.id) ?? null }
              return runTrial(dependencies, context, { request, scorers }, row, trial)
            })
          }
        }
      }
      const summary = await runSummary(dependencies, context)
      const names = scorers.map(({ name }) => name)
      await finishRun(dependencies, principal, project.name, jobId, summary, names)
    },
    fail: (context, reason) => failRun(dependencies, context, reason),
  }
}

/** Ids of the source's trials that ended, the oldest first. */
async function endedTrials(
  { traces }: ExecutionDependencies,
  project: ProjectAccess,
  source: CallRow,
): Promise<string[]> {
  const children = await findChildIds(traces, project.id, source)
  const trials: string[] = []
  for (const some of namedAtOnce(children)) {
    const rows = await readCallRows(traces, project.id, some, ["ended_at"])
    const ended = rows.filter((row) => isPredictAndScoreOp(row.op_name) && row.ended_at != null)
    trials.push(...ended.map(({ id }) => id))
  }
  return trials
}

/** By trial, why its prediction failed; only those of this API name their prediction. */
async function predictionExceptions(
  { traces }: ExecutionDependencies,
  project: ProjectAccess,
  trials: readonly CallRow[],
): Promise<Map<string, string>> {
  const trialOf = new Map(
    trials.flatMap((row) => {
      const prediction = textOr(markersOf(row).predict_call_id, null)
      return prediction === null ? [] : [[prediction, row.id] as const]
    }),
  )
  const rows = await readCallRows(traces, project.id, [...trialOf.keys()], ["exception"])
  return new Map(
    rows.flatMap(({ id, exception }) => (exception == null ? [] : [[trialOf.get(id) ?? "", exception] as const])),
  )
}

interface TrialExample {
  row: CallRow
  /** JSON text of the row of a dataset that the trial was made for. */
  example: string
}

/** The trials, in pieces, with the rows that they hold themselves, or name. */
async function* withExamples(
  dependencies: ExecutionDependencies,
  principal: Principal,
  trials: readonly CallRow[],
): AsyncGenerator<TrialExample[]> {
  const held: TrialExample[] = []
  const named: NamingTrial[] = []
  for (const row of trials) {
    const example = memberText(row.inputs ?? "{}", "example") ?? "{}"
    const ref = example.startsWith('"') ? tryParseRef(JSON.parse(example) as string) : null
    const digest = ref?.steps.findLast(({ edge }) => edge === "id")?.value
    if (ref !== null && digest !== undefined) named.push({ row, project: ref.project, digest })
    else held.push({ row, example: example.startsWith("{") ? example : "{}" })
  }
  yield held
  for (const [name, ofProject] of Map.groupBy(named, ({ project }) => project)) {
    yield* withNamedRows(dependencies, principal, name, ofProject)
  }
}

interface NamingTrial {
  row: CallRow
  project: string
  digest: string
}

async function* withNamedRows(
  { database, traces }: ExecutionDependencies,
  principal: Principal,
  projectName: string,
  trials: readonly NamingTrial[],
): AsyncGenerator<TrialExample[]> {
  const project = await projectOrNull(database, principal, projectName)
  if (project === null) return yield trials.map(({ row }) => ({ row, example: "{}" }))
  const byDigest = Map.groupBy(trials, ({ digest }) => digest)
  for await (const { digests, texts } of rowPieces(traces, project.id, [...byDigest.keys()])) {
    yield digests.flatMap((digest) =>
      (byDigest.get(digest) ?? []).map(({ row }) => ({ row, example: texts.get(digest) ?? "{}" })),
    )
  }
}

/** null: the project is gone or another team's, which is no reason to score nothing. */
async function projectOrNull(
  database: ExecutionDependencies["database"],
  principal: Principal,
  name: string,
): Promise<ProjectAccess | null> {
  try {
    return await existingProject(database, principal, name, "read")
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

interface Rescoring {
  request: RescoreRequest
  scorers: readonly Scorer[]
}

interface SourceTrial {
  /** JSON text of the row that it was made for. */
  example: string
  /** Why its prediction failed, which then is not scored. */
  exception: string | null
}

/** The prediction of the source, stored again below this run, so that the run is read like any other. */
async function runTrial(
  dependencies: ExecutionDependencies,
  context: JobContext,
  { request, scorers }: Rescoring,
  source: CallRow,
  { example, exception }: SourceTrial,
): Promise<void> {
  const { jobId, principal, project, signal } = context
  await requireRoom(dependencies.database, project)
  const { model } = request.refs
  const id = derivedId(jobId, source.id)
  const predictionId = derivedId(id, "predict")
  const now = new Date()
  const output = memberText(source.output ?? "{}", "output") ?? "null"
  const latency = memberText(source.output ?? "{}", "model_latency") ?? "null"
  const modelName = tryParseRef(model)?.name ?? "Model"
  const trial = {
    id,
    traceId: jobId,
    parentId: jobId,
    opName: await jobOpRef(dependencies, context, trialOp),
    startedAt: now,
    attributes: attributesOf({ predict_call_id: predictionId }),
    inputs: source.inputs ?? "{}",
  }
  const markers: RunMarkers = { prediction: "true", model, evaluation_run_id: jobId }
  const prediction = {
    id: predictionId,
    traceId: jobId,
    parentId: id,
    opName: await jobOpRef(dependencies, context, { owner: modelName, method: "predict", otherwise: "Model" }),
    startedAt: now,
    attributes: attributesOf(markers),
    inputs: `{"self":${JSON.stringify(model)},"inputs":${example}}`,
  }
  const ended = { id: predictionId, endedAt: now, output, summary: "{}", exception }
  await recordCalls(dependencies, principal, project.name, [{ start: trial }, { start: prediction, end: ended }])
  const target = { callId: predictionId, inputs: example, output, parent: { id, traceId: jobId }, attributes: "{}" }
  const { scores, summary } =
    exception === null
      ? await scoreTrial(dependencies, context, scorers, predictionId, target)
      : { scores: "{}", summary: JSON.stringify(statusCounts(0, 1)) }
  signal.throwIfAborted()
  const result = `{"output":${output},"scores":${scores},"model_latency":${latency}}`
  const end = { id, endedAt: new Date(), output: result, summary, exception: null }
  await recordCalls(dependencies, principal, project.name, [{ end }])
}
