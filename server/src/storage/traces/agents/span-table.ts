/**
 * Spans of agents: evaluation-store-calls 10. A span that comes again takes the place of the first one
 * (`final`), so that an exporter may repeat itself.
 */
import type { QueryLimits, TraceParameters, TraceStore } from "../store/trace-store.ts"
import { storedJson } from "../stored-json.ts"
import { columnOf, type SpanColumnKind, type SpanColumnName, spanColumnNames } from "./span-columns.ts"

const types: Record<SpanColumnKind, string> = {
  text: "String codec(ZSTD)",
  word: "LowCardinality(String)",
  time: "Nullable(DateTime64(6, 'UTC')) codec(Delta, ZSTD)",
  count: "Int64",
  integer: "Nullable(Int64)",
  number: "Nullable(Float64)",
  list: "Array(String) codec(ZSTD)",
  messages: "Array(Tuple(role String, content String, finish_reason String)) codec(ZSTD)",
  text_map: "Map(String, String) codec(ZSTD)",
  integer_map: "Map(String, Int64) codec(ZSTD)",
  number_map: "Map(String, Float64) codec(ZSTD)",
  bool_map: "Map(String, Bool) codec(ZSTD)",
}

/** A span always has a start; ClickHouse orders by it and skips by it. */
const started = "DateTime64(6, 'UTC') codec(Delta, ZSTD)"

const columns = spanColumnNames.map((name) => `${name} ${name === "started_at" ? started : types[columnOf(name).kind]}`)

export const agentSpanTables = [
  `create table if not exists agent_spans (
    project_id UUID,
    ${columns.join(",\n    ")},
    version DateTime64(9, 'UTC') default now64(9),
    index started_at started_at type minmax granularity 1,
    index conversations conversation_id type bloom_filter granularity 1
  ) engine = ReplacingMergeTree(version) order by (project_id, trace_id, span_id)
  settings index_granularity = 1024`,
]

/** For what reads messages and raw spans, which are as large as clients make them. */
export const largeSpanLimits: QueryLimits = { resultBytes: 128 * 1024 ** 2 }

export interface SpanMessage {
  role: string
  /** Text, or the JSON of a list of parts. */
  content: string
  finish_reason: string
}

/** As it is written; what is left out was not said. Times are `YYYY-MM-DD hh:mm:ss.ffffff`, UTC. */
export interface NewAgentSpan extends Partial<Record<SpanColumnName, unknown>> {
  project_id: string
  trace_id: string
  span_id: string
  span_name: string
  started_at: string
  input_messages?: SpanMessage[]
  output_messages?: SpanMessage[]
}

/** As OpenTelemetry writes the id of a span: no call with another one is a span of an agent. */
const spanId = /^[0-9a-f]{16}$/

/** Removes the spans of calls that are deleted. */
export async function deleteAgentSpans(
  traces: TraceStore,
  projectId: string,
  callIds: readonly string[],
): Promise<void> {
  const spanIds = callIds.filter((id) => spanId.test(id))
  if (spanIds.length === 0) return
  const condition = "project_id = {projectId:UUID} and span_id in {spanIds:Array(String)}"
  await deleteAgentSpansWhere(traces, condition, { projectId, spanIds })
}

/**
 * Removes the spans for which the condition holds. Most calls are no spans of agents: a mutation, which reads parts of the
 * table, runs only when there is something to remove.
 */
export async function deleteAgentSpansWhere(
  traces: TraceStore,
  condition: string,
  parameters: TraceParameters,
): Promise<void> {
  const found = await traces.rows(`select 1 from agent_spans where ${condition} limit 1`, parameters)
  if (found.length > 0) await traces.command(`delete from agent_spans where ${condition}`, parameters)
}

/** Gives back the disk that removed spans take, which until then are masked. Returns whether there were any. */
export async function removeMaskedSpans(traces: TraceStore): Promise<boolean> {
  const masked = await traces.rows(
    `select 1 from system.parts
      where database = currentDatabase() and table = 'agent_spans' and active and has_lightweight_delete limit 1`,
  )
  if (masked.length === 0) return false
  await traces.command("alter table agent_spans apply deleted mask settings mutations_sync = 2", {}, true)
  return true
}

/** A line of the table. */
export function agentSpanLine(span: NewAgentSpan): string {
  return `${storedJson(span)}\n`
}
