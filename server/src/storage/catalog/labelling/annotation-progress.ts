/** Progress of each annotator with each item: evaluation-store-objects 2.5. */
import { type Kysely, sql } from "kysely"
import { type AnnotationItemRecord, isLiveIn, itemColumns, type StoredItem, toItemRecord } from "./annotation-items.ts"
import type { LockedQueue } from "./annotation-lock.ts"
import type { QueueKey } from "./annotation-queues.ts"
import type { OwnState } from "./annotation-schema.ts"
import { isUuid } from "../identifiers.ts"
import { isoText } from "../iso-time.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { Catalog } from "../schema.ts"

export interface ProgressEvent {
  itemId: string
  userId: string
  event: string
  /** The state that the event leads to, for each of the annotator's own states. */
  targets: Record<OwnState, string>
}

export type ProgressResult =
  /** The event has no effect, may have none, or finds no place. */
  | { outcome: "same" | "refused" | "full"; item: AnnotationItemRecord; ownState: OwnState; expiresAt: null }
  | { outcome: OwnState; item: AnnotationItemRecord; ownState: OwnState; expiresAt: string | null }
  | { outcome: "missing" }

/**
 * Stores what the event makes of the annotator's state, with the item's places and its history.
 * `expiresAt`: of the lease that work began with. null: there is no such queue.
 */
export async function applyProgress(
  database: CatalogDatabase,
  { projectId, queueId }: QueueKey,
  { itemId, userId, event, targets }: ProgressEvent,
): Promise<ProgressResult | null> {
  if (!isUuid(queueId)) return null
  const known = isUuid(itemId) ? itemId : noItem
  const { rows } = await sql<StoredItem & { outcome: string; ownState: OwnState; expiresAt: string | null }>`
    select ${itemColumns}, null::integer as position_in_queue, e.outcome, e.own_state as "ownState",
      ${isoText<string | null>("e.expires_at")} as "expiresAt"
    from annotation_event(${projectId}, ${queueId}, ${known}, ${userId}, ${event}, ${JSON.stringify(targets)}) as e,
      lateral (select (e.item).*) as i`.execute(database)
  const [row] = rows
  if (row === undefined) return null
  const { outcome, ownState, expiresAt, ...item } = row
  if (outcome === "missing") return { outcome }
  return { outcome, ownState, expiresAt, item: toItemRecord(item) } as ProgressResult
}

/** Is nobody's. */
const noItem = "00000000-0000-0000-0000-000000000000"

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

/** The annotators who have completed each of the items. */
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
