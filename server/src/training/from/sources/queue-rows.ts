/** Calls of an annotation queue, with the labels that hold. */
import type { ProjectAccess } from "../../../access/project-access.ts"
import type { Principal } from "../../../http/principal.ts"
import { retentionDays } from "../../../storage/catalog/accounts/call-retention.ts"
import { printPayloads } from "../../../storage/traces/calls/print-payloads.ts"
import type { TrainingDependencies } from "../../dependencies.ts"
import type { RowExtra } from "../map-rows-task.ts"
import type { RowPlan } from "../row-plan.ts"
import { type AreaSources, type LabelledCall, type RowChunk, wholeLines } from "../row-source.ts"

export async function* queueRows(
  { database, traces }: Pick<TrainingDependencies, "database" | "traces">,
  queueLabels: AreaSources["queueLabels"],
  {
    principal,
    project,
    plan,
    queueId,
  }: { principal: Principal; project: ProjectAccess; plan: RowPlan; queueId: string },
): AsyncGenerator<RowChunk> {
  const kept = await retentionDays(database, project.id)
  for await (const labelled of queueLabels(principal, project, queueId)) {
    const wanted = labelled.map(({ callId }) => callId)
    const extras = Object.fromEntries(labelled.map((call) => [call.callId, extraOf(call)]))
    const request = { ids: wanted, fields: plan.fields, filter: {}, query: null, limit: null }
    const calls = { projectId: project.id, projectName: project.name, retentionDays: kept }
    const stream = await printPayloads(traces, { ...calls, ...request })
    yield* chunksOf(stream, extras, wanted)
  }
}

/** The last chunk says which lines there should have been. */
export async function* chunksOf(
  stream: AsyncIterable<Buffer>,
  extras: Record<string, RowExtra>,
  wanted: readonly string[],
): AsyncGenerator<RowChunk> {
  for await (const lines of wholeLines(stream)) yield { lines, extras, wanted: null }
  yield { lines: Buffer.alloc(0), extras: null, wanted }
}

function extraOf({ fields, disputed, feedbackIds, isUnlabelled }: LabelledCall): RowExtra {
  const drop = isUnlabelled ? ({ cause: "not_labelled", detail: "no annotator has completed it" } as const) : null
  return { fields, disputed, absent: {}, feedbackIds, rowDigest: null, drop }
}
