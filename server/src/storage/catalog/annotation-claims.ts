/**
 * Which item an annotator works on: leases with an end, so that no two are handed the same place of
 * an item. Everything here runs on a locked queue (`annotation-lock.ts`).
 *
 * Handing out takes the first item with a free place beyond the annotator's cursor: an index finds
 * it, however many items are done. That the cursor may pass by items for good rests on one rule: a
 * place that becomes free again puts its item at the end of the queue.
 */
import { type Kysely, sql } from "kysely"
import { type AnnotationItemRecord, itemColumns, type StoredItem, toItemRecord } from "./annotation-items.ts"
import { freePlaces, type LockedQueue } from "./annotation-lock.ts"
import { isoText } from "./iso-time.ts"
import type { Catalog } from "./schema.ts"

export interface Lease {
  /** ISO 8601, UTC. */
  expires_at: string
}

export interface ClaimedItem {
  item: AnnotationItemRecord
  lease: Lease
}

/** The item that the annotator holds, its lease prolonged, else the next one for them; null: none is left for now. */
export async function claimNext(
  transaction: Kysely<Catalog>,
  { id: queueId, lastPlace }: LockedQueue,
  userId: string,
  leaseSeconds: number,
): Promise<ClaimedItem | null> {
  const { rows } = await sql<StoredItem & { expires_at: string }>`
    with own as (
      select item_id from annotation_leases
      where queue_id = ${queueId} and user_id = ${userId} order by leased_at, item_id limit 1),
    found as (
      select i.id, i.place from annotation_items i
      where i.queue_id = ${queueId} and i.free_places > 0 and i.deleted_at is null
        and i.place > coalesce((select place from annotation_cursors
          where queue_id = ${queueId} and user_id = ${userId}), 0)
        and not exists (select 1 from own)
        and not exists (select 1 from annotation_progress p
          where p.item_id = i.id and p.user_id = ${userId} and p.state in ('completed', 'skipped'))
      order by i.place limit 1),
    taken as (
      update annotation_items set free_places = free_places - 1 where id in (select id from found)),
    moved as (
      insert into annotation_cursors (queue_id, user_id, place)
      select ${queueId}, ${userId}, coalesce((select place from found), ${lastPlace}::bigint)
      where not exists (select 1 from own)
      on conflict (queue_id, user_id) do update set place = excluded.place),
    lease as (
      insert into annotation_leases (item_id, user_id, queue_id, expires_at)
      select id, ${userId}, ${queueId}, ${leaseEnd(leaseSeconds)}
      from (select item_id as id from own union all select id from found) as one
      on conflict (item_id, user_id) do update set expires_at = excluded.expires_at
      returning item_id, expires_at)
    select ${itemColumns}, null::integer as position_in_queue, ${isoText<string>("lease.expires_at")} as expires_at
    from lease join annotation_items i on i.id = lease.item_id`.execute(transaction)
  const [row] = rows
  if (row === undefined) return null
  const { expires_at, ...item } = row
  return { item: toItemRecord(item), lease: { expires_at } }
}

/** A lease on this item, new or prolonged. Whether a new one finds a free place is the caller's to know. */
export async function putLease(
  transaction: Kysely<Catalog>,
  { id: queueId }: LockedQueue,
  { itemId, userId, isNew }: { itemId: string; userId: string; isNew: boolean },
  leaseSeconds: number,
): Promise<Lease> {
  const { rows } = await sql<Lease>`
    with taken as (
      update annotation_items set free_places = free_places - 1 where id = ${itemId} and ${isNew})
    insert into annotation_leases (item_id, user_id, queue_id, expires_at)
    values (${itemId}, ${userId}, ${queueId}, ${leaseEnd(leaseSeconds)})
    on conflict (item_id, user_id) do update set expires_at = excluded.expires_at
    returning ${isoText<string>("annotation_leases.expires_at")} as expires_at`.execute(transaction)
  const [lease] = rows
  if (lease === undefined) throw new Error("an upsert returns its row")
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
  await freePlaces(
    transaction,
    queueId,
    released.map((lease) => lease.item_id),
  )
}

/** Live leases of a queue. */
export async function countLeases(transaction: Kysely<Catalog>, { id: queueId }: LockedQueue): Promise<number> {
  const { count } = await transaction
    .selectFrom("annotation_leases")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("queue_id", "=", queueId)
    .executeTakeFirstOrThrow()
  return count
}

/** By the database's clock. */
function leaseEnd(seconds: number) {
  return sql`statement_timestamp() + make_interval(secs => ${seconds})`
}
