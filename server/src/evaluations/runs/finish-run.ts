/** Finishing an evaluation run: its output is the means of what its trials gave (evaluation-store-objects 7). */
import type { Principal } from "../../http/principal.ts"
import { readTrialScores } from "../../storage/traces/evaluations/trial-scores.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import { derivedId } from "../../calls/write/derived-id.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { ScoreStatistics } from "./score-statistics.ts"
import { recordCalls } from "../../calls/write/recorded-call.ts"
import { type ProjectAccess, existingProject } from "../../access/project-access.ts"
import { summarizeOp } from "./run-names.ts"
import { evaluationOf, findRun } from "./runs.ts"

/**
 * Again, it takes the means anew; the time at which it ended stays, and so does its summary without a new one.
 * @param summary JSON text of an object; null: none.
 * @param scorers names: those without any mean are told with null, as the Python SDK does.
 */
export async function finishRun(
  dependencies: CallDependencies,
  principal: Principal,
  projectName: string,
  id: string,
  summary: string | null,
  scorers: readonly string[] = [],
): Promise<void> {
  const project = await existingProject(dependencies.database, principal, projectName)
  const run = await findRun(dependencies, project, id)
  const unanswered = Object.fromEntries(scorers.map((name) => [name, null]))
  const output = JSON.stringify({ ...unanswered, ...(await meansOf(dependencies, project, run)) })
  const now = new Date()
  const endedAt = run.ended_at ?? now
  // The same for each finish of a run.
  const summarize = derivedId(summarizeOp, id)
  const start = {
    id: summarize,
    traceId: run.trace_id,
    parentId: id,
    opName: summarizeOp,
    startedAt: endedAt,
    attributes: "{}",
    inputs: JSON.stringify({ self: evaluationOf(run) }),
  }
  await recordCalls(dependencies, principal, project.name, [
    { start, end: { id: summarize, endedAt: now, output, summary: "{}", exception: null } },
    { end: { id, endedAt, output, summary: summary ?? run.summary ?? "{}", exception: run.exception ?? null } },
  ])
}

async function meansOf(
  { traces }: CallDependencies,
  project: ProjectAccess,
  run: CallRow,
): Promise<Record<string, unknown>> {
  const scope = { projectId: project.id, evaluationIds: [run.id], traceIds: [run.trace_id] }
  const statistics = new ScoreStatistics()
  const outputs = { count: 0, sum: 0 }
  for await (const trials of readTrialScores(traces, scope)) {
    for (const { scores, numeric_output } of trials) {
      if (scores?.startsWith("{") === true) statistics.add(JSON.parse(scores))
      if (numeric_output === null) continue
      outputs.count++
      outputs.sum += numeric_output
    }
  }
  return { ...statistics.means(), ...(outputs.count === 0 ? {} : { output: { mean: outputs.sum / outputs.count } }) }
}
