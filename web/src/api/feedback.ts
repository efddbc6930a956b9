/** Feedback on calls: `/feedback/create`. */
import type { feedbackCreateBody, feedbackCreated } from "@heddle/server/wire/labelling/feedback.ts"
import { useMutation } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "./api-error.ts"
import { sendForJson } from "./client.ts"
import { queryClient } from "./queries.ts"

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
