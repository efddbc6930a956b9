/** Annotation queues: `/annotation_queues/…`. */
import type { labelledItems, QueueAgreement } from "@heddle/server/wire/labelling/annotation-label.ts"
import type { AnnotationQueue, queueStatsAnswer } from "@heddle/server/wire/labelling/annotation-queue.ts"
import type { QueueWorkAnswer } from "@heddle/server/wire/labelling/annotation-work.ts"
import { queryOptions, useMutation, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson, sendForLines } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"

const queuesKey = "POST /annotation_queues/query"
/** The key of {@link useQueueWork}, which changes of items make stale. */
export const workKey = "POST /annotation_queues/work"

interface Live {
  refetchInterval?: number | false
  enabled?: boolean
}

/** `name`: a part of it. */
export function useQueues(body: { project_id: string; name?: string; limit?: number }, live: Live = {}) {
  const query = queryOptions<AnnotationQueue[], ApiError>({
    queryKey: [queuesKey, body],
    queryFn: async ({ signal }) => {
      const queues: AnnotationQueue[] = []
      for await (const line of sendForLines({ method: "POST", path: "/annotation_queues/query", body, signal })) {
        queues.push(JSON.parse(line) as AnnotationQueue)
      }
      return queues
    },
  })
  return useQuery({ ...query, ...live })
}

type QueueStats = z.output<typeof queueStatsAnswer>

export function useQueueStats(body: { project_id: string; queue_ids: readonly string[] }, live: Live = {}) {
  return useQuery({ ...jsonQuery<QueueStats>("POST", "/annotation_queues/stats", body), ...live })
}

/** One queue; a key of its own, as changes name it. */
export function useQueue(project_id: string, queueId: string) {
  const query = jsonQuery<{ queue: AnnotationQueue }>("GET", `/annotation_queues/${encodeURIComponent(queueId)}`, {
    project_id,
  })
  return useQuery({
    ...query,
    queryKey: ["GET /annotation_queues", project_id, queueId],
    placeholderData: () => undefined,
  })
}

/** How far queues are, who works on them, and what the caller may do. */
export function useQueueWork(body: { project_id: string; queue_ids: readonly string[] }, live: Live = {}) {
  return useQuery({ ...jsonQuery<QueueWorkAnswer>("POST", "/annotation_queues/work", body), ...live })
}

export function useAgreement(project_id: string, queueId: string, live: Live = {}) {
  const path = `/annotation_queues/${encodeURIComponent(queueId)}/agreement`
  const query = jsonQuery<QueueAgreement>("GET", path, { project_id })
  return useQuery({ ...query, queryKey: ["GET agreement", project_id, queueId], ...live })
}

type LabelledItems = z.output<typeof labelledItems>

/** The first items in dispute; `adjudicated: false`: those that are still to be decided. */
export function useLabelledItems(
  queueId: string,
  body: { project_id: string; disputed?: boolean; adjudicated?: boolean; limit: number },
  live: Live = {},
) {
  const path = `/annotation_queues/${encodeURIComponent(queueId)}/labels/query`
  const query = jsonQuery<LabelledItems>("POST", path, body)
  return useQuery({ ...query, queryKey: ["POST labels", queueId, body], ...live })
}

interface Decision {
  project_id: string
  queueId: string
  itemId: string
  field: string
  /** null: the decision is taken back. */
  choice: { feedback_id: string } | { value: unknown } | null
}

export function useDecide() {
  return useMutation<unknown, ApiError, Decision>({
    mutationFn: ({ project_id, queueId, itemId, field, choice }) => {
      const place = `/annotation_queues/${encodeURIComponent(queueId)}/items/${encodeURIComponent(itemId)}`
      const path = `${place}/final_labels/${encodeURIComponent(field)}`
      return choice === null
        ? sendForJson({ method: "DELETE", path, query: { project_id } })
        : sendForJson({ method: "PUT", path, body: { project_id, ...choice } })
    },
    onSuccess: (_, { queueId }) => queryClient.invalidateQueries({ queryKey: ["POST labels", queueId] }),
  })
}

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

/** `leave`: goes to a page that is not the queue's, which would ask for what is gone. */
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
