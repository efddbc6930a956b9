/** `/agents/traces/chat` and `/agents/conversations/chat`: evaluation-store-calls 10. */
import type { Principal } from "../../http/principal.ts"
import {
  type ChatScope,
  chatSpans,
  conversationTurns,
  countChatSpans,
  mostChatSpans,
} from "../../storage/traces/agents/agent-conversations.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import type { ConversationChat, ConversationChatBody, TraceChat, TraceChatBody } from "../../wire/agents/agent-chat.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { reading, spanPrices } from "../agent-scope.ts"
import { feedbackByRef, targetRef } from "./agent-feedback.ts"
import { chatMessages, cutOff, sumOf } from "./chat-messages.ts"
import { chatSpan, type ChatSpan, durationOf, rootOf } from "./chat-span.ts"

export async function traceChat(
  dependencies: CallDependencies,
  principal: Principal,
  body: TraceChatBody,
): Promise<TraceChat> {
  return reading(dependencies, principal, body.project_id, async (project) => {
    const scope = { projectId: project.id, traceIds: [body.trace_id], conversationId: null }
    const counts = await countChatSpans(dependencies.traces, scope)
    const [turn] = await turns(dependencies, project, scope, counts, body)
    if (turn === undefined) throw new Error("one trace is one turn")
    if (body.include_feedback === true) await addFeedback(dependencies.traces, project, [turn])
    return turn
  })
}

export async function conversationChat(
  dependencies: CallDependencies,
  principal: Principal,
  body: ConversationChatBody,
): Promise<ConversationChat> {
  const { conversation_id, limit, offset } = body
  return reading(dependencies, principal, body.project_id, async (project) => {
    const { traceIds, total } = await conversationTurns(dependencies.traces, project.id, conversation_id, {
      limit,
      offset,
    })
    const scope = { projectId: project.id, traceIds, conversationId: conversation_id }
    const counts = await countChatSpans(dependencies.traces, scope)
    const page = firstThatFit(traceIds, counts)
    const chats = await turns(dependencies, project, { ...scope, traceIds: page.toReversed() }, counts, body)
    const ref = targetRef(project, "agent_conversation", conversation_id)
    const feedback =
      body.include_feedback === true ? await addFeedback(dependencies.traces, project, chats, [ref]) : null
    return {
      conversation_id,
      turns: chats,
      total_turns: total,
      has_more: offset + chats.length < total,
      limit: page.length < traceIds.length ? page.length : limit,
      offset,
      total_cost_usd: sumOf(chats.map((turn) => turn.total_cost_usd)),
      feedback: feedback === null ? null : (feedback.get(ref) ?? []),
    }
  })
}

/** The first traces whose spans together fit into one answer; one trace at least. */
function firstThatFit(traceIds: readonly string[], counts: ReadonlyMap<string, number>): readonly string[] {
  let spans = 0
  const end = traceIds.findIndex((id, index) => (spans += counts.get(id) ?? 0) > mostChatSpans && index > 0)
  return end === -1 ? traceIds : traceIds.slice(0, end)
}

type Options = Pick<TraceChatBody, "include_model_tool_calls">

/** One for each trace, in their order; one without spans is empty. */
async function turns(
  dependencies: CallDependencies,
  project: ProjectAccess,
  scope: ChatScope,
  counts: ReadonlyMap<string, number>,
  options: Options,
): Promise<TraceChat[]> {
  if (scope.traceIds.length === 0) return []
  const prices = await spanPrices(dependencies, project)
  const rows = await chatSpans(dependencies.traces, scope, prices)
  const byTrace = Map.groupBy(
    rows.map((row) => chatSpan(row, project.name)),
    (span) => span.trace_id,
  )
  return scope.traceIds.map((id) => toTurn(id, byTrace.get(id) ?? [], counts.get(id) ?? 0, options))
}

/** `count`: of the spans that the trace has. */
function toTurn(traceId: string, spans: readonly ChatSpan[], count: number, options: Options): TraceChat {
  const root = rootOf(spans)
  const counted = spans.filter(({ isCounted }) => isCounted)
  const total = (of: (span: ChatSpan) => number | null) => sumOf(counted.map(of)) ?? 0
  return {
    trace_id: traceId,
    root_span_name: root?.agent_name ?? root?.span_name ?? null,
    agent_name: root?.agent_name ?? null,
    agent_version: root?.agent_version ?? null,
    status_code: root?.status_code ?? null,
    provider: root?.provider_name ?? null,
    wb_user_id: root?.wb_user_id ?? null,
    started_at: root?.started_at ?? null,
    ended_at: root?.ended_at ?? null,
    total_duration_ms: root === null ? null : durationOf(root),
    total_input_tokens: total((span) => span.input_tokens),
    total_output_tokens: total((span) => span.output_tokens),
    total_reasoning_tokens: total((span) => span.reasoning_tokens),
    total_cache_creation_input_tokens: total((span) => span.cache_creation_input_tokens),
    total_cache_read_input_tokens: total((span) => span.cache_read_input_tokens),
    total_cost_usd: sumOf(counted.map((span) => span.total_cost_usd)),
    messages: [
      ...chatMessages(spans, { modelToolCalls: options.include_model_tool_calls === true }),
      ...cutOff(spans, count),
    ],
    feedback: null,
  }
}

/** Adds their feedback to turns and messages. Returns all of it by ref, with the feedback on the refs `more`. */
async function addFeedback(
  traces: TraceStore,
  project: ProjectAccess,
  chats: readonly TraceChat[],
  more: readonly string[] = [],
) {
  const messages = chats.flatMap((turn) => turn.messages)
  const spans = new Set(messages.flatMap(({ span_id }) => span_id ?? []))
  const found = await feedbackByRef(traces, project, [
    ...more,
    ...chats.map((turn) => targetRef(project, "agent_turn", turn.trace_id)),
    ...[...spans].map((id) => targetRef(project, "agent_span", id)),
  ])
  for (const turn of chats) turn.feedback = found.get(targetRef(project, "agent_turn", turn.trace_id)) ?? []
  for (const message of messages) {
    if (message.span_id === null) continue
    message.feedback = found.get(targetRef(project, "agent_span", message.span_id)) ?? null
  }
  return found
}
