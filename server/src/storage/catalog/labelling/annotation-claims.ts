/**
 * Which item an annotator works on: leases with an end, so that no two are handed the same place of
 * an item. All of it on a locked queue (`annotation-lock.ts`); the next items are chosen by `annotation_take`
 * (`annotation-functions.ts`), whether one is asked for or several.
 *
 * Handing out takes the first item with a free place beyond the annotator's cursor: an index finds
 * it, however many items are done. That the cursor may pass by items for good rests on one rule: a
 * place that becomes free again puts its item at the end of the queue.
 */
import { type Kysely, sql } from "kysely"
import { type AnnotationItemRecord, itemColumns, type StoredItem, toItemRecord } from "./annotation-items.ts"
import { type LockedQueue, withLockedQueue } from "./annotation-lock.ts"
import type { QueueKey } from "./annotation-queues.ts"
import { isUuid } from "../identifiers.ts"
import { isoText } from "../iso-time.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { Catalog } from "../schema.ts"

export interface Lease {
  /** ISO 8601, UTC. */
  expires_at: string
}

export interface ClaimedItem {
  /** null: none is left for the annotator, for now. */
  item: AnnotationItemRecord | null
  lease: Lease | null
  /** Leases of the queue; 0 with an item. */
  leased: number
}

/**
 * The item that the annotator holds, its lease prolonged, else the next one for them; null: there
 * is no such queue. `leaseSeconds` null: the queue's.
 */
export async function claimNext(
  database: CatalogDatabase,
  { projectId, queueId }: QueueKey,
  userId: string,
  leaseSeconds: number | null,
): Promise<ClaimedItem | null> {
  if (!isUuid(queueId)) return null
  const { rows } = await sql<StoredItem & { expires_at: string; leased: number }>`
    select ${itemColumns}, null::integer as position_in_queue, n.leased, ${isoText<string>("n.expires_at")} as expires_at
    from annotation_next(${projectId}, ${queueId}, ${userId}, ${leaseSeconds}) as n, lateral (select (n.item).*) as i
  `.execute(database)
  const [row] = rows
  if (row === undefined) return null
  const { expires_at, leased, ...item } = row
  if (expires_at === null) return { item: null, lease: null, leased }
  return { item: toItemRecord(item), lease: { expires_at }, leased }
}

export interface HeldItem {
  item: AnnotationItemRecord
  lease: Lease
}

/**
 * Prolongs and returns all that the annotator holds: the item in hand, and up to `count` behind it, which are taken now
 * where they are missing. An annotator who holds nothing, with nothing free, takes an item that somebody else holds ahead:
 * the last one that they have not begun. `leased`: leases of the queue, 0 for an annotator who holds something. null: there
 * is no such queue.
 */
export async function claimAhead(
  database: CatalogDatabase,
  key: QueueKey,
  { userId, count, leaseSeconds }: { userId: string; count: number; leaseSeconds: number | null },
): Promise<{ held: HeldItem[]; leased: number } | null> {
  return withLockedQueue(database, key, async (transaction, queue) => {
    const seconds = leaseSeconds ?? queue.leaseSeconds
    const own = await transaction
      .updateTable("annotation_leases")
      .set({ expires_at: leaseEnd(seconds) })
      .where("queue_id", "=", queue.id)
      .where("user_id", "=", userId)
      .returning("item_id")
      .execute()
    const missing = count + 1 - own.length
    if (missing > 0) {
      await sql`select from annotation_take(${queue.id}, ${userId}, ${missing}, ${seconds})`.execute(transaction)
    }
    const held = await findHeld(transaction, queue.id, userId)
    if (held.length > 0) return { held, leased: 0 }
    if (await takeHeldAhead(transaction, queue.id, userId, seconds)) {
      return { held: await findHeld(transaction, queue.id, userId), leased: 0 }
    }
    const { leased } = await transaction
      .selectFrom("annotation_leases")
      .select(({ fn }) => fn.countAll<number>().as("leased"))
      .where("queue_id", "=", queue.id)
      .executeTakeFirstOrThrow()
    return { held, leased }
  })
}

const leaseEnd = (seconds: number) => sql<Date>`clock_timestamp() + make_interval(secs => ${seconds}::integer)`

/** Whether there was one to take. The item's places stay as they are: one of its leases changes hands. */
async function takeHeldAhead(
  transaction: Kysely<Catalog>,
  queueId: string,
  userId: string,
  seconds: number,
): Promise<boolean> {
  const { rows } = await sql`
    update annotation_leases set user_id = ${userId}, leased_at = clock_timestamp(), expires_at = ${leaseEnd(seconds)}
    where (item_id, user_id) in (
      select l.item_id, l.user_id from annotation_leases l join annotation_items i on i.id = l.item_id
      where l.queue_id = ${queueId} and l.user_id <> ${userId} and i.deleted_at is null
        and exists (select 1 from annotation_leases e where e.queue_id = l.queue_id and e.user_id = l.user_id
          and (e.leased_at, e.item_id) < (l.leased_at, l.item_id))
        and not exists (select 1 from annotation_progress p
          where p.item_id = l.item_id and p.user_id in (l.user_id, ${userId}))
      order by l.leased_at desc, l.item_id desc limit 1)
    returning item_id`.execute(transaction)
  return rows.length > 0
}

async function findHeld(transaction: Kysely<Catalog>, queueId: string, userId: string): Promise<HeldItem[]> {
  const { rows } = await sql<StoredItem & { expires_at: string }>`
    select ${itemColumns}, null::integer as position_in_queue, ${isoText<string>("l.expires_at")} as expires_at
    from annotation_leases l join annotation_items i on i.id = l.item_id
    where l.queue_id = ${queueId} and l.user_id = ${userId} and i.deleted_at is null
    order by l.leased_at, l.item_id`.execute(transaction)
  return rows.map(({ expires_at, ...item }) => ({ item: toItemRecord(item), lease: { expires_at } }))
}

/** A lease on this item, new or prolonged. Whether a new one finds a free place is the caller's to know. */
export async function putLease(
  transaction: Kysely<Catalog>,
  { id: queueId }: LockedQueue,
  { itemId, userId, isNew }: { itemId: string; userId: string; isNew: boolean },
  leaseSeconds: number,
): Promise<Lease> {
  if (isNew) {
    await transaction
      .updateTable("annotation_items")
      .set((item) => ({ free_places: item("free_places", "-", 1) }))
      .where("id", "=", itemId)
      .execute()
  }
  const { rows } = await sql<Lease>`
    select ${isoText<string>("l")} as expires_at
    from annotation_lease(${queueId}, ${itemId}, ${userId}, ${leaseSeconds}) as l`.execute(transaction)
  const [lease] = rows
  if (lease === undefined) throw new Error("a lease has an end")
  return lease
}

/** Gives the annotator's place on the item back, if they have one. */
export async function releaseLease(
  transaction: Kysely<Catalog>,
  { id: queueId }: LockedQueue,
  itemId: string,
  userId: string,
): Promise<void> {
  const released = await transaction
    .deleteFrom("annotation_leases")
    .where("item_id", "=", itemId)
    .where("user_id", "=", userId)
    .returning("item_id")
    .execute()
  if (released.length > 0) await sql`select annotation_free(${queueId}, array[${itemId}::uuid])`.execute(transaction)
}
