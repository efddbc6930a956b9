/**
 * Work on the items of a queue: who holds which, and what they have done. An annotator has a place
 * of an item while they hold a lease on it and once they have completed it; skipping gives it back.
 */
import { HeddleError } from "../../errors.ts"
import { claimNext, countLeases, type Lease, putLease, releaseLease } from "../../storage/catalog/annotation-claims.ts"
import { type LockedQueue, withLockedQueue } from "../../storage/catalog/annotation-lock.ts"
import { findOwnItem, moveProgress, type OwnItem } from "../../storage/catalog/annotation-progress.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import type { AnnotationItem } from "../../wire/evaluation/annotation-queue.ts"
import { type AnnotationEvent, annotationTransitions, eventFor } from "./annotation-states.ts"
import { itemNotFound, shownItem } from "./items.ts"
import { type QueueAccess, queueNotFound } from "./queues.ts"

type Transaction = Parameters<Parameters<typeof withLockedQueue>[2]>[0]

/** What the caller holds already, else the next item for them. @throws {HeddleError} `not_found`. */
export async function handOutNext(database: CatalogDatabase, access: QueueAccess, leaseSeconds: number | null) {
  return onQueue(database, access, async (transaction, queue) => {
    const claimed = await claimNext(transaction, queue, access.project.userId, leaseSeconds ?? queue.leaseSeconds)
    if (claimed === null) return { item: null, lease: null, leased_by_others: await countLeases(transaction, queue) }
    return { item: shownItem(access, claimed.item), lease: claimed.lease, leased_by_others: 0 }
  })
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
    if (!own.isLeased && own.freePlaces <= 0) throw isFull(itemId, queue)
    const holder = { itemId, userId: access.project.userId, isNew: !own.isLeased }
    const lease = await putLease(transaction, queue, holder, leaseSeconds ?? queue.leaseSeconds)
    return { item: shownItem(access, own.item), lease }
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
  return onItem(database, access, itemId, async (transaction, queue, own) => {
    const { item } = await move(transaction, queue, own, { event, userId: access.project.userId })
    return shownItem(access, item)
  })
}

/** Takes the caller's completed or skipped back. @throws {HeddleError} as {@link setProgress}. */
export async function undoProgress(database: CatalogDatabase, access: QueueAccess, itemId: string) {
  return onItem(database, access, itemId, async (transaction, queue, own) => {
    const { item, lease } = await move(transaction, queue, own, { event: "undo", userId: access.project.userId })
    return { item: shownItem(access, item), lease }
  })
}

/** One event of the state table, with what it does to the item's places. */
async function move(
  transaction: Transaction,
  queue: LockedQueue,
  { item, ownState, isLeased, freePlaces }: OwnItem,
  { event, userId }: { event: AnnotationEvent; userId: string },
) {
  const to = annotationTransitions[ownState][event]
  if (to === "same") return { item, lease: null }
  if (to === "refused") throw refusal(item.id, event, ownState)
  const hasPlace = isLeased || ownState === "completed"
  if (to !== "skipped" && !hasPlace && queue.isEnforced && freePlaces <= 0) throw isFull(item.id, queue)
  const record = { itemId: item.id, userId, event, from: ownState, to }
  if (to === "skipped") {
    await releaseLease(transaction, queue, item.id, userId)
    return { item: await moveProgress(transaction, { ...record, placesTaken: 0, endsLease: false }), lease: null }
  }
  if (to === "completed") {
    const moved = await moveProgress(transaction, { ...record, placesTaken: hasPlace ? 0 : 1, endsLease: true })
    return { item: moved, lease: null }
  }
  // Work that begins is held for the annotator where there is a place: the completed one's becomes a lease again.
  const holds = hasPlace || freePlaces > 0
  const isNew = ownState !== "completed" && !isLeased
  const lease = holds
    ? await putLease(transaction, queue, { itemId: item.id, userId, isNew }, queue.leaseSeconds)
    : null
  const moved = await moveProgress(transaction, { ...record, placesTaken: 0, endsLease: false })
  return { item: moved, lease }
}

function refusal(itemId: string, event: AnnotationEvent, state: string): HeddleError {
  const message =
    event === "undo"
      ? `there is nothing of yours to take back on item ${itemId}`
      : `cannot ${event} item ${itemId}: you have ${state} it, which is final; take that back first`
  return new HeddleError("value_error", message)
}

function isFull(itemId: string, { places }: LockedQueue): HeddleError {
  const annotators = places === 1 ? "its one annotator" : `all of its ${places} annotators`
  return new HeddleError("conflict", `item ${itemId} has ${annotators}; ask for the next item`)
}

async function onItem<T>(
  database: CatalogDatabase,
  access: QueueAccess,
  itemId: string,
  work: (transaction: Transaction, queue: LockedQueue, own: OwnItem) => Promise<T>,
): Promise<T> {
  return onQueue(database, access, async (transaction, queue) => {
    const own = await findOwnItem(transaction, queue, itemId, access.project.userId)
    if (own === null) throw itemNotFound(access, itemId)
    return work(transaction, queue, own)
  })
}

async function onQueue<T>(
  database: CatalogDatabase,
  access: QueueAccess,
  work: (transaction: Transaction, queue: LockedQueue) => Promise<T>,
): Promise<T> {
  const done = await withLockedQueue(database, access, async (transaction, queue) => ({
    result: await work(transaction, queue),
  }))
  if (done === null) throw queueNotFound(access.queueId)
  return done.result
}
