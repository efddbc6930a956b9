/** Feedback on spans, turns and conversations: evaluation-store-calls 10, evaluation-store-objects 2.3. */
import { parseExact } from "../../json/exact-json.ts"
import { selectFeedback } from "../../storage/traces/labelling/feedback-query.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import type { ChatFeedback, ConversationSpans } from "../../wire/agents/agent-chat.ts"
import type { Operand } from "../../wire/queries/query.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { attachedFields, scorerFields } from "../../labelling/feedback/feedback-types.ts"
import { refPrefix } from "../../objects/refs/refs.ts"

const fields = [...attachedFields, ...scorerFields] as const satisfies (keyof ChatFeedback)[]

export type AgentTarget = "agent_span" | "agent_turn" | "agent_conversation"

/** The ref of a span, a turn or a conversation. Clients choose the ids of conversations, so those are escaped. */
export function targetRef({ name }: ProjectAccess, kind: AgentTarget, id: string): string {
  return `${refPrefix}${name}/${kind}/${kind === "agent_conversation" ? encodeURIComponent(id.toWellFormed()) : id}`
}

/** Feedback by the ref that it is about, the oldest first. */
export async function feedbackByRef(
  traces: TraceStore,
  project: ProjectAccess,
  refs: readonly string[],
): Promise<Map<string, ChatFeedback[]>> {
  if (refs.length === 0) return new Map()
  const found = await select(traces, project, oneOf("weave_ref", refs), fields)
  return Map.groupBy(
    found.map((row) => ({ ...row, payload: parseExact(String(row["payload"])) }) as ChatFeedback),
    ({ weave_ref }) => weave_ref,
  )
}

export type SpansFeedback = ConversationSpans["conversations"][number]["spans_feedback"][number]

/** Tags and ratings of conversations and of their turns, by conversation. */
export async function feedbackOfConversations(
  traces: TraceStore,
  project: ProjectAccess,
  conversationIds: readonly string[],
): Promise<Map<string, SpansFeedback[]>> {
  const where: Operand = {
    $and: [
      oneOf("feedback_type", ["wandb.agent_user_feedback", "wandb.agent_monitor"]),
      oneOf("span_conversation_id", conversationIds),
    ],
  }
  const rows = await select(traces, project, where, [...fields, "span_conversation_id", "span_trace_id"])
  const byConversation = Map.groupBy(rows, (row) => String(row["span_conversation_id"]))
  return new Map([...byConversation].map(([id, found]) => [id, found.map(spansFeedback)]))
}

function spansFeedback(row: Readonly<Record<string, unknown>>): SpansFeedback {
  const feedback = row as unknown as ChatFeedback
  // A rating may have the name of something that every object inherits, such as `constructor`; maps inherit nothing.
  const reasons = new Map(Object.entries(feedback.scorer_rating_reasons))
  const confidences = new Map(Object.entries(feedback.scorer_rating_confidences))
  return {
    trace_id: String(row["span_trace_id"]) || null,
    feedback_type: feedback.feedback_type as SpansFeedback["feedback_type"],
    tags: feedback.scorer_tags,
    ratings: Object.entries(feedback.scorer_ratings).map(([name, value]) => ({
      name,
      value,
      reason: reasons.get(name) || null,
      confidence: confidences.get(name) ?? null,
    })),
  }
}

function oneOf(field: string, values: readonly string[]): Operand {
  return { $in: [{ $getField: field }, values.map(($literal) => ({ $literal }))] }
}

async function select(
  traces: TraceStore,
  { id, name }: ProjectAccess,
  where: Operand,
  names: readonly string[],
): Promise<Record<string, unknown>[]> {
  const selection = { projectId: id, projectName: name, where }
  const rows = await selectFeedback(traces, selection, { fields: names, sortBy: null, limit: null, offset: 0 })
  return rows.map((values) => Object.fromEntries(names.map((field, index) => [field, values[index]])))
}
