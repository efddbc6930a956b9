/** Items of annotation queues: evaluation-store-objects 6.2 and 6.3. */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import {
  addItems,
  type AnnotationItemRecord,
  findItem,
  findItems,
  type ItemCall,
  removeItem,
} from "../../storage/catalog/labelling/annotation-items.ts"
import { withLockedQueue } from "../../storage/catalog/labelling/annotation-lock.ts"
import { findQueue } from "../../storage/catalog/labelling/annotation-queues.ts"
import { readHistory } from "../../storage/catalog/labelling/annotation-progress.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { writeQueueCalls } from "../../storage/traces/labelling/queue-calls.ts"
import { readCallRows } from "../../storage/traces/calls/call-row-reads.ts"
import type { AnnotationItem, ItemsAddBody, ItemsQueryBody } from "../../wire/labelling/annotation-queue.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { checkRange } from "../../objects/requests/list-range.ts"
import { knownSorts } from "./known-sorts.ts"
import { type QueueAccess, queueNotFound } from "./queues.ts"

/** The catalog may be busy for as long as it takes to store this many. */
const itemsAtOnce = 1000

/**
 * Adds calls that the queue does not have; unknown ones are passed over. It may be sent again: what
 * an attempt that failed has added counts as duplicates then.
 * @throws {HeddleError} `not_found` without the queue.
 */
export async function addCalls(
  { database, traces }: StoreDependencies,
  access: QueueAccess,
  { call_ids, display_fields }: ItemsAddBody,
): Promise<{ added_count: number; duplicates: number }> {
  if ((await findQueue(database, access)) === null) throw queueNotFound(access.queueId)
  const ids = [...new Set(call_ids)]
  const { projectId, queueId, project } = access
  const counts = { added_count: 0, duplicates: 0 }
  for (let from = 0; from < ids.length; from += itemsAtOnce) {
    const rows = await readCallRows(traces, projectId, ids.slice(from, from + itemsAtOnce), ["ended_at"])
    if (rows.length === 0) continue
    const calls = rows.map(({ id, started_at, ended_at, op_name, trace_id }): ItemCall => ({
      id,
      started_at,
      ended_at: ended_at ?? null,
      op_name: catalogText(op_name),
      trace_id: catalogText(trace_id),
    }))
    // First where calls are searched: a failure in between leaves nothing that a repetition does not mend.
    await writeQueueCalls(
      traces,
      projectId,
      queueId,
      calls.map(({ id }) => id),
    )
    const items = calls.map((call) => ({ id: randomUUIDv7(), call }))
    const options = { displayFields: display_fields, userId: project.userId }
    const added = await withLockedQueue(database, access, (transaction, queue) =>
      addItems(transaction, queue, items, options),
    )
    if (added === null) throw queueNotFound(queueId)
    counts.added_count += added
    counts.duplicates += items.length - added
  }
  return counts
}

/** PostgreSQL has no text for NUL. */
const catalogText = (text: string) => text.toWellFormed().replaceAll("\0", "\ufffd")

const sortFields = ["call_started_at", "call_op_name", "created_at", "updated_at"] as const

/** @throws {HeddleError} `not_found` without the queue. */
export async function queryItems(
  database: CatalogDatabase,
  access: QueueAccess,
  body: ItemsQueryBody,
): Promise<AnnotationItem[]> {
  const range = checkRange(body)
  if ((await findQueue(database, access)) === null) throw queueNotFound(access.queueId)
  const sorts = knownSorts(body.sort_by, sortFields)
  const { annotation_states: states, ...filter } = body.filter ?? {}
  const items = await findItems(database, access.queueId, {
    filter: { ...filter, annotation_states: states == null ? null : [...new Set(states)] },
    order: [
      ...(sorts.length > 0 ? sorts : [{ field: "created_at", direction: "asc" } as const]),
      { field: "id", direction: "asc" },
    ],
    withPosition: body.include_position === true,
    ...range,
  })
  return items.map((item) => toItemAnswer(access, item))
}

/** Takes an item out of its queue; what was done with it stays stored. @throws {HeddleError} `not_found`. */
export async function takeItemOut(
  { database, traces }: StoreDependencies,
  access: QueueAccess,
  itemId: string,
): Promise<AnnotationItem> {
  const item = await requireItem(database, access, itemId)
  await writeQueueCalls(traces, access.projectId, access.queueId, [item.call_id], { removed: true })
  const removed = await withLockedQueue(database, access, (transaction, queue) =>
    removeItem(transaction, queue, itemId),
  )
  if (removed === null) throw itemNotFound(access, itemId)
  return toItemAnswer(access, removed)
}

/** @throws {HeddleError} `not_found`. */
export async function readItemHistory(database: CatalogDatabase, access: QueueAccess, itemId: string) {
  await requireItem(database, access, itemId)
  return readHistory(database, itemId)
}

/** @throws {HeddleError} `not_found` without the queue or the item. */
export async function requireItem(
  database: CatalogDatabase,
  access: QueueAccess,
  itemId: string,
): Promise<AnnotationItemRecord> {
  if ((await findQueue(database, access)) === null) throw queueNotFound(access.queueId)
  const item = await findItem(database, access.queueId, itemId)
  if (item === null) throw itemNotFound(access, itemId)
  return item
}

export function itemNotFound({ queueId }: QueueAccess, itemId: string): HeddleError {
  return new HeddleError("not_found", `Item ${itemId} not found in queue ${queueId}`)
}

export function toItemAnswer({ project }: QueueAccess, item: AnnotationItemRecord): AnnotationItem {
  return { project_id: project.name, ...item }
}
