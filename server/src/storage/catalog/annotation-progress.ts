/** What each annotator has done with each item: evaluation-store-objects 2.5. On a locked queue. */
import { type Kysely, sql } from "kysely"
import { type AnnotationItemRecord, isLiveIn, itemColumns, type StoredItem, toItemRecord } from "./annotation-items.ts"
import type { LockedQueue } from "./annotation-lock.ts"
import type { OwnState } from "./annotation-schema.ts"
import { isUuid } from "./identifiers.ts"
import { isoText } from "./iso-time.ts"
import type { CatalogDatabase } from "./open-catalog.ts"
import type { Catalog } from "./schema.ts"

export interface OwnItem {
  item: AnnotationItemRecord
  ownState: OwnState
  isLeased: boolean
  freePlaces: number
}

/** A live item and what the annotator has to do with it; null: the queue has no such item. */
export async function findOwnItem(
  transaction: Kysely<Catalog>,
  { id: queueId }: LockedQueue,
  itemId: string,
  userId: string,
): Promise<OwnItem | null> {
  if (!isUuid(itemId)) return null
  const { rows } = await sql<StoredItem & Omit<OwnItem, "item">>`
    select ${itemColumns}, null::integer as position_in_queue, i.free_places as "freePlaces",
      coalesce(p.state, 'unstarted') as "ownState", l.item_id is not null as "isLeased"
    from annotation_items i
    left join annotation_progress p on p.item_id = i.id and p.user_id = ${userId}
    left join annotation_leases l on l.item_id = i.id and l.user_id = ${userId}
    where i.id = ${itemId}`.execute(transaction)
  const [row] = rows
  if (row === undefined || !isLiveIn(queueId, row)) return null
  const { ownState, isLeased, freePlaces, ...item } = row
  return { item: toItemRecord(item), ownState, isLeased, freePlaces }
}

export interface ProgressMove {
  itemId: string
  userId: string
  event: string
  from: OwnState
  to: OwnState
  /** What the move takes from the item's free places; may be negative. */
  placesTaken: number
  /** The lease that ends with the move, or stays. */
  endsLease: boolean
}

const finished = new Set<OwnState>(["completed", "skipped"])

/** Stores the annotator's new state, that of the item, and the history. The item as it is then. */
export async function moveProgress(
  transaction: Kysely<Catalog>,
  { itemId, userId, event, from, to, placesTaken, endsLease }: ProgressMove,
): Promise<AnnotationItemRecord> {
  const finishedMore = Number(finished.has(to)) - Number(finished.has(from))
  const { rows } = await sql<StoredItem>`
    with recorded as (
      insert into annotation_progress (item_id, user_id, state) values (${itemId}, ${userId}, ${to})
      on conflict (item_id, user_id) do update set state = excluded.state, updated_at = statement_timestamp()),
    told as (
      insert into annotation_history (item_id, user_id, event, state_before, state_after)
      values (${itemId}, ${userId}, ${event}, ${from}, ${to})),
    ended as (
      delete from annotation_leases where item_id = ${itemId} and user_id = ${userId} and ${endsLease})
    update annotation_items i set annotation_state = ${to}, annotator_user_id = ${userId},
      free_places = free_places - ${placesTaken}, finished_count = finished_count + ${finishedMore}
    where i.id = ${itemId}
    returning ${itemColumns}, null::integer as position_in_queue`.execute(transaction)
  const [row] = rows
  if (row === undefined) throw new Error("the item was there when its queue was locked")
  return toItemRecord(row)
}

export interface HistoryEntry {
  annotator_user_id: string
  event: string
  state_before: OwnState
  state_after: OwnState
  created_at: string
}

/** Every move of an item's annotators, the oldest first. */
export async function readHistory(database: CatalogDatabase, itemId: string): Promise<HistoryEntry[]> {
  return database
    .selectFrom("annotation_history")
    .select(["user_id as annotator_user_id", "event", "state_before", "state_after"])
    .select(isoText<string>("created_at").as("created_at"))
    .where("item_id", "=", itemId)
    .orderBy("sequence")
    .execute()
}

/** Who has completed each of the items. */
export async function findCompleters(
  database: CatalogDatabase,
  itemIds: readonly string[],
): Promise<Map<string, Set<string>>> {
  if (itemIds.length === 0) return new Map()
  const rows = await database
    .selectFrom("annotation_progress")
    .select(["item_id", "user_id"])
    .where("item_id", "in", itemIds)
    .where("state", "=", "completed")
    .execute()
  const users = Map.groupBy(rows, (row) => row.item_id)
  return new Map([...users].map(([item, records]) => [item, new Set(records.map(({ user_id }) => user_id))]))
}
