/** Annotation queues, their progress and who works on them: `/annotation_queues/…`. Changes of them: queue-changes.ts. */
import type { AnnotationQueue, queueStatsAnswer } from "@heddle/server/wire/labelling/annotation-queue.ts"
import type { QueueWorkAnswer } from "@heddle/server/wire/labelling/annotation-work.ts"
import { queryOptions, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForLines } from "../client.ts"
import { jsonQuery } from "../queries.ts"

/** The key of {@link useQueues}. */
export const queuesKey = "POST /annotation_queues/query"
/** The key of {@link useQueueWork}, which changes of items make stale. */
export const workKey = "POST /annotation_queues/work"

export interface Live {
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
