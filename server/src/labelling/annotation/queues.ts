/** Annotation queues: evaluation-store-objects 2.6 and 6.1. */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { audited } from "../../storage/catalog/accounts/audit-logs.ts"
import { addPlaces, withLockedQueue } from "../../storage/catalog/labelling/annotation-lock.ts"
import {
  type AnnotationQueueRecord,
  createQueue,
  deleteQueue,
  findQueue,
  findQueues,
  type QueueKey,
  type QueueOrder,
  readQueueStats,
  type QueueSettings,
  updateQueue,
} from "../../storage/catalog/labelling/annotation-queues.ts"
import { isUuid } from "../../storage/catalog/identifiers.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import type {
  AnnotationQueue,
  QueueCreateBody,
  QueuesQueryBody,
  QueueUpdateBody,
} from "../../wire/labelling/annotation-queue.ts"
import { checkRange } from "../../objects/requests/list-range.ts"
import { type ProjectAccess, existingProject, ensureProject, projectIfThere } from "../../access/project-access.ts"
import { knownSorts } from "./known-sorts.ts"
import { requireScorers } from "./scorer-refs.ts"

/** Long enough to read a long trace, short enough that an item left open comes back the same day. */
const defaultLeaseSeconds = 900

export interface QueueAccess extends QueueKey {
  project: ProjectAccess
}

/** The project of a request about a queue, and the queue's key in it, whether it is there or not. */
export async function queueFor(
  database: CatalogDatabase,
  principal: Principal,
  projectName: string,
  queueId: string,
): Promise<QueueAccess> {
  const project = await existingProject(database, principal, projectName)
  // The trace store compares ids as texts.
  return { project, projectId: project.id, queueId: isUuid(queueId) ? queueId.toLowerCase() : queueId }
}

export function queueNotFound(queueId: string): HeddleError {
  return new HeddleError("not_found", `Queue ${queueId} not found or has been deleted`)
}

/** @throws {HeddleError} `project_not_found`; `not_found` for a scorer that is not there. Then nothing was made. */
export async function makeQueue(
  database: CatalogDatabase,
  principal: Principal,
  body: QueueCreateBody,
): Promise<{ id: string }> {
  const there = await projectIfThere(database, principal, body.project_id)
  await requireScorers(database, principal, there?.name ?? body.project_id, body.scorer_refs)
  const project = there ?? (await ensureProject(database, principal, body.project_id))
  const settings: QueueSettings = {
    name: body.name,
    description: body.description ?? "",
    scorer_refs: body.scorer_refs,
    required_annotators: body.required_annotators || null,
    lease_seconds: body.lease_seconds ?? defaultLeaseSeconds,
  }
  const id = randomUUIDv7()
  await createQueue(database, { projectId: project.id, queueId: id }, settings, project.userId)
  return { id }
}

/** @throws {HeddleError} `not_found`. */
export async function readQueue(database: CatalogDatabase, access: QueueAccess): Promise<AnnotationQueue> {
  return toQueueAnswer(access, await findQueue(database, access))
}

/** @throws {HeddleError} `not_found`. */
export async function removeQueue(
  database: CatalogDatabase,
  principal: Principal,
  access: QueueAccess,
): Promise<AnnotationQueue> {
  const deleted = await audited(database, principal, async (transaction, record) => {
    const queue = await deleteQueue(transaction, access)
    const { project: inProject, queueId: resourceId } = access
    const details = { project: inProject.project, name: queue?.name }
    if (queue !== null) {
      await record({ type: "annotation_queue.deleted", team: inProject.entity, resourceId, details })
    }
    return queue
  })
  return toQueueAnswer(access, deleted)
}

/** Sets what is given and differs from null. @throws {HeddleError} `not_found`, also for a scorer that is not there. */
export async function changeQueue(
  database: CatalogDatabase,
  principal: Principal,
  access: QueueAccess,
  body: QueueUpdateBody,
): Promise<AnnotationQueue> {
  const changes = changesOf(body)
  const before = await readQueue(database, access)
  if (Object.keys(changes).length === 0) return before
  // A client that sends back what it read may do so after a spec was deleted.
  const known = new Set(before.scorer_refs)
  await requireScorers(
    database,
    principal,
    access.project.name,
    (changes.scorer_refs ?? []).filter((ref) => !known.has(ref)),
  )
  const queue = await withLockedQueue(database, access, async (transaction, { id, places }) => {
    const { required_annotators: required } = changes
    if (required !== undefined) await addPlaces(transaction, id, (required ?? 1) - places)
    await updateQueue(transaction, access, changes)
    return findQueue(transaction, access)
  })
  return toQueueAnswer(access, queue)
}

function changesOf({ name, description, scorer_refs, required_annotators, lease_seconds }: QueueUpdateBody) {
  const changes: Partial<QueueSettings> = {}
  if (name != null) changes.name = name
  if (description != null) changes.description = description
  if (scorer_refs != null) changes.scorer_refs = scorer_refs
  if (required_annotators != null) changes.required_annotators = required_annotators || null
  if (lease_seconds != null) changes.lease_seconds = lease_seconds
  return changes
}

const sortFields = ["id", "name", "created_at", "updated_at"] as const

/** The newest first unless asked otherwise. */
export async function listQueues(
  database: CatalogDatabase,
  principal: Principal,
  body: QueuesQueryBody,
): Promise<AnnotationQueue[]> {
  const range = checkRange(body)
  const project = await existingProject(database, principal, body.project_id)
  const requested = knownSorts(body.sort_by, sortFields)
  const order: QueueOrder = requested.length > 0 ? requested : [{ field: "created_at", direction: "desc" }]
  const queues = await findQueues(database, project.id, {
    name: body.name ?? null,
    order: [...order, { field: "id", direction: "asc" }],
    ...range,
  })
  return queues.map((queue) => withProject(project.name, queue))
}

/** One entry for each id, in order; unknown ids have no items. */
export async function countQueueItems(database: CatalogDatabase, projectId: string, ids: readonly string[]) {
  const stats = await readQueueStats(database, projectId, ids)
  return ids.map((queue_id) => ({
    queue_id,
    ...(stats.get(queue_id.toLowerCase()) ?? { total_items: 0, completed_items: 0 }),
  }))
}

function toQueueAnswer({ project, queueId }: QueueAccess, queue: AnnotationQueueRecord | null): AnnotationQueue {
  if (queue === null) throw queueNotFound(queueId)
  return withProject(project.name, queue)
}

/** Settings that the reference does not have are shown where somebody set them. */
function withProject(
  projectName: string,
  { required_annotators, lease_seconds, ...queue }: AnnotationQueueRecord,
): AnnotationQueue {
  return {
    ...queue,
    project_id: projectName,
    ...(required_annotators === null ? {} : { required_annotators }),
    ...(lease_seconds === defaultLeaseSeconds ? {} : { lease_seconds }),
  }
}
