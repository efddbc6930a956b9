/** `/calls/score`: scorers over calls, in the background (evaluation-store-calls 9). */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../../errors.ts"
import type { Principal } from "../../../http/principal.ts"
import { readCallPieces, readCallRows } from "../../../storage/traces/calls/call-row-reads.ts"
import type { ScoreCallsBody } from "../../../wire/evaluations/execution.ts"
import { type ProjectAccess, existingProject, requireRoom } from "../../../access/project-access.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { applyScorer } from "./scored-call.ts"
import { readScorers } from "../scorer.ts"
import type { JobContext, JobKind, JobRunner } from "./job-runner.ts"
import { forEachParallel } from "./parallel.ts"

interface ScoreCallsRequest {
  callIds: string[]
  scorerRefs: string[]
}

const callsAtOnce = 64

/** Stored when it resolves. @throws {HeddleError} 400, 403, 404: nothing was stored. */
export async function scoreCalls(
  dependencies: ExecutionDependencies,
  jobs: JobRunner,
  principal: Principal,
  body: ScoreCallsBody,
): Promise<void> {
  const project = await existingProject(dependencies.database, principal, body.project_id)
  const scorers = await readScorers(dependencies, principal, body.scorer_refs)
  const callIds = [...new Set(body.call_ids)]
  await requireCalls(dependencies, project, callIds)
  if (callIds.length === 0 || scorers.length === 0) return
  // The versions that the refs mean now, whatever is published before they are run.
  const request: ScoreCallsRequest = { callIds, scorerRefs: scorers.map(({ pinnedRef }) => pinnedRef) }
  await jobs.add("score_calls", randomUUIDv7(), principal, project, request)
}

export async function requireCalls(
  { traces }: ExecutionDependencies,
  project: ProjectAccess,
  ids: readonly string[],
): Promise<void> {
  const found = new Set((await readCallRows(traces, project.id, ids, [])).map(({ id }) => id))
  const missing = ids.filter((id) => !found.has(id))
  if (missing.length === 0) return
  const firstMissing = missing.slice(0, 10).join(", ")
  throw new HeddleError(
    "not_found",
    `${missing.length} of ${ids.length} calls not found: ${firstMissing}${missing.length > 10 ? ", …" : ""}`,
  )
}

export function scoreCallsJob(dependencies: ExecutionDependencies): JobKind {
  return {
    run: async (context: JobContext) => {
      const { callIds, scorerRefs } = JSON.parse(context.request) as ScoreCallsRequest
      const { principal, project, signal } = context
      const scorers = await readScorers(dependencies, principal, scorerRefs)
      for (let from = 0; from < callIds.length; from += callsAtOnce) {
        const ids = callIds.slice(from, from + callsAtOnce)
        for await (const rows of readCallPieces(dependencies.traces, project.id, ids, ["inputs", "output"])) {
          const items = rows.flatMap((row) => scorers.map((scorer) => ({ row, scorer })))
          await forEachParallel(items, signal, async ({ row, scorer }) => {
            await requireRoom(dependencies.database, project)
            const target = {
              callId: row.id,
              inputs: row.inputs ?? "{}",
              output: row.output ?? "null",
              parent: null,
              attributes: "{}",
            }
            await applyScorer(dependencies, context, scorer, target)
          })
        }
      }
    },
  }
}
