/** What annotators agree on, and decisions where they do not: `/annotation_queues/{id}/agreement`, `…/labels/query`, `…/final_labels`. */
import type { labelledItems, QueueAgreement } from "@heddle/server/wire/labelling/annotation-label.ts"
import { useMutation, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"
import type { Live } from "./annotation-queues.ts"

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
