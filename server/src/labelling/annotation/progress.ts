/**
 * Work on the items of a queue: who holds which, and what they have done. An annotator has a place
 * of an item while they hold a lease on it and once they have completed it; skipping gives it back.
 */
import { HeddleError } from "../../errors.ts"
import {
  claimAhead,
  claimNext,
  type Lease,
  putLease,
  releaseLease,
} from "../../storage/catalog/labelling/annotation-claims.ts"
import { type LockedQueue, withLockedQueue } from "../../storage/catalog/labelling/annotation-lock.ts"
import { applyProgress, findOwnItem, type OwnItem } from "../../storage/catalog/labelling/annotation-progress.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import type { AnnotationItem } from "../../wire/labelling/annotation-queue.ts"
import { type AnnotationEvent, eventFor, targetsOf } from "./annotation-states.ts"
import { itemNotFound, toItemAnswer } from "./items.ts"
import { type QueueAccess, queueNotFound } from "./queues.ts"

type Transaction = Parameters<Parameters<typeof withLockedQueue>[2]>[0]

interface Wanted {
  leaseSeconds: number | null
  /** How many items the caller holds behind the first; null: what they hold already. */
  ahead: number | null
}

/**
 * What the caller holds already, else the next item for them. Whoever asks for items ahead shares: what they have not begun
 * goes to somebody who would have none, and where nothing is free they get what another holds ahead.
 * @throws {HeddleError} `not_found`.
 */
export async function handOutNext(database: CatalogDatabase, access: QueueAccess, { leaseSeconds, ahead }: Wanted) {
  const userId = access.project.userId
  if (ahead !== null) {
    const share = await claimAhead(database, access, { userId, count: ahead, leaseSeconds })
    if (share === null) throw queueNotFound(access.queueId)
    const [first, ...behind] = share.held.map(({ item, lease }) => ({ item: toItemAnswer(access, item), lease }))
    const inHand = first ?? { item: null, lease: null }
    return { ...inHand, leased_by_others: first === undefined ? share.leased : 0, ahead: behind }
  }
  const claimed = await claimNext(database, access, userId, leaseSeconds)
  if (claimed === null) throw queueNotFound(access.queueId)
  const { item, lease, leased } = claimed
  return { item: item === null ? null : toItemAnswer(access, item), lease, leased_by_others: leased }
}

/** Takes or prolongs the caller's lease on one item. @throws {HeddleError} `not_found`, `conflict`. */
export async function holdItem(
  database: CatalogDatabase,
  access: QueueAccess,
  itemId: string,
  leaseSeconds: number | null,
): Promise<{ item: AnnotationItem; lease: Lease }> {
  return onItem(database, access, itemId, async (transaction, queue, own) => {
    if (own.ownState === "completed" || own.ownState === "skipped") {
      throw new HeddleError("conflict", `you have ${own.ownState} item ${itemId}; take that back to work on it again`)
    }
    if (!own.isLeased && own.freePlaces <= 0) throw isFull(itemId)
    const holder = { itemId, userId: access.project.userId, isNew: !own.isLeased }
    const lease = await putLease(transaction, queue, holder, leaseSeconds ?? queue.leaseSeconds)
    return { item: toItemAnswer(access, own.item), lease }
  })
}

/** Gives the item back to the queue; without a lease nothing changes. @throws {HeddleError} `not_found`. */
export async function releaseItem(database: CatalogDatabase, access: QueueAccess, itemId: string): Promise<void> {
  await onItem(database, access, itemId, (transaction, queue) =>
    releaseLease(transaction, queue, itemId, access.project.userId),
  )
}

/** @throws {HeddleError} `value_error` for a state or change that is not allowed, `not_found`, `conflict`. */
export async function setProgress(
  database: CatalogDatabase,
  access: QueueAccess,
  itemId: string,
  state: string,
): Promise<AnnotationItem> {
  const event = eventFor(state)
  if (event === null) {
    throw new HeddleError(
      "value_error",
      `annotation_state "${state}" is not one of "in_progress", "completed", "skipped"`,
    )
  }
  return (await apply(database, access, itemId, event)).item
}

/** Takes the caller's completed or skipped back. @throws {HeddleError} as {@link setProgress}. */
export async function undoProgress(database: CatalogDatabase, access: QueueAccess, itemId: string) {
  return apply(database, access, itemId, "undo")
}

async function apply(database: CatalogDatabase, access: QueueAccess, itemId: string, event: AnnotationEvent) {
  const result = await applyProgress(database, access, {
    itemId,
    userId: access.project.userId,
    event,
    targets: targetsOf(event),
  })
  if (result === null) throw queueNotFound(access.queueId)
  if (result.outcome === "missing") throw itemNotFound(access, itemId)
  if (result.outcome === "refused") throw refusal(itemId, event, result.ownState)
  if (result.outcome === "full") throw isFull(itemId)
  const { item, expiresAt } = result
  return { item: toItemAnswer(access, item), lease: expiresAt === null ? null : { expires_at: expiresAt } }
}

function refusal(itemId: string, event: AnnotationEvent, state: string): HeddleError {
  const message =
    event === "undo"
      ? `there is nothing of yours to take back on item ${itemId}`
      : `cannot ${event} item ${itemId}: you have ${state} it, which is final; take that back first`
  return new HeddleError("value_error", message)
}

function isFull(itemId: string): HeddleError {
  return new HeddleError("conflict", `item ${itemId} has all of its annotators; ask for the next item`)
}

/** On a locked queue. */
async function onItem<T>(
  database: CatalogDatabase,
  access: QueueAccess,
  itemId: string,
  work: (transaction: Transaction, queue: LockedQueue, own: OwnItem) => Promise<T>,
): Promise<T> {
  const done = await withLockedQueue(database, access, async (transaction, queue) => {
    const own = await findOwnItem(transaction, queue, itemId, access.project.userId)
    if (own === null) throw itemNotFound(access, itemId)
    return { result: await work(transaction, queue, own) }
  })
  if (done === null) throw queueNotFound(access.queueId)
  return done.result
}
