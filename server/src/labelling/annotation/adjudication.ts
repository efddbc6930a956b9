/** Final labels: one of those given, or the adjudicator's own. */
import { HeddleError } from "../../errors.ts"
import {
  dropFinalLabel,
  type FinalLabelRecord,
  type NewFinalLabel,
  writeFinalLabel,
} from "../../storage/catalog/labelling/annotation-final-labels.ts"
import { withLockedQueue } from "../../storage/catalog/labelling/annotation-lock.ts"
import { findQueue } from "../../storage/catalog/labelling/annotation-queues.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { checkAnnotationValues } from "../feedback/feedback-annotation.ts"
import { findAnnotationSpec } from "./annotation-spec.ts"
import { tryParseRef } from "../../objects/refs/refs.ts"
import { asObjectRef } from "../../wire/labelling/annotation-queue.ts"
import { requireItem } from "./items.ts"
import { type Label, labelsOf } from "./labels.ts"
import { type QueueAccess, queueNotFound } from "./queues.ts"

export interface Decision {
  itemId: string
  field: string
  choice: { feedbackId: string } | { valueText: string }
  note: string | null
}

/** In the place of an earlier decision. @throws {HeddleError} `not_found`, `invalid_request`. */
export async function decide(
  dependencies: StoreDependencies,
  access: QueueAccess,
  { itemId, field, choice, note }: Decision,
): Promise<FinalLabelRecord> {
  const item = await requireItem(dependencies.database, access, itemId)
  const [given] = await labelsOf(dependencies, access, [item])
  const labels = (given?.labels ?? []).filter((label) => label.field === field)
  const label: NewFinalLabel = {
    item_id: item.id,
    field,
    note,
    decided_by: access.project.userId,
    ...("feedbackId" in choice
      ? chosen(labels, choice.feedbackId, itemId, field)
      : { value: choice.valueText, feedback_id: null }),
  }
  if ("valueText" in choice) await checkValue(dependencies, access, { field, labels, valueText: choice.valueText })
  const written = await withLockedQueue(dependencies.database, access, (transaction) =>
    writeFinalLabel(transaction, label),
  )
  if (written === null) throw queueNotFound(access.queueId)
  return written
}

/** Takes a decision back; without one nothing changes. @throws {HeddleError} `not_found`. */
export async function withdrawDecision(
  { database }: StoreDependencies,
  access: QueueAccess,
  itemId: string,
  field: string,
): Promise<void> {
  const item = await requireItem(database, access, itemId)
  await dropFinalLabel(database, item.id, field)
}

function chosen(labels: readonly Label[], feedbackId: string, itemId: string, field: string) {
  const label = labels.find((one) => one.feedbackId === feedbackId)
  if (label !== undefined) return { value: label.valueText, feedback_id: feedbackId }
  const others = labels.map((one) => one.feedbackId).join(", ")
  throw new HeddleError(
    "invalid_request",
    `feedback_id ${feedbackId} is no label of item ${itemId} for ${field}; ${others === "" ? "it has none" : `those are ${others}`}`,
  )
}

/** A value of the adjudicator's own fits the field as an annotator's would. */
async function checkValue(
  dependencies: StoreDependencies,
  access: QueueAccess,
  { field, labels, valueText }: { field: string; labels: readonly Label[]; valueText: string },
): Promise<void> {
  const { database } = dependencies
  const queue = await findQueue(database, access)
  const refs = [
    ...(queue?.scorer_refs ?? []).map(asObjectRef),
    ...labels.flatMap(({ annotationRef }) => annotationRef ?? []),
  ]
  const ref = refs.find((text) => {
    const parsed = tryParseRef(text)
    return parsed?.kind === "object" && parsed.name === field
  })
  if (ref === undefined) {
    throw new HeddleError(
      "invalid_request",
      `queue ${access.queueId} has no field "${field}": it is in none of its scorer_refs, and nobody has labelled it`,
    )
  }
  const text = await findAnnotationSpec(database, access.project.id, ref)
  await checkAnnotationValues(dependencies, { ref, text }, [valueText])
}
