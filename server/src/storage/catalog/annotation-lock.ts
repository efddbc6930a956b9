/**
 * One queue, changed by one caller at a time. Whatever hands out items or ends work on them first
 * locks the queue's row. So a statement that follows sees everything that was done before, places
 * are given out in the order in which they become visible, and a queue is never deleted under an
 * annotator's hands.
 */
import { type Kysely, sql, type Transaction } from "kysely"
import type { QueueKey } from "./annotation-queues.ts"
import { isUuid } from "./identifiers.ts"
import type { CatalogDatabase } from "./open-catalog.ts"
import type { Catalog } from "./schema.ts"

export interface LockedQueue {
  id: string
  /** Annotators that an item is for. */
  places: number
  /** No more than `places` may complete an item. */
  isEnforced: boolean
  leaseSeconds: number
  lastPlace: number
}

/** Runs `work` on a live queue that nobody else changes meanwhile; null: there is none. */
export async function withLockedQueue<T>(
  database: CatalogDatabase,
  key: QueueKey,
  work: (transaction: Transaction<Catalog>, queue: LockedQueue) => Promise<T>,
): Promise<T | null> {
  if (!isUuid(key.queueId)) return null
  return database.transaction().execute(async (transaction) => {
    const locked = await lockQueue(transaction, key)
    if (locked === null) return null
    const { has_ended, ...queue } = locked
    if (has_ended) await endLeases(transaction, queue.id)
    return work(transaction, queue)
  })
}

async function lockQueue(transaction: Kysely<Catalog>, { projectId, queueId }: QueueKey) {
  const { rows } = await sql<LockedQueue & { has_ended: boolean }>`
    select id, coalesce(required_annotators, 1) as places, required_annotators is not null as "isEnforced",
      lease_seconds as "leaseSeconds", last_place as "lastPlace",
      exists (select 1 from annotation_leases l
        where l.queue_id = q.id and l.expires_at <= statement_timestamp()) as has_ended
    from annotation_queues q
    where q.id = ${queueId} and q.project_id = ${projectId} and q.deleted_at is null
    for no key update`.execute(transaction)
  return rows[0] ?? null
}

/** Leases that ran out by the database's clock give their places back. */
async function endLeases(transaction: Kysely<Catalog>, queueId: string): Promise<void> {
  const ended = await transaction
    .deleteFrom("annotation_leases")
    .where("queue_id", "=", queueId)
    .where("expires_at", "<=", sql<Date>`statement_timestamp()`)
    .returning("item_id")
    .execute()
  await freePlaces(
    transaction,
    queueId,
    ended.map((lease) => lease.item_id),
  )
}

/**
 * Gives back one place for each time that an item is named. The items go to the end of the queue,
 * where those annotators find them too who have passed them by.
 */
export async function freePlaces(
  transaction: Kysely<Catalog>,
  queueId: string,
  itemIds: readonly string[],
): Promise<void> {
  if (itemIds.length === 0) return
  await sql`
    with freed as (
      select i.id, count(*)::integer as places, row_number() over (order by i.place) as position
      from json_array_elements_text(${JSON.stringify(itemIds)}::json) as given (id)
      join annotation_items i on i.id = given.id::uuid
      group by i.id, i.place),
    queue as (
      update annotation_queues set last_place = last_place + (select count(*) from freed)
      where id = ${queueId} returning last_place - (select count(*) from freed) as last)
    update annotation_items i set free_places = i.free_places + freed.places, place = queue.last + freed.position
    from freed, queue where i.id = freed.id`.execute(transaction)
}

/** When `required_annotators` changes. Items that have a free place now and had none go to the end of the queue. */
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
