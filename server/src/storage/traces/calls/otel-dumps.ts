/** The raw spans of calls that came through OpenTelemetry. */
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { hasKey } from "./insert/call-keys.ts"
import { type CallKey, callKey, type StoredKey } from "./insert/call-places.ts"
import { callsFinal, liveCall } from "./calls-tables.ts"

export interface OtelDump extends CallKey {
  /** JSON text. */
  text: string
}

const mostAtOnce = 1_000

/** The next of the calls behind `after`, as they are stored: as many as hold `bytes` together, and one at least. */
export async function readOtelDumps(
  traces: TraceStore,
  projectId: string,
  after: CallKey | null,
  bytes: number,
): Promise<OtelDump[]> {
  // ClickHouse finds the place of this in the primary key, but not that of `(sort_time, id) > (…, …)`.
  const beyond =
    after === null ? "true" : "sort_time >= {sort_time:Int64} and (sort_time > {sort_time:Int64} or id > {id:String})"
  const found = await traces.rows<StoredKey & { bytes: number }>(
    `select id, sort_time, toFloat64(length(otel_dump)) as bytes from ${callsFinal}
      where project_id = {projectId:UUID} and ${beyond} and isNotNull(otel_dump)
        and ${liveCall}
      order by sort_time, id limit {limit:UInt32}`,
    { projectId, ...after, limit: mostAtOnce },
  )
  const next = found.map((row) => ({ ...callKey(row), bytes: row.bytes }))
  let total = 0
  const fitting = next.filter((row, index) => (total += row.bytes) <= bytes || index === 0)
  if (fitting.length === 0) return []
  const parameters = new SqlParameters()
  const rows = await traces.rows<{ id: string; text: string }>(
    `select id, substring(otel_dump, 2, length(otel_dump) - 2) as text from ${callsFinal}
      where project_id = {projectId:UUID} and ${hasKey(parameters, fitting)} and isNotNull(otel_dump)`,
    { ...parameters.values, projectId },
  )
  const texts = new Map(rows.map(({ id, text }) => [id, text]))
  return fitting.flatMap(({ id, sort_time }) => {
    const text = texts.get(id)
    return text === undefined ? [] : [{ id, sort_time, text }]
  })
}
