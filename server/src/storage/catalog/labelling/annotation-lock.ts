/**
 * One queue, changed by one caller at a time. Whatever hands out items or ends work on them first
 * locks the queue's row. So a statement that follows sees everything that was done before, places
 * are given out in the order in which they become visible, and a queue is never deleted under an
 * annotator's hands.
 */
import { type Kysely, sql, type Transaction } from "kysely"
import type { QueueKey } from "./annotation-queues.ts"
import { isUuid } from "../identifiers.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { Catalog } from "../schema.ts"

export interface LockedQueue {
  id: string
  /** Annotators that an item is for. */
  places: number
  /** No more than `places` may complete an item. */
  isEnforced: boolean
  leaseSeconds: number
}

/** Runs `work` on a live queue that nobody else changes meanwhile; null: there is none. */
export async function withLockedQueue<T>(
  database: CatalogDatabase,
  { projectId, queueId }: QueueKey,
  work: (transaction: Transaction<Catalog>, queue: LockedQueue) => Promise<T>,
): Promise<T | null> {
  if (!isUuid(queueId)) return null
  return database.transaction().execute(async (transaction) => {
    const { rows } = await sql<LockedQueue>`
      select id, coalesce(required_annotators, 1) as places, required_annotators is not null as "isEnforced",
        lease_seconds as "leaseSeconds" from annotation_lock(${projectId}, ${queueId})`.execute(transaction)
    const [queue] = rows
    return queue === undefined ? null : work(transaction, queue)
  })
}

/** Follows a change of `required_annotators`. Items that have a free place now and had none go to the end of the queue. */
export async function addPlaces(transaction: Kysely<Catalog>, queueId: string, places: number): Promise<void> {
  if (places === 0) return
  await sql`
    with opened as (
      select id, row_number() over (order by place) as position from annotation_items
      where queue_id = ${queueId} and free_places <= 0 and free_places + ${places} > 0),
    queue as (
      update annotation_queues set last_place = last_place + (select count(*) from opened)
      where id = ${queueId} returning last_place - (select count(*) from opened) as last)
    update annotation_items i set free_places = free_places + ${places},
      place = coalesce((select queue.last + opened.position from opened, queue where opened.id = i.id), i.place)
    where i.queue_id = ${queueId}`.execute(transaction)
}
