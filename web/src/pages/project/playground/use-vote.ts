/** A vote for one of the answers, blind or not. */
import { useMutation } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { useRef } from "react"
import { ApiError } from "../../../api/api-error.ts"
import { useGiveFeedbackTogether } from "../../../api/calls/feedback-batch.ts"
import { isConflict } from "../../../api/is-conflict.ts"
import { newId } from "../../../labelling/new-id.ts"
import { isHidden, orderOf, votesOf, withStoredVerdicts, withVerdicts } from "../../../playground/blind.ts"
import type { Conversation } from "../../../playground/conversation.ts"
import { changeConversation, setConversation } from "./conversations.ts"

const route = getRouteApi("/signed-in/$entity/$project/playground/{-$conversation}")

export interface Vote {
  isBlind: boolean
  /** Which answer is whose is not shown. */
  isHidden: boolean
  /** In which order the columns stand. */
  order: readonly number[]
  toggleBlind: () => void
  /** Whether one can vote so. `winner`: a column; null: no difference. */
  canJudge: (winner: number | null) => boolean
  judge: (winner: number | null) => void
  isPending: boolean
  error: Error | null
}

export function useVote(projectId: string, id: string, conversation: Conversation): Vote {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const vote = useStoredVote(projectId, id)
  const { columns, blind } = conversation
  const isBlind = search.blind === true
  const hidden = isBlind && isHidden(conversation)
  return {
    isBlind,
    isHidden: hidden,
    order: orderOf(columns.length, isBlind ? blind?.order : undefined),
    toggleBlind: () => {
      // A user who has seen which answer is whose cannot vote blindly any more.
      if (hidden && blind !== undefined) {
        setConversation(id, { ...conversation, blind: { ...blind, isOpen: true } }, true)
      }
      void navigate({ search: (before) => ({ ...before, blind: isBlind ? undefined : true }), replace: true })
    },
    canJudge: (winner) => columns.length > 1 && withVerdicts(conversation, winner) !== null,
    judge: (winner) => {
      const judged = withVerdicts(conversation, winner)
      if (judged === null || vote.isPending) return
      vote.mutate({ conversation: judged, isBlind: hidden })
    },
    isPending: vote.isPending,
    error: vote.error,
  }
}

interface Judged {
  conversation: Conversation
  isBlind: boolean
}

/** Stores it as feedback `playground.vote` on the recorded call of each answer. */
function useStoredVote(projectId: string, conversationId: string) {
  const give = useGiveFeedbackTogether()
  // By call: a vote that is sent again, whose answer was lost, is the same vote.
  const ids = useRef(new Map<string, string>())
  const idOf = (callId: string) => {
    const id = ids.current.get(callId) ?? newId()
    ids.current.set(callId, id)
    return id
  }
  /** Of which nobody knows whether they are stored. */
  const unanswered = useRef<Judged[]>([])
  const feedbackOf = ({ conversation, isBlind }: Judged) =>
    votesOf(conversation, isBlind).map(({ callId, payload }) => ({
      id: idOf(callId),
      project_id: projectId,
      weave_ref: `weave:///${projectId}/call/${callId}`,
      feedback_type: "playground.vote",
      payload: { ...payload, conversation_id: conversationId },
    }))
  const isStored = (batch: ReturnType<typeof feedbackOf>) =>
    give.mutateAsync(batch).then(
      () => true,
      (error: unknown) => {
        if (isConflict(error)) return false
        throw error
      },
    )
  return useMutation<Judged, Error, Judged>({
    mutationFn: async (judged) => {
      try {
        await give.mutateAsync(feedbackOf(judged))
        return judged
      } catch (error) {
        if (error instanceof ApiError && error.isUnanswered) unanswered.current.push(judged)
        if (!isConflict(error)) throw error
        // One of those before was stored, and counts: the one that can be sent again.
        for (const earlier of unanswered.current) if (await isStored(feedbackOf(earlier))) return earlier
        throw error
      }
    },
    onSuccess: ({ conversation: judged }) =>
      changeConversation(conversationId, (now) => withStoredVerdicts(now, judged)),
  })
}
