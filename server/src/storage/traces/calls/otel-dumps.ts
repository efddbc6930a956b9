/** The raw spans of calls that came through OpenTelemetry. */
import type { TraceStore } from "../store/trace-store.ts"

export interface OtelDump {
  /** Of the call. */
  id: string
  /** JSON text. */
  text: string
}

/** Those of the calls whose ids come after `after`, by id. */
export async function readOtelDumps(
  traces: TraceStore,
  projectId: string,
  after: string,
  limit: number,
): Promise<OtelDump[]> {
  return traces.rows<OtelDump>(
    `select id, substring(otel_dump, 2, length(otel_dump) - 2) as text from calls final
      where project_id = {projectId:UUID} and id > {after:String} and isNotNull(otel_dump)
        and isNotNull(started_at) and isNull(deleted_at)
      order by id limit {limit:UInt32}`,
    { projectId, after, limit },
  )
}
