/** `/evaluations/evaluate_model`: a model over the dataset of an evaluation, each prediction scored (evaluation-store-calls 9). */
import { randomUUIDv7 } from "node:crypto"
import type { Principal } from "../../../http/principal.ts"
import { parseExact } from "../../../json/exact-json.ts"
import { isJsonObject } from "../../../json/parsed-json.ts"
import { setExecutionJobTotal } from "../../../storage/catalog/evaluations/execution-jobs.ts"
import { rowPieces } from "../../../storage/traces/table-rows.ts"
import type { EvaluateModelBody } from "../../../wire/evaluations/execution.ts"
import { derivedId } from "../../../calls/write/derived-id.ts"
import { recordCalls, usageSummary } from "../../../calls/write/recorded-call.ts"
import { finishRun } from "../../runs/finish-run.ts"
import type { RunMarkers } from "../../runs/run-names.ts"
import { ensureProject, requireRoom } from "../../../access/project-access.ts"
import { failureText } from "../../../gateway/providers/model-failure.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { type Evaluation, readEvaluation, rowRef } from "../evaluation.ts"
import { endedCall, outputOf } from "./scored-call.ts"
import { naming, predict, readStructuredModel, type StructuredModel } from "../structured-model.ts"
import { attributesOf, ensureRun, failRun, openTrials, scoreTrial, startStoredRun, trialOp } from "./evaluation-run.ts"
import type { JobContext, JobKind, JobRunner } from "./job-runner.ts"
import { jobOpRef } from "./op-refs.ts"
import { forEachParallel } from "./parallel.ts"
import { retryTransient } from "./retry-transient.ts"
import { runSummary, statusCounts } from "./run-failures.ts"

interface EvaluateModelRequest {
  /** Pinned. */
  evaluation: string
  model: string
}

/** The id of the evaluation's call, which is begun. @throws {HeddleError} 400, 403, 404: nothing was stored. */
export async function evaluateModel(
  dependencies: ExecutionDependencies,
  jobs: JobRunner,
  principal: Principal,
  body: EvaluateModelBody,
): Promise<string> {
  const project = await ensureProject(dependencies.database, principal, body.project_id)
  const evaluation = await readEvaluation(dependencies, principal, body.evaluation_ref)
  const { object } = await naming(body.model_ref, () => readStructuredModel(dependencies, principal, body.model_ref))
  const request: EvaluateModelRequest = { evaluation: evaluation.pinnedRef, model: object.ref }
  const id = randomUUIDv7()
  await jobs.add("evaluate_model", id, principal, project, request)
  await startStoredRun(dependencies, principal, project, id, request)
  return id
}

interface Run {
  evaluation: Evaluation
  modelRef: string
  modelName: string
  model: StructuredModel
}

interface Trial {
  /** Id of the `predict_and_score` call. */
  id: string
  rowDigest: string
}

export function evaluateModelJob(dependencies: ExecutionDependencies): JobKind {
  return {
    run: async (context) => {
      const { principal, project, jobId, signal } = context
      const request = JSON.parse(context.request) as EvaluateModelRequest
      const evaluation = await readEvaluation(dependencies, principal, request.evaluation)
      const { object, model } = await readStructuredModel(dependencies, principal, request.model)
      const run: Run = { evaluation, modelRef: object.ref, modelName: object.name, model }
      const trials = trialsOf(jobId, evaluation)
      await ensureRun(dependencies, context, request)
      await setExecutionJobTotal(dependencies.database, jobId, trials.length)
      for await (const left of openTrials(dependencies, project, trials, ({ id }) => id)) {
        const ofRows = Map.groupBy(left, ({ rowDigest }) => rowDigest)
        const pieces = rowPieces(dependencies.traces, evaluation.dataset.project.id, [...ofRows.keys()])
        for await (const { digests, texts } of pieces) {
          const some = digests.flatMap((digest) => ofRows.get(digest) ?? [])
          await forEachParallel(some, signal, (trial) =>
            runTrial(dependencies, context, run, trial, texts.get(trial.rowDigest) ?? "{}"),
          )
        }
      }
      const summary = await runSummary(dependencies, context)
      const scorers = evaluation.scorers.map(({ name }) => name)
      await finishRun(dependencies, principal, project.name, jobId, summary, scorers)
    },
    fail: (context, reason) => failRun(dependencies, context, reason),
  }
}

function trialsOf(jobId: string, { dataset, trials }: Evaluation): Trial[] {
  return Array.from({ length: trials }, (_, trial) =>
    dataset.rowDigests.map((rowDigest, index) => ({
      id: derivedId(jobId, "trial", String(trial), String(index)),
      rowDigest,
    })),
  ).flat()
}

/** A model that fails leaves a trial without output and scores, as in the SDK. */
async function runTrial(
  dependencies: ExecutionDependencies,
  context: JobContext,
  run: Run,
  trial: Trial,
  row: string,
): Promise<void> {
  const { jobId, principal, project, signal } = context
  await requireRoom(dependencies.database, project)
  const predictionId = derivedId(trial.id, "predict")
  const startedAt = new Date()
  const markers: RunMarkers = { predict_call_id: predictionId }
  const start = {
    id: trial.id,
    traceId: jobId,
    parentId: jobId,
    opName: await jobOpRef(dependencies, context, trialOp),
    startedAt,
    attributes: attributesOf(markers),
    inputs: JSON.stringify({
      self: run.evaluation.pinnedRef,
      model: run.modelRef,
      example: rowRef(run.evaluation.dataset, trial.rowDigest),
    }),
  }
  await recordCalls(dependencies, principal, project.name, [{ start }])
  const output = await predictRow(dependencies, context, run, { id: predictionId, trialId: trial.id, row })
  const latency = (Date.now() - startedAt.getTime()) / 1000
  const target = {
    callId: predictionId,
    inputs: row,
    output: output ?? "null",
    parent: { id: trial.id, traceId: jobId },
    attributes: "{}",
  }
  const { scores, summary } =
    output === null
      ? { scores: "{}", summary: JSON.stringify(statusCounts(0, 1)) }
      : await scoreTrial(dependencies, context, run.evaluation.scorers, predictionId, target)
  signal.throwIfAborted()
  const result = `{"output":${output ?? "null"},"scores":${scores},"model_latency":${latency}}`
  const end = { id: trial.id, endedAt: new Date(), output: result, summary, exception: null }
  await recordCalls(dependencies, principal, project.name, [{ end }])
}

/** The output as JSON text; null: the model failed. */
async function predictRow(
  dependencies: ExecutionDependencies,
  context: JobContext,
  { model, modelRef, modelName }: Run,
  { id, trialId, row }: { id: string; trialId: string; row: string },
): Promise<string | null> {
  const { jobId, principal, project, signal } = context
  const before = await endedCall(dependencies, project, id)
  if (before !== null) return outputOf(before)
  const startedAt = new Date()
  const values = parseExact(row)
  const variables = isJsonObject(values) ? values : {}
  const predictionInput = { requestId: id, messages: userInput(variables["user_input"]), variables }
  const result = await retryTransient(context, () =>
    predict(dependencies, principal, project, model, predictionInput, signal),
  ).then(
    (prediction) => ({ ...prediction, exception: null }),
    (error: unknown) => ({ output: null, usage: null, usageModel: "", exception: failureText(error) }),
  )
  signal.throwIfAborted()
  const markers: RunMarkers = { prediction: "true", model: modelRef, evaluation_run_id: jobId }
  const start = {
    id,
    traceId: jobId,
    parentId: trialId,
    opName: await jobOpRef(dependencies, context, { owner: modelName, method: "predict", otherwise: "Model" }),
    startedAt,
    attributes: attributesOf(markers),
    inputs: `{"self":${JSON.stringify(modelRef)},"inputs":${row}}`,
  }
  const summary = usageSummary(result.usageModel, result.usage)
  const end = { id, endedAt: new Date(), output: result.output ?? "null", summary, exception: result.exception }
  await recordCalls(dependencies, principal, project.name, [{ start, end }])
  return result.output
}

/** The column that the model takes for messages: a text, one message or a list of them. */
function userInput(value: unknown): unknown[] {
  const list = value == null ? [] : Array.isArray(value) ? (value as unknown[]) : [value]
  return list.map((one) => (typeof one === "string" ? { role: "user", content: one } : one))
}
