/** Makes finished calls with few fields, for tests of figures that are computed over calls. */
import { must } from "./answers.ts"
import type { EvaluationCaller } from "./evaluation-app.ts"

export const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`

export interface CallFields {
  id: number
  parent?: number
  trace?: number
  usage?: unknown
  /** Status counts in the summary, besides the usage. */
  statusCounts?: { success: number; error: number }
  startedAt?: string
  endedAt?: string
  exception?: string
  opName?: string
}

export function completedCall(project: string, call: CallFields) {
  return {
    project_id: project,
    id: uuid(call.id),
    trace_id: uuid(call.trace ?? 0),
    parent_id: call.parent === undefined ? null : uuid(call.parent),
    op_name: call.opName ?? "op",
    started_at: call.startedAt ?? "2026-03-01T00:00:00Z",
    ended_at: call.endedAt ?? "2026-03-01T00:00:01Z",
    attributes: {},
    inputs: {},
    summary: {
      ...(call.usage === undefined ? {} : { usage: call.usage }),
      ...(call.statusCounts === undefined ? {} : { status_counts: call.statusCounts }),
    },
    exception: call.exception ?? null,
  }
}

export async function writeCalls(
  caller: EvaluationCaller,
  project: string,
  calls: readonly CallFields[],
): Promise<void> {
  const batch = calls.map((call) => completedCall(project, call))
  await must(caller.post(`/v2/${project}/calls/complete`, { batch }))
}
