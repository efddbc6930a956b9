/** Feedback on calls: `/feedback/create`, `/feedback/query`. */
import type { feedbackCreateBody, feedbackCreated } from "@heddle/server/wire/labelling/feedback.ts"
import { useMutation, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"

type Created = z.output<typeof feedbackCreated>

export function useGiveFeedback() {
  return useMutation<Created, ApiError, z.input<typeof feedbackCreateBody>>({
    mutationFn: (body) => sendForJson<Created>({ method: "POST", path: "/feedback/create", body }),
    // A call that is open shows it; rows and trees are read again in their own time.
    onSuccess: (_, { weave_ref }) =>
      queryClient.invalidateQueries({
        queryKey: ["POST /calls/stream_query"],
        predicate: ({ queryKey }) => JSON.stringify(queryKey[1]).includes(`"${weave_ref.split("/").at(-1)}"`),
      }),
  })
}

interface FeedbackPage {
  result: { feedback_type: string; payload: Record<string, unknown> }[]
}

/** The project's newest feedback: its types and what it says. */
export function useNewestFeedback(project_id: string, limit: number, { enabled }: { enabled: boolean }) {
  const sort_by = [{ field: "created_at", direction: "desc" }]
  const body = { project_id, fields: ["feedback_type", "payload"], sort_by, limit }
  return useQuery({
    ...jsonQuery<FeedbackPage>("POST", "/feedback/query", body),
    select: ({ result }) => result,
    enabled,
  })
}
