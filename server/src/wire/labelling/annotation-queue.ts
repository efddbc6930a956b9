/**
 * Annotation queues and their items: evaluation-store-objects 2.5, 2.6 and 6. What is not in the
 * reference says so; clients that do not know it see no change. Clients send null for what they
 * leave unset.
 */
import { z } from "zod"
import { fieldList, keyList, textList } from "../bounded-list.ts"
import { listRange } from "../queries/list-range.ts"
import { sortKeys } from "../queries/query.ts"

export const queueParams = z.object({ queue_id: z.string() })
export const itemParams = z.object({ queue_id: z.string(), item_id: z.string() })
export const ofProject = z.object({ project_id: z.string() })

const longestLeaseSeconds = 7 * 24 * 3600
const mostAnnotators = 1000

/** How long an item stays handed out. Not in the reference. */
export const leaseSeconds = z.int().min(1).max(longestLeaseSeconds)

/** Neither is in the reference. */
const handingOut = {
  /** Annotators who complete an item, and no more; 0: the server does not count. */
  required_annotators: z.int().min(0).max(mostAnnotators).nullish(),
  lease_seconds: leaseSeconds.nullish(),
}

/**
 * A ref of `scorer_refs`, which may also be written `scorer/<name>:<version>` (6.2), as the ref of an object that every other
 * request takes. Any other text is returned as it is.
 */
export function asObjectRef(ref: string): string {
  return ref.replace(/^(weave:\/\/\/[^/]+\/[^/]+\/)scorer\//, "$1object/")
}

export const queueCreateBody = z.looseObject({
  project_id: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  scorer_refs: textList,
  ...handingOut,
})

export const queueCreated = z.object({ id: z.string() })

/** Null and absent members leave the queue as it is. */
export const queueUpdateBody = z.looseObject({
  project_id: z.string(),
  name: z.string().nullish(),
  description: z.string().nullish(),
  scorer_refs: textList.nullish(),
  ...handingOut,
})

const time = z.iso.datetime()

export const annotationQueue = z.object({
  id: z.string(),
  project_id: z.string(),
  name: z.string(),
  description: z.string(),
  scorer_refs: z.array(z.string()),
  created_at: time,
  created_by: z.string(),
  updated_at: time,
  deleted_at: time.nullable(),
  /** Only where it was set. Not in the reference. */
  required_annotators: z.int().optional(),
  /** Only where it is not 900. Not in the reference. */
  lease_seconds: z.int().optional(),
})

export const queueAnswer = z.object({ queue: annotationQueue })

export const queuesQueryBody = z.looseObject({
  project_id: z.string(),
  /** Part of the name, in any case. */
  name: z.string().nullish(),
  sort_by: sortKeys.nullish(),
  ...listRange,
})

export const queueStatsBody = z.looseObject({ project_id: z.string(), queue_ids: textList })

export const queueStatsAnswer = z.object({
  stats: z.array(z.object({ queue_id: z.string(), total_items: z.int(), completed_items: z.int() })),
})

export const annotationState = z.enum(["unstarted", "in_progress", "completed", "skipped"])

export const annotationItem = z.object({
  id: z.string(),
  project_id: z.string(),
  queue_id: z.string(),
  call_id: z.string(),
  call_started_at: time,
  call_ended_at: time.nullable(),
  call_op_name: z.string(),
  call_trace_id: z.string(),
  display_fields: z.array(z.string()),
  added_by: z.string().nullable(),
  annotation_state: annotationState,
  annotator_user_id: z.string().nullable(),
  created_at: time,
  created_by: z.string(),
  updated_at: time,
  deleted_at: time.nullable(),
  position_in_queue: z.int().nullable(),
})

export const itemAnswer = z.object({ item: annotationItem })

export const itemsAddBody = z.looseObject({
  project_id: z.string(),
  call_ids: keyList,
  display_fields: textList,
})

export const itemsAdded = z.object({ added_count: z.int(), duplicates: z.int() })

export const itemsQueryBody = z.looseObject({
  project_id: z.string(),
  filter: z
    .looseObject({
      id: z.string().nullish(),
      call_id: z.string().nullish(),
      call_op_name: z.string().nullish(),
      call_trace_id: z.string().nullish(),
      added_by: z.string().nullish(),
      annotation_states: fieldList(annotationState).nullish(),
    })
    .nullish(),
  sort_by: sortKeys.nullish(),
  include_position: z.boolean().nullish(),
  ...listRange,
})

export const itemsPage = z.object({ items: z.array(annotationItem) })

/** `annotation_state`: `in_progress`, `completed` or `skipped`; any other text is 400. */
export const progressBody = z.looseObject({ project_id: z.string(), annotation_state: z.string() })

export type QueueCreateBody = z.output<typeof queueCreateBody>
export type QueueUpdateBody = z.output<typeof queueUpdateBody>
export type QueuesQueryBody = z.output<typeof queuesQueryBody>
export type ItemsAddBody = z.output<typeof itemsAddBody>
export type ItemsQueryBody = z.output<typeof itemsQueryBody>
export type AnnotationQueue = z.output<typeof annotationQueue>
export type AnnotationItem = z.output<typeof annotationItem>
