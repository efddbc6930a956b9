/** `/agents/query`, `/agents/agent-versions/query` and `/agents/search`: evaluation-store-calls 10. */
import { z } from "zod"
import { cost, count, page, sortBy, time, timeWindow } from "./span-values.ts"
import { orDefault } from "../or-default.ts"

/** `q`: a part of the agent's name, whatever the case of its letters. */
const agentFilters = z.looseObject({ agent_name: z.string().nullish(), q: z.string().nullish() })

const listing = { include_costs: z.boolean().nullish(), sort_by: sortBy, ...page(10_000, 100) }

export const agentsBody = z.looseObject({
  project_id: z.string(),
  filters: agentFilters.nullish(),
  ...listing,
})

export const agentVersionsBody = z.looseObject({ project_id: z.string(), agent_name: z.string(), ...listing })

const agent = z.object({
  project_id: z.string(),
  agent_name: z.string(),
  /** Spans with the operation `invoke_agent`. */
  invocation_count: count,
  span_count: count,
  total_input_tokens: count,
  total_output_tokens: count,
  total_duration_ms: count,
  /** Of its invocations; null: no span says that it was invoked. */
  p50_duration_ms: z.number().nullable(),
  p95_duration_ms: z.number().nullable(),
  error_count: count,
  first_seen: time,
  last_seen: time,
  total_cost_usd: cost,
})

export const agentsPage = z.object({ agents: z.array(agent), total_count: count })

export const agentVersionsPage = z.object({
  versions: z.array(agent.extend({ agent_version: z.string() })),
  total_count: count,
})

const role = z.enum(["", "user", "assistant", "system", "tool", "tool_call", "tool_result"])

export const agentSearchBody = z.looseObject({
  project_id: z.string(),
  /** Occurs in the message, whatever the case of its letters. Empty: every message. */
  query: orDefault(z.string(), ""),
  trace_id: z.string().nullish(),
  /** `tool` means what tools were given and what they returned. */
  roles: z.array(role).max(100).nullish(),
  conversation_id: z.string().nullish(),
  agent_name: z.string().nullish(),
  provider_name: z.string().nullish(),
  request_model: z.string().nullish(),
  /** To 500 characters. */
  truncate_content: orDefault(z.boolean(), true),
  ...timeWindow,
  /** Page of messages. */
  ...page(1000, 20),
})

export const agentSearchAnswer = z.object({
  /** The most recently active first. */
  results: z.array(
    z.object({
      /** `__NO_CONVERSATION__` for messages outside of any. */
      conversation_id: z.string(),
      conversation_name: z.string(),
      agent_name: z.string(),
      matched_messages: z.array(
        z.object({
          span_id: z.string(),
          trace_id: z.string(),
          role: z.string(),
          content_preview: z.string(),
          content_digest: z.string(),
          started_at: z.iso.datetime(),
        }),
      ),
      last_activity: z.iso.datetime(),
    }),
  ),
  /** With a match, on this page or another. */
  total_conversations: count,
})

export type AgentsBody = z.output<typeof agentsBody>
export type AgentVersionsBody = z.output<typeof agentVersionsBody>
export type AgentRow = z.output<typeof agent>
export type AgentSearchBody = z.output<typeof agentSearchBody>
export type AgentSearchAnswer = z.output<typeof agentSearchAnswer>
