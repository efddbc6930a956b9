/** Search in what was said: evaluation-store-calls 10. */
import type { AgentSearchBody } from "../../../wire/agents/agents.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { formatTime } from "./span-measures.ts"
import { spanSource } from "./span-source.ts"
import { largeSpanLimits } from "./span-table.ts"
import { isSaidSql, messagesSql } from "./span-texts.ts"

export interface MessageSearch extends Pick<
  AgentSearchBody,
  "trace_id" | "conversation_id" | "agent_name" | "provider_name" | "request_model" | "limit" | "offset"
> {
  projectId: string
  /** A text that must occur; empty: any message. */
  query: string
  /** null: any. */
  roles: readonly string[] | null
  /** Most characters of a message; null: all. */
  longest: number | null
  /** Microseconds since 1970: inclusive, exclusive. */
  after: bigint | null
  before: bigint | null
}

export interface FoundMessage {
  conversation_id: string
  conversation_name: string
  agent_name: string
  trace_id: string
  span_id: string
  role: string
  content: string
  content_digest: string
  started_at: string
}

/**
 * The newest first. What a conversation repeats, as models are sent all that was said before, is found
 * once; without a text every occurrence is.
 */
export async function searchMessages(traces: TraceStore, search: MessageSearch): Promise<FoundMessage[]> {
  const parameters = new SqlParameters()
  const found = foundMessages(search, parameters)
  const content = search.longest === null ? "content" : `substringUTF8(content, 1, ${search.longest})`
  const once =
    search.query === "" ? "" : "limit 1 by if(conversation_id = '', trace_id, conversation_id), role, content"
  const range = `limit ${parameters.bind(search.limit, "UInt64")} offset ${parameters.bind(search.offset, "UInt64")}`
  const rows = await traces.rows<FoundMessage>(
    `select conversation_id, conversation_name, agent_name, trace_id, span_id, role,
        lower(hex(murmurHash3_128(content))) as content_digest, ${content} as cut_content, started_at
      from (${found}) order by started_at desc, span_id desc, trace_id, role, content ${once} ${range}`,
    parameters.values,
    largeSpanLimits,
  )
  return rows.map((row) => {
    const { cut_content, ...message } = row as FoundMessage & { cut_content: string }
    return { ...message, content: cut_content, started_at: formatTime(row.started_at) }
  })
}

/** Conversations with a match; messages outside of any count as one. */
export async function countConversations(traces: TraceStore, search: MessageSearch): Promise<number> {
  const parameters = new SqlParameters()
  const [row] = await traces.rows<{ n: string }>(
    `select uniqExact(conversation_id) as n from (${foundMessages(search, parameters)})`,
    parameters.values,
  )
  return Number(row?.n ?? 0)
}

function foundMessages(search: MessageSearch, parameters: SqlParameters): string {
  const { projectId, after, before, query, roles } = search
  const source = spanSource({ projectId, parameters, after, before, traceIds: null }, { identity: true, prices: null })
  const fields = ["trace_id", "conversation_id", "agent_name", "provider_name", "request_model"] as const
  const ofSpan = fields.flatMap((field) =>
    search[field] ? [`${field} = ${parameters.bind(search[field], "String")}`] : [],
  )
  const ofMessage = query === "" ? [] : [isSaidSql("content", query, parameters)]
  if (roles !== null) ofMessage.push(`role in ${parameters.bind(roles, "Array(String)")}`)
  return `select conversation_id, conversation_name, agent_name, trace_id, span_id, started_at,
      message.1 as role, message.2 as content
    from (
      select conversation_id, conversation_name, agent_name, trace_id, span_id, started_at, arrayJoin(${messagesSql}) as message
      from ${source} where ${ofSpan.join(" and ") || "true"}
    ) where content != '' and ${ofMessage.join(" and ") || "true"}`
}
