/** Conversations and their turns: evaluation-store-calls 10. One trace is one turn. */
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { validDurationSql } from "./span-fields.ts"
import type { StoredSpan } from "./span-list.ts"
import { type PriceStep, type SpanSource, spanSource } from "./span-source.ts"
import { largeSpanLimits, type SpanMessage } from "./span-table.ts"

/** Columns that a chat is built from. */
const chatColumns = [
  "trace_id",
  "span_id",
  "parent_span_id",
  "span_name",
  "started_at",
  "ended_at",
  "status_code",
  "status_message",
  "error_type",
  "operation_name",
  "provider_name",
  "agent_name",
  "agent_id",
  "agent_version",
  "request_model",
  "response_model",
  "input_tokens",
  "output_tokens",
  "reasoning_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "reasoning_content",
  "conversation_id",
  "tool_name",
  "tool_call_id",
  "tool_definitions",
  "tool_call_arguments",
  "tool_call_result",
  "input_messages",
  "output_messages",
  "system_instructions",
  "compaction_summary",
  "compaction_items_before",
  "compaction_items_after",
  "content_refs",
  "wb_user_id",
  "input_cost_usd",
  "output_cost_usd",
  "total_cost_usd",
  "is_counted",
]

/** Most spans of which one answer is made. */
export const mostChatSpans = 20_000

export interface ChatScope {
  projectId: string
  traceIds: readonly string[]
  /** Spans of another conversation are left out; null: of whichever. */
  conversationId: string | null
}

/** The spans of these traces, the first {@link mostChatSpans} of them. */
export async function chatSpans(
  traces: TraceStore,
  scope: ChatScope,
  prices: readonly PriceStep[],
): Promise<StoredSpan[]> {
  const { from, parameters } = chatSource(scope, { counted: true, prices })
  return traces.rows<StoredSpan>(
    `select ${chatColumns.join(", ")} from ${from} order by started_at, span_id limit ${mostChatSpans}`,
    parameters.values,
    largeSpanLimits,
  )
}

/** How many spans each of these traces has. */
export async function countChatSpans(traces: TraceStore, scope: ChatScope): Promise<Map<string, number>> {
  if (scope.traceIds.length === 0) return new Map()
  const { from, parameters } = chatSource(scope, { prices: null })
  const rows = await traces.rows<{ trace_id: string; n: string }>(
    `select trace_id, count() as n from ${from} group by trace_id`,
    parameters.values,
  )
  return new Map(rows.map(({ trace_id, n }) => [trace_id, Number(n)]))
}

function chatSource(
  { projectId, traceIds, conversationId }: ChatScope,
  wanted: Pick<SpanSource, "counted" | "prices">,
) {
  const parameters = new SqlParameters()
  const scope = { projectId, parameters, after: null, before: null, traceIds }
  const source = spanSource(scope, { identity: false, ...wanted })
  const ofConversation =
    conversationId === null ? "true" : `conversation_id in ('', ${parameters.bind(conversationId, "String")})`
  return { from: `${source} where ${ofConversation}`, parameters }
}

/** The traces of a conversation, the last one first, and how many there are. */
export async function conversationTurns(
  traces: TraceStore,
  projectId: string,
  conversationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ traceIds: string[]; total: number }> {
  const turns = `select trace_id, min(started_at) as began from agent_spans final
    where project_id = {projectId:UUID} and conversation_id = {conversationId:String} group by trace_id`
  const parameters = { projectId, conversationId, limit, offset }
  const page = await traces.rows<{ trace_id: string }>(
    `select trace_id from (${turns}) order by began desc, trace_id desc limit {limit:UInt64} offset {offset:UInt64}`,
    parameters,
  )
  const [count] = await traces.rows<{ n: string }>(`select count() as n from (${turns})`, parameters)
  return { traceIds: page.map((row) => row.trace_id), total: Number(count?.n ?? 0) }
}

export interface ConversationSpan {
  conversation_id: string
  operation_name: string
  trace_id: string
  span_id: string
  status: "UNSET" | "OK" | "ERROR"
  duration_ms: number
}

/** Limit on the spans of one conversation in one answer; the last ones are kept. */
const mostSpans = 1000

interface Window {
  after: bigint | null
  before: bigint | null
}

/** In the order in which they began. */
export async function conversationSpans(
  traces: TraceStore,
  projectId: string,
  conversationIds: readonly string[],
  { after, before }: Window,
): Promise<ConversationSpan[]> {
  const parameters = new SqlParameters()
  const source = spanSource(
    { projectId, parameters, after, before, traceIds: null },
    { identity: "conversation", prices: null },
  )
  const rows = await traces.rows<ConversationSpan>(
    `select conversation_id, operation_name, trace_id, span_id, status_code as status,
        ifNull(${validDurationSql}, 0) as duration_ms
      from ${source} where conversation_id in ${parameters.bind(conversationIds, "Array(String)")}
      order by started_at desc, span_id desc limit ${mostSpans} by conversation_id`,
    parameters.values,
    largeSpanLimits,
  )
  return rows.toReversed()
}

export interface ConversationEnds {
  conversation_id: string
  first: SpanMessage[]
  last: SpanMessage[]
}

/** The messages that each conversation began with and those it ended with. */
export async function conversationEnds(
  traces: TraceStore,
  projectId: string,
  conversationIds: readonly string[],
  { after, before }: Window,
): Promise<ConversationEnds[]> {
  const parameters = new SqlParameters()
  const source = spanSource(
    { projectId, parameters, after, before, traceIds: null },
    { identity: "conversation", prices: null },
  )
  return traces.rows<ConversationEnds>(
    `select conversation_id,
        argMinIf(input_messages, (started_at, span_id), notEmpty(input_messages)) as first,
        argMaxIf(output_messages, (ifNull(ended_at, started_at), span_id), notEmpty(output_messages)) as last
      from ${source} where conversation_id in ${parameters.bind(conversationIds, "Array(String)")}
      group by conversation_id`,
    parameters.values,
    largeSpanLimits,
  )
}
