/** The raw spans of calls that came through OpenTelemetry. */
import type { TraceStore } from "../store/trace-store.ts"

export interface OtelDump {
  /** Of the call. */
  id: string
  /** JSON text. */
  text: string
}

const mostAtOnce = 1_000

/** The next of the calls whose ids come after `after`, by id: as many as hold `bytes` together, and one at least. */
export async function readOtelDumps(
  traces: TraceStore,
  projectId: string,
  after: string,
  bytes: number,
): Promise<OtelDump[]> {
  const next = await traces.rows<{ id: string; bytes: number }>(
    `select id, toFloat64(length(otel_dump)) as bytes from calls final
      where project_id = {projectId:UUID} and id > {after:String} and isNotNull(otel_dump)
        and isNotNull(started_at) and isNull(deleted_at)
      order by id limit {limit:UInt32}`,
    { projectId, after, limit: mostAtOnce },
  )
  let total = 0
  const fitting = next.filter((row, index) => (total += row.bytes) <= bytes || index === 0)
  if (fitting.length === 0) return []
  return traces.rows<OtelDump>(
    `select id, substring(otel_dump, 2, length(otel_dump) - 2) as text from calls final
      where project_id = {projectId:UUID} and id in {ids:Array(String)} and isNotNull(otel_dump) order by id`,
    { projectId, ids: fitting.map(({ id }) => id) },
  )
}
