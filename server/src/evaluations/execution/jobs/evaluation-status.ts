/** `/evaluations/status`: evaluation-store-calls 9. Also of evaluations that an SDK runs. */
import { HeddleError, isRefusal } from "../../../errors.ts"
import type { Principal } from "../../../http/principal.ts"
import { parseExact } from "../../../json/exact-json.ts"
import { isJsonObject } from "../../../json/parsed-json.ts"
import { findExecutionJob } from "../../../storage/catalog/evaluations/execution-jobs.ts"
import type { ExecutionJobKind } from "../../../storage/catalog/evaluations/execution-jobs-schema.ts"
import { tableCounts } from "../../../storage/traces/table-rows.ts"
import type { EvaluationStatus, EvaluationStatusBody } from "../../../wire/evaluations/execution.ts"
import type { CallRow } from "../../../storage/traces/calls/call-row-reads.ts"
import { failuresOf, findCall } from "../../runs/run-calls.ts"
import { evaluationOf, isRun } from "../../runs/runs.ts"
import { queryCallStats } from "../../../calls/read/call-query.ts"
import { type ProjectAccess, existingProject } from "../../../access/project-access.ts"
import { tryParseRef } from "../../../objects/refs/refs.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { trialCount } from "../evaluation.ts"
import { type PublishedObject, readPublished } from "../published-object.ts"

/** Jobs whose id is that of the call of a run. */
const runKinds: ReadonlySet<ExecutionJobKind> = new Set(["evaluate_model", "rescore"])

/** @throws {HeddleError} 400 for a call that is no evaluation, 403. */
export async function evaluationStatusOf(
  dependencies: ExecutionDependencies,
  principal: Principal,
  body: EvaluationStatusBody,
): Promise<EvaluationStatus["status"]> {
  const project = await existingProject(dependencies.database, principal, body.project_id)
  const call = await findCall(dependencies, project, body.call_id)
  if (call === null) return statusBeforeRun(dependencies, project, body.call_id)
  if (!isRun(call)) throw new HeddleError("invalid_request", `the call ${body.call_id} is not an evaluation`)
  if (call.exception != null) return { code: "failed", error: call.exception }
  if (call.ended_at != null) {
    const output = parseExact(call.output ?? "null")
    const failures = failuresOf(call)
    return {
      code: "complete",
      output: isJsonObject(output) ? output : {},
      ...(failures === null ? {} : { failures }),
    }
  }
  const job = await findExecutionJob(dependencies.database, project.id, call.id)
  if (job?.status === "failed") return { code: "failed", error: job.error }
  const completed_rows = await endedTrials(dependencies, principal, project, call.id)
  const total = job?.totalItems ?? (await totalTrials(dependencies, principal, call))
  return { code: "running", completed_rows, total_rows: Math.max(total, completed_rows) }
}

/** Of an evaluation that is stored and whose run could not begin yet. */
async function statusBeforeRun(
  { database }: ExecutionDependencies,
  project: ProjectAccess,
  id: string,
): Promise<EvaluationStatus["status"]> {
  const job = await findExecutionJob(database, project.id, id)
  if (job === null || !runKinds.has(job.kind) || job.status === "done") return { code: "not_found" }
  if (job.status === "failed") return { code: "failed", error: job.error }
  return { code: "running", completed_rows: 0, total_rows: job.totalItems ?? 0 }
}

async function endedTrials(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  id: string,
): Promise<number> {
  const isRunning = { $eq: [{ $getField: "summary.weave.status" }, { $literal: "running" }] as [object, object] }
  const query = { $expr: { $not: [isRunning] } } as never
  const filter = { parent_ids: [id] }
  return (await queryCallStats(dependencies, principal, project, { project_id: project.name, filter, query })).count
}

/** 0: it cannot be told. */
async function totalTrials(dependencies: ExecutionDependencies, principal: Principal, call: CallRow): Promise<number> {
  try {
    return await rowsOf(dependencies, principal, evaluationOf(call) ?? "")
  } catch (error) {
    if (isRefusal(error)) return 0
    throw error
  }
}

async function rowsOf(
  { database, traces }: ExecutionDependencies,
  principal: Principal,
  evaluationRef: string,
): Promise<number> {
  const evaluation = await readPublished(database, principal, evaluationRef)
  const dataset = await readPublished(database, principal, textAt(evaluation, "dataset"))
  const table = tryParseRef(textAt(dataset, "rows"))
  if (table?.kind !== "table") return 0
  const rows = (await tableCounts(traces, dataset.project.id, [table.name])).get(table.name) ?? 0
  return rows * (trialCount(evaluation) ?? 1)
}

function textAt({ value }: PublishedObject, name: string): string {
  const text = value[name]
  return typeof text === "string" ? text : ""
}
