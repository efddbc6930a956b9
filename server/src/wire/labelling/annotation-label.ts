/** Labels of items, agreement and adjudication: not in the reference. */
import { z } from "zod"
import { annotationItem } from "./annotation-queue.ts"

const time = z.iso.datetime()

export const itemLabel = z.object({
  /** The name of the annotation spec: `wandb.annotation.<field>`. */
  field: z.string(),
  value: z.unknown(),
  annotator_user_id: z.string(),
  feedback_id: z.string(),
  created_at: time,
})

export const finalLabel = z.object({
  field: z.string(),
  value: z.unknown(),
  /** The label that was chosen; null: the value is the adjudicator's own. */
  feedback_id: z.string().nullable(),
  note: z.string().nullable(),
  decided_by: z.string(),
  decided_at: time,
})

export const labelsQueryBody = z.looseObject({
  project_id: z.string(),
  /** Only items whose labels differ in some field. */
  disputed: z.boolean().nullish(),
  /** true: only items with final labels, one for every disputed field among them; false: only others. */
  adjudicated: z.boolean().nullish(),
  /** The last item of the page before. */
  after: z.string().nullish(),
  limit: z.int().min(1).max(1000).nullish(),
})

export const labelledItem = z.object({
  item: annotationItem,
  /** The newest of each annotator who has completed the item, by field. */
  labels: z.array(itemLabel),
  disputed_fields: z.array(z.string()),
  final_labels: z.array(finalLabel),
})

export const labelledItems = z.object({
  items: z.array(labelledItem),
  /** For `after` of the next page; null: this is the last one. */
  next_after: z.string().nullable(),
})

export const finalLabelParams = z.object({ queue_id: z.string(), item_id: z.string(), field: z.string() })

/** Either `feedback_id`, a label of the item, or `value`. */
export const finalLabelBody = z
  .looseObject({
    project_id: z.string(),
    feedback_id: z.string().nullish(),
    value: z.unknown().optional(),
    note: z.string().nullish(),
  })
  .refine((body) => (body.feedback_id == null) === "value" in body, {
    path: ["value"],
    error: "give either feedback_id or value",
  })

export const finalLabelAnswer = z.object({ final_label: finalLabel })

export const finalLabelDropped = z.object({})

const coefficient = z.number().nullable()

export const fieldAgreement = z.object({
  field: z.string(),
  annotators: z.int(),
  /** Items with two labels or more. */
  units: z.int(),
  /** Labels of these items. */
  labels: z.int(),
  /** Share of pairs of labels that are equal; 0–1. */
  percent_agreement: coefficient,
  /** For two annotators. */
  cohen_kappa: coefficient,
  /** For more than two. */
  fleiss_kappa: coefficient,
  krippendorff_alpha_nominal: coefficient,
  /** Present when every label is a number. */
  krippendorff_alpha_interval: coefficient,
})

/** How far one annotator's labels equal those of the others on the same items. */
export const annotatorAgreement = z.object({
  annotator_user_id: z.string(),
  username: z.string().nullable(),
  /** Agreement on the mean field. */
  percent_agreement: coefficient,
  fields: z.array(
    z.object({
      field: z.string(),
      /** Pairs of one of their labels with somebody else's. */
      pairs: z.int(),
      percent_agreement: coefficient,
    }),
  ),
})

/** Among labels whose payload has a `suggestion`: how many equal it. */
export const suggestionCount = z.object({ field: z.string(), offered: z.int(), accepted: z.int() })

export const queueAgreement = z.object({
  queue_id: z.string(),
  /** Agreement on the mean field, or null without labels to compare. */
  percent_agreement: coefficient,
  fields: z.array(fieldAgreement),
  annotators: z.array(annotatorAgreement),
  suggestions: z.array(suggestionCount),
})

export type LabelsQueryBody = z.output<typeof labelsQueryBody>
export type LabelledItem = z.output<typeof labelledItem>
export type QueueAgreement = z.output<typeof queueAgreement>
