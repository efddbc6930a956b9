/** Jobs from calls, labels and scores: `/v1/preview/training-jobs/from-source`. */
import type { Job } from "@heddle/server/wire/training/job.ts"
import type { TrainFromBody, TrainingDryRun } from "@heddle/server/wire/training/train-from.ts"
import type { createModelBody, model } from "@heddle/server/wire/training/model.ts"
import { useMutation, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"

const path = "/v1/preview/training-jobs/from-source"

/** null: there is nothing to ask yet. What it found stays until it is asked for again. */
export function useDryRun(body: TrainFromBody | null) {
  return useQuery({
    ...jsonQuery<TrainingDryRun>("POST", `${path}/dry-run`, body ?? {}),
    enabled: body !== null,
    staleTime: Infinity,
  })
}

export function useTrainFrom() {
  return useMutation<Job, ApiError, TrainFromBody>({
    mutationFn: (body) => sendForJson({ method: "POST", path, body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["GET /v1/preview/training-jobs"] }),
  })
}

export function useMakeModel() {
  return useMutation<z.output<typeof model>, ApiError, z.input<typeof createModelBody>>({
    mutationFn: (body) => sendForJson({ method: "POST", path: "/v1/preview/models", body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["GET /v1/preview/models"] }),
  })
}
