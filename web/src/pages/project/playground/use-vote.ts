import { useMutation } from "@tanstack/react-query"
import { useGiveFeedback } from "../../../api/calls/feedback.ts"
import { votesOf, withStoredVerdicts } from "../../../playground/blind.ts"
import type { Conversation } from "../../../playground/conversation.ts"
import { changeConversation } from "./conversations.ts"

interface Judged {
  conversation: Conversation
  isBlind: boolean
}

/** Stores a vote as feedback `playground.vote` on the recorded call of each answer. */
export function useVote(projectId: string, conversationId: string) {
  const give = useGiveFeedback()
  return useMutation<unknown, Error, Judged>({
    mutationFn: ({ conversation, isBlind }) =>
      Promise.all(
        votesOf(conversation, isBlind).map(({ callId, payload }) =>
          give.mutateAsync({
            project_id: projectId,
            weave_ref: `weave:///${projectId}/call/${callId}`,
            feedback_type: "playground.vote",
            payload: { ...payload, conversation_id: conversationId },
          }),
        ),
      ),
    onSuccess: (_, { conversation: judged }) =>
      changeConversation(conversationId, (now) => withStoredVerdicts(now, judged)),
  })
}
