/** Names and start times of agents' spans. */
import type { TraceStore } from "../store/trace-store.ts"

export interface SpanName {
  trace_id: string
  span_id: string
  span_name: string
  /** ISO 8601 in UTC, to the microsecond. */
  started_at: string
}

/** Also spans of one of these ids in another of these traces. */
export async function findSpanNames(
  traces: TraceStore,
  projectId: string,
  spans: readonly { trace_id: string; span_id: string }[],
): Promise<SpanName[]> {
  if (spans.length === 0) return []
  const rows = await traces.rows<SpanName>(
    `select trace_id, span_id, span_name, started_at from agent_spans final
      where project_id = {projectId:UUID} and trace_id in {traceIds:Array(String)} and span_id in {spanIds:Array(String)}`,
    { projectId, traceIds: spans.map((span) => span.trace_id), spanIds: spans.map((span) => span.span_id) },
  )
  return rows.map((row) => ({ ...row, started_at: `${row.started_at.replace(" ", "T")}Z` }))
}
