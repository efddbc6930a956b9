/** Annotation queues: evaluation-store-objects 2.6 and 6. */
import { type Kysely, sql } from "kysely"
import { isUuid } from "../identifiers.ts"
import { isoTime, isoTimeOrNull } from "../iso-time.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { likePart } from "../storable-text.ts"
import type { Catalog } from "../schema.ts"

export interface AnnotationQueueRecord {
  id: string
  name: string
  description: string
  scorer_refs: string[]
  required_annotators: number | null
  lease_seconds: number
  created_by: string
  /** ISO 8601, UTC, to the microsecond; so are the others. */
  created_at: string
  updated_at: string
  deleted_at: string | null
}

export interface QueueSettings {
  name: string
  description: string
  scorer_refs: string[]
  required_annotators: number | null
  lease_seconds: number
}

/** Key of a queue, carried by every statement: its project and its id. */
export interface QueueKey {
  projectId: string
  queueId: string
}

export async function createQueue(
  database: CatalogDatabase,
  { projectId, queueId }: QueueKey,
  { scorer_refs, ...settings }: QueueSettings,
  userId: string,
): Promise<void> {
  await database
    .insertInto("annotation_queues")
    .values({
      id: queueId,
      project_id: projectId,
      ...settings,
      scorer_refs: JSON.stringify(scorer_refs),
      created_by: userId,
    })
    .execute()
}

/** A live queue; null: there is none. */
export async function findQueue(
  database: Kysely<Catalog>,
  { projectId, queueId }: QueueKey,
): Promise<AnnotationQueueRecord | null> {
  if (!isUuid(queueId)) return null
  const row = await liveQueues(database, projectId).where("id", "=", queueId).executeTakeFirst()
  return row === undefined ? null : toRecord(row)
}

/** Those of these ids that are live queues of the project. */
export async function liveQueueIds(
  database: CatalogDatabase,
  projectId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const possible = ids.filter(isUuid)
  if (possible.length === 0) return new Set()
  const rows = await database
    .selectFrom("annotation_queues")
    .select("id")
    .where("project_id", "=", projectId)
    .where("id", "in", uuidList(possible))
    .where("deleted_at", "is", null)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

export type QueueOrder = readonly { field: "id" | "name" | "created_at" | "updated_at"; direction: "asc" | "desc" }[]

/** Live queues whose name contains `name`, whatever the case. */
export async function findQueues(
  database: CatalogDatabase,
  projectId: string,
  { name, order, limit, offset }: { name: string | null; order: QueueOrder; limit: number | null; offset: number },
): Promise<AnnotationQueueRecord[]> {
  let found = liveQueues(database, projectId).offset(offset)
  if (name !== null) found = found.where("name", "ilike", likePart(name))
  for (const { field, direction } of order) found = found.orderBy(`annotation_queues.${field}`, direction)
  if (limit !== null) found = found.limit(limit)
  return (await found.execute()).map(toRecord)
}

/** Sets what is given. */
export async function updateQueue(
  transaction: Kysely<Catalog>,
  { projectId, queueId }: QueueKey,
  { scorer_refs, ...changes }: Partial<QueueSettings>,
): Promise<void> {
  await transaction
    .updateTable("annotation_queues")
    .set({
      ...changes,
      ...(scorer_refs === undefined ? {} : { scorer_refs: JSON.stringify(scorer_refs) }),
      updated_at: sql`clock_timestamp()`,
    })
    .where("project_id", "=", projectId)
    .where("id", "=", queueId)
    .execute()
}

/** Marks a live queue as deleted; null: there is none. Its items stay. */
export async function deleteQueue(
  database: CatalogDatabase,
  { projectId, queueId }: QueueKey,
): Promise<AnnotationQueueRecord | null> {
  if (!isUuid(queueId)) return null
  const row = await database
    .updateTable("annotation_queues")
    // One moment: `clock_timestamp()` would be read twice.
    .set({ deleted_at: sql`statement_timestamp()`, updated_at: sql`statement_timestamp()` })
    .where("project_id", "=", projectId)
    .where("id", "=", queueId)
    .where("deleted_at", "is", null)
    .returning(columns)
    .executeTakeFirst()
  return row === undefined ? null : toRecord(row)
}

export interface QueueStats {
  total_items: number
  completed_items: number
}

/** Counts of these queues, deleted ones included; an item that anybody completed or skipped counts as completed. */
export async function readQueueStats(
  database: CatalogDatabase,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, QueueStats>> {
  const possible = ids.filter(isUuid)
  if (possible.length === 0) return new Map()
  const rows = await database
    .selectFrom("annotation_queues as q")
    .innerJoin("annotation_items as i", "i.queue_id", "q.id")
    .select(["q.id", ({ fn }) => fn.countAll<number>().as("total_items")])
    .select(({ fn }) => fn.countAll<number>().filterWhere("i.finished_count", ">", 0).as("completed_items"))
    .where("q.project_id", "=", projectId)
    .where("q.id", "in", uuidList(possible))
    .where("i.deleted_at", "is", null)
    .groupBy("q.id")
    .execute()
  return new Map(rows.map(({ id, ...stats }) => [id, stats]))
}

const columns = [
  "id",
  "name",
  "description",
  "scorer_refs",
  "required_annotators",
  "lease_seconds",
  "created_by",
  isoTime("created_at"),
  isoTime("updated_at"),
  isoTimeOrNull("deleted_at"),
] as const

/** One parameter for all ids: a statement takes at most 65,535 parameters. */
function uuidList(ids: readonly string[]) {
  return sql<string>`(select id::uuid from json_array_elements_text(${JSON.stringify(ids)}::json) as given (id))`
}

function liveQueues(database: Kysely<Catalog>, projectId: string) {
  return database
    .selectFrom("annotation_queues")
    .select(columns)
    .where("project_id", "=", projectId)
    .where("deleted_at", "is", null)
}

function toRecord<Row extends { scorer_refs: string }>({ scorer_refs, ...row }: Row) {
  return { ...row, scorer_refs: JSON.parse(scorer_refs) as string[] }
}
