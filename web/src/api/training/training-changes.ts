/** Changes that a person makes to models and jobs: `/v1/preview/…`. */
import type { deleteCheckpointsAnswer } from "@heddle/server/wire/training/checkpoint.ts"
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import { useMutation } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { queryClient } from "../queries.ts"

/** A job that has ended meanwhile stays as it ended, and is the answer. */
export function useCancelJob() {
  return useMutation<ListedJob, ApiError, string>({
    mutationFn: (id) =>
      sendForJson({ method: "POST", path: `/v1/preview/training-jobs/${encodeURIComponent(id)}/cancel` }),
    onSuccess: () => staleUnder("/v1/preview/training-jobs", "/v1/preview/models"),
  })
}

/** A job that is paused, or goes on, already stays so and is the answer. */
export function usePauseJob(id: string) {
  return useMutation<ListedJob, ApiError, "pause" | "resume">({
    mutationFn: (what) =>
      sendForJson({ method: "POST", path: `/v1/preview/training-jobs/${encodeURIComponent(id)}/${what}` }),
    // Also after a refusal: the job has ended meanwhile.
    onSettled: () => staleUnder("/v1/preview/training-jobs"),
  })
}

type DeletedCheckpoints = z.output<typeof deleteCheckpointsAnswer>

export function useDeleteCheckpoints(modelId: string) {
  return useMutation<DeletedCheckpoints, ApiError, readonly number[]>({
    mutationFn: (steps) =>
      sendForJson({
        method: "DELETE",
        path: `/v1/preview/models/${encodeURIComponent(modelId)}/checkpoints`,
        body: { steps },
      }),
    onSuccess: () => staleUnder("/v1/preview/models"),
  })
}

/** Reads again everything that was read under one of these paths. */
function staleUnder(...paths: readonly string[]): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey: [endpoint] }) =>
      typeof endpoint === "string" && paths.some((path) => endpoint.startsWith(`GET ${path}`)),
  })
}
