/**
 * Which item an annotator works on: leases with an end, so that no two are handed the same place of
 * an item. All of it on a locked queue (`annotation-lock.ts`).
 *
 * Handing out takes the first item with a free place beyond the annotator's cursor: an index finds
 * it, however many items are done. That the cursor may pass by items for good rests on one rule: a
 * place that becomes free again puts its item at the end of the queue.
 */
import { type Kysely, sql } from "kysely"
import { type AnnotationItemRecord, itemColumns, type StoredItem, toItemRecord } from "./annotation-items.ts"
import type { LockedQueue } from "./annotation-lock.ts"
import type { QueueKey } from "./annotation-queues.ts"
import { isUuid } from "./identifiers.ts"
import { isoText } from "./iso-time.ts"
import type { CatalogDatabase } from "./open-catalog.ts"
import type { Catalog } from "./schema.ts"

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
