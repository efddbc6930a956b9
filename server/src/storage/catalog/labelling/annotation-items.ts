/** Items of annotation queues: evaluation-store-objects 6.3. */
import { type Kysely, type RawBuilder, sql } from "kysely"
import type { LockedQueue } from "./annotation-lock.ts"
import type { OwnState } from "./annotation-schema.ts"
import { isUuid } from "../identifiers.ts"
import { isoText } from "../iso-time.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { Catalog } from "../schema.ts"

/** Times are ISO 8601, UTC, to the microsecond. */
export interface AnnotationItemRecord {
  id: string
  queue_id: string
  call_id: string
  call_started_at: string
  call_ended_at: string | null
  call_op_name: string
  call_trace_id: string
  display_fields: string[]
  added_by: string
  annotation_state: OwnState
  annotator_user_id: string | null
  created_at: string
  created_by: string
  updated_at: string
  deleted_at: string | null
  /** From 1, in the order asked for; null where it was not asked for. */
  position_in_queue: number | null
}

/** Fields of its call that an item keeps. */
export interface ItemCall {
  id: string
  started_at: string
  ended_at: string | null
  op_name: string
  trace_id: string
}

export interface NewItem {
  id: string
  call: ItemCall
}

/** Adds those whose calls the queue does not have yet, in order. Gives the number added. */
export async function addItems(
  transaction: Kysely<Catalog>,
  { id: queueId, places }: LockedQueue,
  items: readonly NewItem[],
  { displayFields, userId }: { displayFields: readonly string[]; userId: string },
): Promise<number> {
  const rows = JSON.stringify(items.map(({ id, call: { id: call_id, ...call } }) => ({ ...call, id, call_id })))
  const added = await sql<{ count: number }>`
    with queue as (
      update annotation_queues set last_place = last_place + ${items.length}::integer where id = ${queueId}
      returning last_place - ${items.length}::integer as last),
    added as (
      insert into annotation_items (id, queue_id, place, free_places, call_id, call_started_at, call_ended_at,
        call_op_name, call_trace_id, display_fields, added_by, created_at, updated_at)
      select given.id, ${queueId}, queue.last + given.position, ${places}::integer, given.call_id, given.started_at, given.ended_at,
        given.op_name, given.trace_id, ${JSON.stringify(displayFields)}, ${userId}, made.at, made.at
      from queue, rows from (json_to_recordset(${rows}::json)
          as (id uuid, call_id text, started_at timestamptz, ended_at timestamptz, op_name text, trace_id text))
        with ordinality as given (id, call_id, started_at, ended_at, op_name, trace_id, position),
        -- A microsecond apart, so that a list in the order of time is in the order given.
        lateral (select statement_timestamp() + given.position * interval '1 microsecond' as at) as made
      on conflict (queue_id, call_id) where deleted_at is null do nothing
      returning 1)
    select count(*) as count from added`.execute(transaction)
  return added.rows[0]?.count ?? 0
}

export interface ItemFilter {
  id?: string | null | undefined
  call_id?: string | null | undefined
  call_op_name?: string | null | undefined
  call_trace_id?: string | null | undefined
  added_by?: string | null | undefined
  annotation_states?: readonly OwnState[] | null | undefined
}

export interface ItemPage {
  filter: ItemFilter
  order: readonly {
    field: "id" | "call_started_at" | "call_op_name" | "created_at" | "updated_at"
    direction: "asc" | "desc"
  }[]
  withPosition: boolean
  limit: number | null
  offset: number
}

/** Positions are counted before the states are looked at. */
export async function findItems(
  database: CatalogDatabase,
  queueId: string,
  { filter, order, withPosition, limit, offset }: ItemPage,
): Promise<AnnotationItemRecord[]> {
  if (filter.id != null && !isUuid(filter.id)) return []
  const { annotation_states: states } = filter
  const terms = sql.join(order.map(({ field, direction }) => sql`${sql.ref(`i.${field}`)} ${sql.raw(direction)}`))
  const position = withPosition ? sql`row_number() over (order by ${terms})::integer` : sql`null::integer`
  const { rows } = await sql<StoredItem>`
    select ${itemColumns}, i.position_in_queue from (
      select i.*, ${position} as position_in_queue from annotation_items i
      where i.queue_id = ${queueId} and i.deleted_at is null ${simpleConditions(filter)}) as i
    ${states == null || states.length === 0 ? sql`` : sql`where i.annotation_state in (${sql.join(states)})`}
    order by ${terms} limit ${limit} offset ${offset}`.execute(database)
  return rows.map(toItemRecord)
}

const exactFields = ["id", "call_id", "call_op_name", "call_trace_id", "added_by"] as const

function simpleConditions(filter: ItemFilter): RawBuilder<unknown> {
  const given = exactFields.filter((field) => filter[field] != null)
  return sql.join(
    given.map((field) => sql`and ${sql.ref(`i.${field}`)} = ${filter[field]}`),
    sql` `,
  )
}

/** A live item; null: the queue has none of this id. */
export async function findItem(
  database: Kysely<Catalog>,
  queueId: string,
  itemId: string,
): Promise<AnnotationItemRecord | null> {
  if (!isUuid(itemId)) return null
  const { rows } = await sql<StoredItem>`
    select ${itemColumns}, null::integer as position_in_queue from annotation_items i
    where i.id = ${itemId}`.execute(database)
  return rows.filter((row) => isLiveIn(queueId, row)).map(toItemRecord)[0] ?? null
}

/**
 * Not a condition of the statement: as long as the table was not analyzed, the planner would take any
 * index that begins with the queue for as good as the primary key, and read the whole queue.
 */
export function isLiveIn(queueId: string, { queue_id, deleted_at }: Pick<StoredItem, "queue_id" | "deleted_at">) {
  return queue_id === queueId.toLowerCase() && deleted_at === null
}

/** Where an item stands among those of its queue in the order in which they were added. */
export type AddedAt = Pick<AnnotationItemRecord, "id" | "created_at">

/** Also of an item that was taken out of the queue; null: the queue never had one of this id. */
export async function findAddedAt(database: CatalogDatabase, queueId: string, itemId: string): Promise<AddedAt | null> {
  if (!isUuid(itemId)) return null
  const { rows } = await sql<AddedAt & Pick<StoredItem, "queue_id">>`
    select i.id, i.queue_id, ${isoText("i.created_at")} as created_at from annotation_items i
    where i.id = ${itemId}`.execute(database)
  // As in `isLiveIn`, no condition of the statement.
  return rows.find(({ queue_id }) => queue_id === queueId.toLowerCase()) ?? null
}

/** Live items in the order in which they were added, from after one of them on, which need not be live. */
export async function findItemsAfter(
  database: CatalogDatabase,
  queueId: string,
  after: AddedAt | null,
  limit: number,
): Promise<AnnotationItemRecord[]> {
  const { rows } = await sql<StoredItem>`
    select ${itemColumns}, null::integer as position_in_queue from annotation_items i
    where i.queue_id = ${queueId} and i.deleted_at is null
      ${after === null ? sql`` : sql`and (i.created_at, i.id) > (${after.created_at}::timestamptz, ${after.id}::uuid)`}
    order by i.created_at, i.id limit ${limit}`.execute(database)
  return rows.map(toItemRecord)
}

/** Marks a live item as deleted and ends the leases on it; null: there is none. */
export async function removeItem(
  transaction: Kysely<Catalog>,
  { id: queueId }: LockedQueue,
  itemId: string,
): Promise<AnnotationItemRecord | null> {
  const item = await findItem(transaction, queueId, itemId)
  if (item === null) return null
  await transaction.deleteFrom("annotation_leases").where("item_id", "=", itemId).execute()
  const { rows } = await sql<StoredItem>`
    update annotation_items i set deleted_at = statement_timestamp(), updated_at = statement_timestamp()
    where i.id = ${itemId}
    returning ${itemColumns}, null::integer as position_in_queue`.execute(transaction)
  return rows.map(toItemRecord)[0] ?? null
}

/** An item as the catalog returns it: lists are JSON texts. */
export type StoredItem = Omit<AnnotationItemRecord, "display_fields"> & { display_fields: string }

/** Columns of the items table (alias `i`), sorted by property name. */
export const itemColumns = sql.join([
  ...["id", "queue_id", "call_id", "call_op_name", "call_trace_id", "display_fields", "added_by"].map((name) =>
    sql.ref(`i.${name}`),
  ),
  sql`i.added_by as created_by, i.annotation_state, i.annotator_user_id`,
  ...["call_started_at", "call_ended_at", "created_at", "updated_at", "deleted_at"].map(
    (name) => sql`${isoText(`i.${name}`)} as ${sql.ref(name)}`,
  ),
])

export function toItemRecord({ display_fields, ...row }: StoredItem): AnnotationItemRecord {
  return { ...row, display_fields: JSON.parse(display_fields) as string[] }
}
