/** What spans do, for the usage of the calls that are the same spans: evaluation-store-calls 4.1. */
import { kindOf, type TraceStore } from "../store/trace-store.ts"
import { answers } from "./counted-usage.ts"

/** By the id of a span; only operations that tell what a report holds are there: those of tools and of requests. */
export type OperationOfSpan = ReadonlyMap<string, string>

/** As OpenTelemetry writes it: no other trace has spans. */
const traceId = /^[0-9a-f]{32}$/

/** What a statement names takes memory. */
const tracesAtOnce = 10_000

/** Of the spans in the traces of these calls. */
export async function operationsIn(
  traces: TraceStore,
  projectId: string,
  calls: readonly { trace_id: string }[],
): Promise<OperationOfSpan> {
  const ids = [...new Set(calls.map((call) => call.trace_id))].filter((id) => traceId.test(id))
  const operations = new Map<string, string>()
  for (let from = 0; from < ids.length; from += tracesAtOnce) {
    const traceIds = ids.slice(from, from + tracesAtOnce)
    const rows = await traces.rows<{ span_id: string; operation_name: string }>(
      `select span_id, operation_name from agent_spans final
        where project_id = {projectId:UUID} and trace_id in {traceIds:Array(String)}
          and operation_name in {operations:Array(String)}`,
      { projectId, traceIds, operations: ["execute_tool", ...answers] },
      { kind: kindOf(traceIds) },
    )
    for (const { span_id, operation_name } of rows) operations.set(span_id, operation_name)
  }
  return operations
}
