/** The annotators of each queue and their progress: not in the reference. */
import { z } from "zod"
import { textList } from "../bounded-list.ts"

export const queueWorkBody = z.looseObject({ project_id: z.string(), queue_ids: textList })

/** Each item counts in one of these, the first that fits. */
export const queueItemCounts = z.object({
  /** Completed by as many as it needs. */
  finished: z.int(),
  /** In somebody's hands. */
  held: z.int(),
  /** Completed by some of those it needs. */
  part: z.int(),
  /** Nobody completed it, and somebody skipped it. */
  returned: z.int(),
  open: z.int(),
})

export const queueAnnotator = z.object({
  annotator_user_id: z.string(),
  /** null: the user is gone. */
  username: z.string().nullable(),
  completed: z.int(),
  skipped: z.int(),
  /** Items in their hands now. */
  holding: z.int(),
  last_active_at: z.iso.datetime(),
})

export const queueCaller = z.object({
  user_id: z.string(),
  username: z.string(),
  may_label: z.boolean(),
  may_write: z.boolean(),
})

export const ownItemCounts = z.object({ completed: z.int(), skipped: z.int(), open: z.int() })

export const queueWorkAnswer = z.object({
  /** The caller. */
  caller: queueCaller,
  /** One for each id of a live queue of the project, in order. */
  queues: z.array(
    z.object({
      queue_id: z.string(),
      total_items: z.int(),
      items: queueItemCounts,
      /** Items that the caller completed or skipped, and may still get. */
      own: ownItemCounts,
      /** Whoever has done something or holds something, by name. */
      annotators: z.array(queueAnnotator),
    }),
  ),
})

export type QueueWorkAnswer = z.output<typeof queueWorkAnswer>
