/** `/agents/search`: evaluation-store-calls 10. */
import type { Principal } from "../../http/principal.ts"
import { countConversations, type FoundMessage, searchMessages } from "../../storage/traces/agents/agent-messages.ts"
import type { AgentSearchAnswer, AgentSearchBody } from "../../wire/agents/agents.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { reading, windowOf } from "../agent-scope.ts"

/** Most characters of a message in an answer, unless all were asked for. */
const longestPreview = 500

const noConversation = "__NO_CONVERSATION__"

export async function searchAgents(
  dependencies: CallDependencies,
  principal: Principal,
  body: AgentSearchBody,
): Promise<AgentSearchAnswer> {
  const window = windowOf(body)
  return reading(dependencies, principal, body.project_id, async ({ id }) => {
    const search = {
      ...body,
      ...window,
      projectId: id,
      roles: body.roles?.length ? rolesOf(body.roles) : null,
      longest: body.truncate_content ? longestPreview : null,
    }
    const [messages, total] = await Promise.all([
      searchMessages(dependencies.traces, search),
      countConversations(dependencies.traces, search),
    ])
    return { results: byConversation(messages), total_conversations: total }
  })
}

function rolesOf(roles: readonly string[]): string[] {
  return [...new Set(roles.flatMap((role) => (role === "tool" ? ["tool", "tool_call", "tool_result"] : [role])))]
}

/** Groups messages by conversation; the conversation with the newest message comes first. */
function byConversation(messages: readonly FoundMessage[]): AgentSearchAnswer["results"] {
  return [...Map.groupBy(messages, ({ conversation_id }) => conversation_id)].flatMap(([id, found]) => {
    const [newest] = found
    if (newest === undefined) return []
    return {
      conversation_id: id || noConversation,
      conversation_name: found.find(({ conversation_name }) => conversation_name !== "")?.conversation_name ?? "",
      agent_name: newest.agent_name,
      matched_messages: found.map((message) => ({
        span_id: message.span_id,
        trace_id: message.trace_id,
        role: message.role,
        content_preview: message.content,
        content_digest: message.content_digest,
        started_at: message.started_at,
      })),
      last_activity: newest.started_at,
    }
  })
}
