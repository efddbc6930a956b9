/** Making, changing and deleting annotation queues, and their items: `/annotation_queues/…`. */
import { useMutation } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { queryClient } from "../queries.ts"
import { queuesKey, workKey } from "./annotation-queues.ts"

/** Absent members stay as they are. */
export interface QueueSettings {
  name?: string
  description?: string
  scorer_refs?: readonly string[]
  /** 0: the server does not count. */
  required_annotators?: number
  lease_seconds?: number
}

export function useCreateQueue() {
  return useMutation<{ id: string }, ApiError, QueueSettings & { project_id: string; name: string }>({
    mutationFn: (body) =>
      sendForJson({ method: "POST", path: "/annotation_queues", body: { scorer_refs: [], ...body } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [queuesKey] }),
  })
}

export function useChangeQueue(queueId: string) {
  return useMutation<unknown, ApiError, QueueSettings & { project_id: string }>({
    mutationFn: (body) =>
      sendForJson({ method: "PUT", path: `/annotation_queues/${encodeURIComponent(queueId)}`, body }),
    onSuccess: queueChanged,
  })
}

/** `leave`: goes to a page that is not the queue's, which would ask for what is gone, unless another one is on its way. */
export function useDeleteQueue(queueId: string) {
  return useMutation<unknown, ApiError, { project_id: string; leave: () => Promise<void> }>({
    mutationFn: ({ project_id }) =>
      sendForJson({
        method: "DELETE",
        path: `/annotation_queues/${encodeURIComponent(queueId)}`,
        query: { project_id },
      }),
    onSuccess: async (_, { leave }) => {
      await leave()
      await queueChanged()
    },
  })
}

interface Added {
  added_count: number
  duplicates: number
}

export async function addToQueue(
  queueId: string,
  body: { project_id: string; call_ids: readonly string[]; display_fields: readonly string[] },
): Promise<Added> {
  const path = `/annotation_queues/${encodeURIComponent(queueId)}/items`
  const added = await sendForJson<Added>({ method: "POST", path, body })
  await queueChanged()
  return added
}

export async function queueChanged(): Promise<void> {
  const keys = [queuesKey, workKey, "GET /annotation_queues", "POST /annotation_queues/stats"]
  await Promise.all(keys.map((key) => queryClient.invalidateQueries({ queryKey: [key] })))
}
