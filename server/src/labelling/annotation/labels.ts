/**
 * The labels of a queue's items: annotation feedback with the queue's id. A label counts once its
 * annotator has completed the item, and of several by one annotator the newest.
 */
import { parseExact } from "../../json/exact-json.ts"
import { textAt } from "../../json/json-members.ts"
import { findUsernames } from "../../storage/catalog/accounts/usernames.ts"
import { findFinalLabels, type FinalLabelRecord } from "../../storage/catalog/labelling/annotation-final-labels.ts"
import {
  type AnnotationItemRecord,
  findAddedAt,
  findItemsAfter,
} from "../../storage/catalog/labelling/annotation-items.ts"
import { findCompleters } from "../../storage/catalog/labelling/annotation-progress.ts"
import { findQueue } from "../../storage/catalog/labelling/annotation-queues.ts"
import { type LabelRow, readLabels } from "../../storage/traces/labelling/queue-labels.ts"
import { inPieces } from "../../storage/traces/query/in-pieces.ts"
import type { LabelledItem, LabelsQueryBody, QueueAgreement } from "../../wire/labelling/annotation-label.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { formatRef } from "../../objects/refs/refs.ts"
import { AgreementTally, AnnotatorTally, isDisputed, isSameLabel, type Unit } from "./agreement.ts"
import { itemNotFound, toItemAnswer } from "./items.ts"
import { type QueueAccess, queueNotFound } from "./queues.ts"

export interface Label {
  field: string
  /** JSON text. */
  valueText: string
  /** JSON text of what a machine had suggested; null: nothing was. */
  suggestedText: string | null
  annotationRef: string | null
  annotatorId: string
  feedbackId: string
  createdAt: string
}

export interface ItemLabels {
  item: AnnotationItemRecord
  labels: Label[]
}

const itemsAtOnce = 2000
const annotationType = "wandb.annotation."

/** Labels of these items, in their order. @throws {HeddleError} `query_memory` where those of several are too large together. */
export async function labelsOf(
  { database, traces }: StoreDependencies,
  access: QueueAccess,
  items: readonly AnnotationItemRecord[],
): Promise<ItemLabels[]> {
  const completers = await findCompleters(
    database,
    items.map(({ id }) => id),
  )
  const done = items.filter(({ id }) => completers.has(id))
  const refOf = ({ call_id }: AnnotationItemRecord) => formatRef(access.project.name, "call", call_id)
  const rows = done.length === 0 ? [] : await readLabels(traces, access, done.map(refOf))
  const byRef = Map.groupBy(rows, ({ weave_ref }) => weave_ref)
  return items.map((item) => {
    const users = completers.get(item.id) ?? new Set()
    const given = (byRef.get(refOf(item)) ?? []).filter(({ wb_user_id }) => users.has(wb_user_id))
    const newest = new Map(given.map((row) => [`${row.feedback_type}/${row.wb_user_id}`, toLabel(row)]))
    return { item, labels: [...newest.values()] }
  })
}

function toLabel(row: LabelRow): Label {
  return {
    field: row.feedback_type.slice(annotationType.length),
    valueText: textAt(row.payload, ["value"]) ?? "null",
    suggestedText: textAt(row.payload, ["suggestion", "value"]) ?? null,
    annotationRef: row.annotation_ref,
    annotatorId: row.wb_user_id,
    feedbackId: row.feedback_id,
    createdAt: row.created_at,
  }
}

/** Labels per annotator, by field. */
export function unitsOf(labels: readonly Label[]): Map<string, Unit> {
  const byField = Map.groupBy(labels, ({ field }) => field)
  return new Map(
    [...byField].map(([field, given]) => [
      field,
      new Map(given.map(({ annotatorId, valueText }) => [annotatorId, parseExact(valueText)])),
    ]),
  )
}

/** @throws {HeddleError} `not_found`. */
export async function measureAgreement(dependencies: StoreDependencies, access: QueueAccess): Promise<QueueAgreement> {
  await requireQueue(dependencies, access)
  const tallies = new Map<string, AgreementTally>()
  const people = new AnnotatorTally()
  const suggestions = new Map<string, { offered: number; accepted: number }>()
  for await (const some of labelPieces(dependencies, access, null, (items) => labelsOf(dependencies, access, items))) {
    for (const { labels } of some) {
      for (const [field, unit] of unitsOf(labels)) {
        const tally = tallies.get(field) ?? new AgreementTally()
        tallies.set(field, tally)
        tally.add(unit)
        people.add(field, unit)
      }
      for (const { field, valueText, suggestedText } of labels) {
        if (suggestedText === null) continue
        const count = suggestions.get(field) ?? { offered: 0, accepted: 0 }
        suggestions.set(field, count)
        count.offered += 1
        if (isSameLabel(parseExact(valueText), parseExact(suggestedText))) count.accepted += 1
      }
    }
  }
  const fields = [...tallies]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, tally]) => ({ field, ...tally.result() }))
  const shares = fields.flatMap(({ percent_agreement: share }) => (share === null ? [] : [share]))
  const mean = shares.length === 0 ? null : shares.reduce((total, share) => total + share, 0) / shares.length
  const annotators = people.result()
  const names = await findUsernames(
    dependencies.database,
    annotators.map((one) => one.annotator_user_id),
  )
  return {
    queue_id: access.queueId,
    percent_agreement: mean,
    fields,
    annotators: annotators.map((one) => ({ ...one, username: names.get(one.annotator_user_id) ?? null })),
    suggestions: [...suggestions]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([field, count]) => ({ field, ...count })),
  }
}

const defaultPage = 100

/** A page of items with their labels. @throws {HeddleError} `not_found`. */
export async function queryLabels(
  dependencies: StoreDependencies,
  access: QueueAccess,
  body: LabelsQueryBody,
): Promise<{ items: LabelledItem[]; next_after: string | null }> {
  await requireQueue(dependencies, access)
  const limit = body.limit ?? defaultPage
  const found: LabelledItem[] = []
  const read = (items: readonly AnnotationItemRecord[]) => withDecisions(dependencies, access, items)
  for await (const some of labelPieces(dependencies, access, body.after ?? null, read)) {
    for (const one of some) {
      if (!isWanted(one, body)) continue
      if (found.length === limit) return { items: found, next_after: found.at(-1)?.item.id ?? null }
      found.push(one)
    }
  }
  return { items: found, next_after: null }
}

function isWanted(item: LabelledItem, { disputed, adjudicated }: LabelsQueryBody): boolean {
  if (disputed != null && disputed !== item.disputed_fields.length > 0) return false
  return adjudicated == null || adjudicated === isDecided(item)
}

/** Beside a disputed field, those on which all annotators agree need no decision. */
function isDecided({ disputed_fields, final_labels }: LabelledItem): boolean {
  const decided = new Set(final_labels.map(({ field }) => field))
  return decided.size > 0 && disputed_fields.every((field) => decided.has(field))
}

async function withDecisions(
  dependencies: StoreDependencies,
  access: QueueAccess,
  items: readonly AnnotationItemRecord[],
): Promise<LabelledItem[]> {
  const finals = await findFinalLabels(
    dependencies.database,
    items.map(({ id }) => id),
  )
  const finalsOf = Map.groupBy(finals, ({ item_id }) => item_id)
  const labelled = await labelsOf(dependencies, access, items)
  return labelled.map(({ item, labels }) => ({
    item: toItemAnswer(access, item),
    labels: labels.map((label) => ({
      field: label.field,
      value: parseExact(label.valueText),
      annotator_user_id: label.annotatorId,
      feedback_id: label.feedbackId,
      created_at: label.createdAt,
    })),
    disputed_fields: [...unitsOf(labels)].flatMap(([field, unit]) => (isDisputed(unit) ? [field] : [])),
    final_labels: (finalsOf.get(item.id) ?? []).map(toFinalLabel),
  }))
}

export function toFinalLabel({ item_id: _item, value, ...label }: FinalLabelRecord) {
  return { ...label, value: parseExact(value) }
}

/**
 * What `read` gives for the labels of live items, in the order in which these were added: of many items at once, of fewer
 * where labels are large. `after` as in {@link itemChunks}.
 */
export async function* labelPieces<Piece>(
  dependencies: StoreDependencies,
  access: QueueAccess,
  after: string | null,
  read: (items: readonly AnnotationItemRecord[]) => Promise<Piece>,
): AsyncGenerator<Piece> {
  for await (const items of itemChunks(dependencies, access, after)) yield* inPieces(items, read)
}

/**
 * Live items in the order in which they were added. `after` may have been taken out of the queue since its page was read.
 * @throws {HeddleError} `not_found` for an unknown `after`.
 */
async function* itemChunks(
  { database }: StoreDependencies,
  access: QueueAccess,
  after: string | null,
): AsyncGenerator<AnnotationItemRecord[]> {
  let last = after === null ? null : await findAddedAt(database, access.queueId, after)
  if (after !== null && last === null) throw itemNotFound(access, after)
  for (;;) {
    const chunk = await findItemsAfter(database, access.queueId, last, itemsAtOnce)
    if (chunk.length > 0) yield chunk
    if (chunk.length < itemsAtOnce) return
    last = chunk.at(-1) ?? null
  }
}

export async function requireQueue({ database }: StoreDependencies, access: QueueAccess): Promise<void> {
  if ((await findQueue(database, access)) === null) throw queueNotFound(access.queueId)
}
