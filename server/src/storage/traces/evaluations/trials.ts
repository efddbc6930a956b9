/**
 * Trials: the calls that predict and score one row of an evaluation, right below its root call
 * (evaluation-store-objects 7, `eval_results/query`). SQL over narrow parts of them; the payloads of a
 * page are read by id.
 */
import { isCandidate, traceCandidates } from "../calls/insert/call-places.ts"
import { callsFinal, hasOddJson, liveCall } from "../calls/calls-tables.ts"
import { jsonValue } from "../query/json-value.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

export interface TrialScope {
  projectId: string
  /** Root calls, and the traces they are in. */
  evaluationIds: readonly string[]
  traceIds: readonly string[]
}

/** Ops of Python and of npm. */
const trialOps = ["predict_and_score", "predictAndScore"]

/** The name of a trial's op. */
export function isTrialOp(opName: string): boolean {
  return trialOps.some((op) => opName.includes(op))
}

/** SQL: the calls of these traces, by id. */
export function inTraces({ projectId, traceIds }: TrialScope, parameters: SqlParameters): string {
  const project = parameters.bind(projectId, "UUID")
  const traces = parameters.bind(traceIds, "Array(String)")
  const candidates = traceCandidates(parameters, projectId, traceIds)
  return `project_id = ${project} and ${liveCall} and ${isCandidate(candidates)} and trace_id in ${traces}`
}

/** SQL: which calls are trials. */
export function isTrial(scope: TrialScope, parameters: SqlParameters): string {
  const evaluations = parameters.bind(scope.evaluationIds, "Array(String)")
  const ops = parameters.bind(trialOps, "Array(String)")
  return `${inTraces(scope, parameters)} and parent_id in ${evaluations} and multiSearchAny(assumeNotNull(op_name), ${ops})`
}

/** In the ref of a dataset's row ahead of its digest. */
export const datasetRowStep = "/attr/rows/id/"

/** Names of the projects, `entity/project`, whose datasets trials are about. A client may have written any. */
export async function findDatasetProjects(traces: TraceStore, scope: TrialScope, limit: number): Promise<string[]> {
  const parameters = new SqlParameters()
  const example = jsonValue("inputs", ["example"], parameters, hasOddJson).as("text")
  const pattern = parameters.bind(`^weave:///([^/]+/[^/]+)/.+${datasetRowStep}`, "String")
  const rows = await traces.rows<{ project: string }>(
    `select distinct extract(ifNull(${example}, ''), ${pattern}) as project
      from ${callsFinal} where ${isTrial(scope, parameters)} and project != '' limit ${parameters.bind(limit, "UInt64")}`,
    parameters.values,
  )
  return rows.map(({ project }) => project)
}

/**
 * SQL: names the row that a trial is about: a dataset's row by its digest, what was given inline by
 * the digest of its text, in the form of `contentDigest`.
 */
export function rowDigestSql(parameters: SqlParameters): string {
  const example = `ifNull(${jsonValue("inputs", ["example"], parameters, hasOddJson).as("text")}, 'null')`
  const ofRef = `extract(example, ${parameters.bind(`^weave:///.+${datasetRowStep}([^/]+)$`, "String")})`
  const ofText = "substring(translate(base64Encode(SHA256(example)), '+/', 'XY'), 1, 43)"
  const digest = `if(startsWith(example, 'weave:///') and ${ofRef} != '', ${ofRef}, ${ofText})`
  // As the parameter of a lambda the text is extracted once.
  return `arrayMap(example -> ${digest}, [${example}])[1]`
}

/** SQL: the trial's row is one that every evaluation of the scope has. */
export function rowsInAll(scope: TrialScope, parameters: SqlParameters): string {
  const digest = rowDigestSql(parameters)
  return `${digest} in (
    select ${digest} as row_digest from ${callsFinal} where ${isTrial(scope, parameters)}
    group by row_digest having uniqExact(parent_id) = ${scope.evaluationIds.length}
  )`
}
