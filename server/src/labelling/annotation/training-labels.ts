/** The labels of a queue that hold: those on which all annotators agree, and what was decided where they differ. */
import type { Principal } from "../../http/principal.ts"
import { findFinalLabels, type FinalLabelRecord } from "../../storage/catalog/labelling/annotation-final-labels.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { isDisputed } from "./agreement.ts"
import { type ItemLabels, labelPieces, labelsOf, requireQueue, unitsOf } from "./labels.ts"
import { queueFor } from "./queues.ts"

export interface HeldLabels {
  callId: string
  /** Texts, by field. */
  fields: Record<string, string>
  /** Fields on which annotators differ and nobody has decided. */
  disputed: string[]
  feedbackIds: string[]
  /** No annotator has completed it. */
  isUnlabelled: boolean
}

/** Yields the labels of all items in batches. @throws {HeddleError} `not_found`, also for a queue deleted midway. */
export async function* heldLabels(
  dependencies: StoreDependencies,
  principal: Principal,
  { name }: { name: string },
  queueId: string,
): AsyncGenerator<HeldLabels[]> {
  const access = await queueFor(dependencies.database, { ...principal, right: "read" }, name, queueId)
  await requireQueue(dependencies, access)
  yield* labelPieces(dependencies, access, null, async (items) => {
    const finals = await findFinalLabels(
      dependencies.database,
      items.map(({ id }) => id),
    )
    const finalsOf = Map.groupBy(finals, ({ item_id }) => item_id)
    const labelled = await labelsOf(dependencies, access, items)
    return labelled.map((one) => held(one, finalsOf.get(one.item.id) ?? []))
  })
  await requireQueue(dependencies, access)
}

function held({ item, labels }: ItemLabels, finals: readonly FinalLabelRecord[]): HeldLabels {
  const decided = new Map(finals.map(({ field, value }) => [field, value]))
  const fields = new Map(labels.map(({ field, valueText }) => [field, valueText]))
  const disputed = [...unitsOf(labels)].flatMap(([field, unit]) =>
    isDisputed(unit) && !decided.has(field) ? [field] : [],
  )
  for (const field of disputed) fields.delete(field)
  for (const [field, value] of decided) fields.set(field, value)
  const chosen = finals.flatMap(({ feedback_id }) => feedback_id ?? [])
  return {
    callId: item.call_id,
    fields: Object.fromEntries([...fields].map(([field, value]) => [field, textOf(value)])),
    disputed,
    feedbackIds: [...new Set([...labels.map(({ feedbackId }) => feedbackId), ...chosen])],
    isUnlabelled: labels.length === 0 && finals.length === 0,
  }
}

function textOf(json: string): string {
  const value: unknown = JSON.parse(json)
  return typeof value === "string" ? value : json
}
