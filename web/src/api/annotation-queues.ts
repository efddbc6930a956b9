/** Annotation queues: `/annotation_queues/…`. */
import type { AnnotationQueue, queueStatsAnswer } from "@heddle/server/wire/evaluation/annotation-queue.ts"
import { queryOptions, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "./api-error.ts"
import { sendForLines } from "./client.ts"
import { jsonQuery } from "./queries.ts"

interface Live {
  refetchInterval?: number | false
  enabled?: boolean
}

export function useQueues(body: { project_id: string; limit?: number }, live: Live = {}) {
  const query = queryOptions<AnnotationQueue[], ApiError>({
    queryKey: ["POST /annotation_queues/query", body],
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
