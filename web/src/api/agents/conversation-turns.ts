/** The turns of a conversation as messages: `/agents/conversations/chat`. */
import type { conversationChat, TraceChat } from "@heddle/server/wire/agents/agent-chat.ts"
import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"

export type { ChatMessage, TraceChat } from "@heddle/server/wire/agents/agent-chat.ts"

const path = "/agents/conversations/chat"
const pageTurns = 20

interface Wanted {
  projectId: string
  conversationId: string
  /** How many turns the conversation has, as far as it is known. */
  total: number
}

/** From the first turn on, page after page. */
export function useConversationTurns(wanted: Wanted) {
  return useInfiniteQuery(turnPages(wanted))
}

function turnPages({ total, ...ofConversation }: Wanted) {
  return infiniteQueryOptions<TraceChat[], ApiError, TraceChat[], unknown[], number>({
    queryKey: [`POST ${path}`, ofConversation],
    initialPageParam: 0,
    queryFn: ({ pageParam: first, signal }) => readTurns({ total, ...ofConversation }, first, signal),
    getNextPageParam: (last, pages) => {
      const read = pages.reduce((sum, turns) => sum + turns.length, 0)
      return last.length > 0 && read < total ? read : undefined
    },
    select: ({ pages }) => pages.flat(),
  })
}

/**
 * The API counts pages from the end of a conversation, and people read from its beginning. A page whose spans are too many
 * for one answer comes in several, the later turns first.
 */
async function readTurns({ projectId, conversationId, total }: Wanted, first: number, signal: AbortSignal) {
  let turns: TraceChat[] = []
  let end = total
  for (;;) {
    const wanted = Math.min(pageTurns, end - first)
    if (turns.length >= wanted) return turns
    const body = {
      project_id: projectId,
      conversation_id: conversationId,
      limit: wanted - turns.length,
      offset: end - first - wanted + turns.length,
      include_model_tool_calls: true,
    }
    const answer = await sendForJson<z.output<typeof conversationChat>>({ method: "POST", path, body, signal })
    const isMoved = answer.total_turns !== end
    if (!isMoved && answer.turns.length === 0) return turns
    // Turns that came meanwhile have moved the page.
    turns = isMoved ? [] : [...answer.turns, ...turns]
    end = answer.total_turns
  }
}
