/** Several feedbacks at once: `/feedback/batch/create`. */
import { useMutation } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { type NewFeedback, readFeedbackAgain } from "./feedback.ts"

/** All of it or nothing. With ids, the same again is stored once. */
export function useGiveFeedbackTogether() {
  return useMutation<unknown, ApiError, readonly NewFeedback[]>({
    mutationFn: (batch) => sendForJson({ method: "POST", path: "/feedback/batch/create", body: { batch } }),
    onSuccess: (_, given) => Promise.all(given.map(readFeedbackAgain)),
  })
}
