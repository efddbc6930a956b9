/** `/agents/traces/chat`, `/agents/conversations/…`: evaluation-store-calls 10. */
import { z } from "zod"
import { cost, count, time, timeWindow } from "./span-values.ts"
import { orDefault } from "../or-default.ts"

const text = z.string().nullable()
const whole = z.number().nullable()
const refs = z.array(z.string())
const status = z.enum(["UNSET", "OK", "ERROR"]).nullable()
const flag = z.boolean().nullish()

export const traceChatBody = z.looseObject({
  project_id: z.string(),
  trace_id: z.string(),
  include_feedback: flag,
  /** Also calls that a model asked for and that no span carried out. */
  include_model_tool_calls: flag,
})

export const conversationChatBody = z.looseObject({
  project_id: z.string(),
  conversation_id: z.string(),
  /** Limit on the turns. */
  limit: orDefault(z.int().min(0).max(50), 50),
  /** The most recent turns to leave out. */
  offset: orDefault(z.int().min(0), 0),
  include_feedback: flag,
  include_model_tool_calls: flag,
})

const scores = z.record(z.string(), z.number())
const reasons = z.record(z.string(), z.string())

export const chatFeedback = z.object({
  id: z.string(),
  feedback_type: z.string(),
  weave_ref: z.string(),
  payload: z.record(z.string(), z.unknown()),
  creator: text,
  created_at: time,
  wb_user_id: text,
  runnable_ref: text,
  call_ref: text,
  trigger_ref: text,
  annotation_ref: text,
  scorer_tags: z.array(z.string()),
  scorer_tag_reasons: reasons,
  scorer_tag_confidences: scores,
  scorer_ratings: scores,
  scorer_rating_reasons: reasons,
  scorer_rating_confidences: scores,
})

/** null: not asked for. */
const feedback = z.array(chatFeedback).nullable()

export const userMessage = z.object({ text: z.string(), content_refs: refs })

export const assistantMessage = z.object({
  text: z.string(),
  model: text,
  reasoning_content: text,
  reasoning_tokens: whole,
  input_tokens: whole,
  output_tokens: whole,
  input_cost_usd: cost,
  output_cost_usd: cost,
  total_cost_usd: cost,
  duration_ms: whole,
  status,
  content_refs: refs,
})

export const toolCall = z.object({
  tool_name: text,
  tool_arguments: text,
  tool_result: text,
  duration_ms: whole,
  status,
  content_refs: refs,
})

export const agentStart = z.object({ model: text, system_instructions: text, tool_definitions: text, status })

export const contextCompacted = z.object({
  compaction_summary: text,
  compaction_items_before: whole,
  compaction_items_after: whole,
})

/** A message has the fields of its type; the others are null. */
export const chatMessage = z.object({
  type: z.enum(["user_message", "assistant_message", "tool_call", "agent_handoff", "agent_start", "context_compacted"]),
  span_id: text,
  agent_name: text,
  agent_version: text,
  status_code: status,
  status_message: text,
  error_type: text,
  started_at: time,
  user_message: userMessage.nullable(),
  assistant_message: assistantMessage.nullable(),
  tool_call: toolCall.nullable(),
  agent_start: agentStart.nullable(),
  /** No instrumentation tells of one yet. */
  agent_handoff: z.object({}).nullable(),
  context_compacted: contextCompacted.nullable(),
  feedback,
})

/** One turn: what happened in a trace, in order. */
export const traceChat = z.object({
  trace_id: z.string(),
  root_span_name: text,
  agent_name: text,
  agent_version: text,
  status_code: status,
  provider: text,
  wb_user_id: text,
  started_at: time,
  ended_at: time,
  /** Duration of the root span, not a sum. */
  total_duration_ms: whole,
  total_input_tokens: count,
  total_output_tokens: count,
  total_reasoning_tokens: count,
  total_cache_creation_input_tokens: count,
  total_cache_read_input_tokens: count,
  total_cost_usd: cost,
  messages: z.array(chatMessage),
  feedback,
})

export const conversationChat = z.object({
  conversation_id: z.string(),
  /** In the order in which they began. */
  turns: z.array(traceChat),
  total_turns: count,
  has_more: z.boolean(),
  limit: z.int(),
  offset: z.int(),
  /** Cost of these turns. */
  total_cost_usd: cost,
  feedback,
})

export const conversationSpansBody = z.looseObject({
  project_id: z.string(),
  conversation_ids: orDefault(z.array(z.string()).max(10_000), []),
  ...timeWindow,
})

export const conversationSpans = z.object({
  /** As asked for, each once. */
  conversations: z.array(
    z.object({
      conversation_id: z.string(),
      /** In the order in which they began; of very many the last. */
      spans: z.array(
        z.object({
          operation_name: z.string(),
          trace_id: z.string(),
          span_id: z.string(),
          status: z.enum(["UNSET", "OK", "ERROR"]),
          duration_ms: count,
        }),
      ),
      spans_feedback: z.array(
        z.object({
          /** The turn it is about; null: the conversation. */
          trace_id: text,
          feedback_type: z.enum(["wandb.agent_user_feedback", "wandb.agent_monitor"]),
          tags: z.array(z.string()),
          ratings: z.array(
            z.object({ name: z.string(), value: z.number(), reason: text, confidence: z.number().nullable() }),
          ),
        }),
      ),
    }),
  ),
})

export type TraceChatBody = z.output<typeof traceChatBody>
export type ConversationChatBody = z.output<typeof conversationChatBody>
export type ChatMessage = z.output<typeof chatMessage>
export type ChatFeedback = z.output<typeof chatFeedback>
export type TraceChat = z.output<typeof traceChat>
export type ConversationChat = z.output<typeof conversationChat>
export type ConversationSpansBody = z.output<typeof conversationSpansBody>
export type ConversationSpans = z.output<typeof conversationSpans>
