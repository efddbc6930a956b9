/** Handing out items, taking back, removing: not in the reference. */
import { z } from "zod"
import { annotationItem, annotationState, leaseSeconds } from "./annotation-queue.ts"

export const lease = z.object({
  /** By the database's clock. */
  expires_at: z.iso.datetime(),
})

/** More than one screen of a bulk view shows. */
const mostAhead = 50

/** `lease_seconds` null: the queue's. */
export const nextBody = z.looseObject({
  project_id: z.string(),
  lease_seconds: leaseSeconds.nullish(),
  /** So many items are held for the caller behind the first; null: only that one, and nobody's are taken for it. */
  ahead: z.int().min(0).max(mostAhead).nullish(),
})

/** `lease_seconds` null: the queue's. */
export const leaseBody = z.looseObject({ project_id: z.string(), lease_seconds: leaseSeconds.nullish() })

const held = z.object({ item: annotationItem, lease })

export const nextItem = z.object({
  /** null: nothing is left for the caller, for now. */
  item: annotationItem.nullable(),
  lease: lease.nullable(),
  /** Items in other hands, which may come back: only where `item` is null, else 0. */
  leased_by_others: z.int(),
  /** Items after `item`, in order; only if `ahead` was requested. */
  ahead: z.array(held).optional(),
})

export const leaseAnswer = held

export const released = z.object({})

export const undoBody = z.looseObject({ project_id: z.string() })

/** `lease`: null where the item has no place left to hold for the caller. */
export const undoAnswer = z.object({ item: annotationItem, lease: lease.nullable() })

export const itemHistory = z.object({
  history: z.array(
    z.object({
      annotator_user_id: z.string(),
      event: z.string(),
      state_before: annotationState,
      state_after: annotationState,
      created_at: z.iso.datetime(),
    }),
  ),
})
