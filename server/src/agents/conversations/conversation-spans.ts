/** `/agents/conversations/spans`: evaluation-store-calls 10. */
import type { Principal } from "../../http/principal.ts"
import { conversationSpans as readSpans } from "../../storage/traces/agents/agent-conversations.ts"
import type { ConversationSpans, ConversationSpansBody } from "../../wire/agents/agent-chat.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { reading, windowOf } from "../agent-scope.ts"
import { feedbackOfConversations } from "./agent-feedback.ts"

export async function conversationSpans(
  dependencies: CallDependencies,
  principal: Principal,
  body: ConversationSpansBody,
): Promise<ConversationSpans> {
  const window = windowOf(body)
  const ids = [...new Set(body.conversation_ids)]
  return reading(dependencies, principal, body.project_id, async (project) => {
    if (ids.length === 0) return { conversations: [] }
    const [spans, feedback] = await Promise.all([
      readSpans(dependencies.traces, project.id, ids, window),
      feedbackOfConversations(dependencies.traces, project, ids),
    ])
    const byConversation = Map.groupBy(spans, ({ conversation_id }) => conversation_id)
    return {
      conversations: ids.map((conversation_id) => ({
        conversation_id,
        spans: (byConversation.get(conversation_id) ?? []).map(({ conversation_id: _id, ...span }) => span),
        spans_feedback: feedback.get(conversation_id) ?? [],
      })),
    }
  })
}
