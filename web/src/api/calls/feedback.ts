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

/** So many of the newest are looked at. */
const mostLookedAt = 1000

/** Types of the project's newest feedback. */
export function useFeedbackTypes(project_id: string, { enabled }: { enabled: boolean }) {
  const body = { project_id, fields: ["feedback_type"], sort_by: newestFirst, limit: mostLookedAt }
  return useQuery({
    ...jsonQuery<{ result: { feedback_type: string }[] }>("POST", "/feedback/query", body),
    select: ({ result }) => [...new Set(result.map(({ feedback_type: type }) => type))].toSorted(),
    enabled,
  })
}

const newestFirst = [{ field: "created_at", direction: "desc" }]
