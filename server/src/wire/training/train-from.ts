/** A training job made from what was traced, labelled and scored, and the dry run that says what would be in it. */
import { z } from "zod"
import { boundedList, fieldList, keyList, textList } from "../bounded-list.ts"
import { callsFilter } from "../calls/call-read.ts"
import { query } from "../queries/query.ts"
import { dpoReference } from "../engine/train.ts"
import { job, jobKind } from "./job.ts"
import { pageOf } from "./page.ts"
import { experimentalConfig } from "./rl-job.ts"
import { sftJobConfig } from "./sft-job.ts"

const path = z.string().min(1).max(1000)
/** Weights and values of scores: finite, as JSON has no others. */
const number = z.number()

/** Calls that a filter and a query match, oldest first: evaluation-store-calls 3.5 and 3.6. */
export const trainingCalls = z.strictObject({
  kind: z.literal("calls"),
  project_id: z.string(),
  filter: callsFilter.nullish(),
  query: query.nullish(),
  feedback_type: z.string().min(1).max(200).nullish(),
  limit: z.int().min(1).nullish(),
})

/** Items of an annotation queue, in the order in which they were added. */
export const trainingQueue = z.strictObject({
  kind: z.literal("queue"),
  project_id: z.string(),
  queue_id: z.string(),
})

/** Rows of evaluations: what was asked and answered in each trial, and its scores. */
export const trainingEvaluation = z.strictObject({
  kind: z.literal("evaluation"),
  project_id: z.string(),
  evaluation_call_ids: textList.min(1),
})

/** Rows of a version of a dataset. */
export const trainingDataset = z.strictObject({
  kind: z.literal("dataset"),
  project_id: z.string(),
  object_id: z.string(),
  digest: z.string().nullish(),
})

/** Rollouts that calls named, the oldest first. */
export const trainingRollouts = z.strictObject({
  kind: z.literal("rollouts"),
  project_id: z.string(),
  rollout_ids: textList.min(1).nullish(),
  group: z.string().nullish(),
  step: z.int().min(0).nullish(),
  since: z.iso.datetime({ offset: true }).nullish(),
  until: z.iso.datetime({ offset: true }).nullish(),
  /** Whose labels `label.<field>` means. */
  queue_id: z.string().nullish(),
})

export const trainingSource = z.discriminatedUnion("kind", [
  trainingCalls,
  trainingQueue,
  trainingEvaluation,
  trainingDataset,
  trainingRollouts,
])

export const rowMapping = z.strictObject({
  messages: path.nullish(),
  answer: path.nullish(),
  tools: path.nullish(),
})

/** A part of a score: the number that a field has, times a weight. */
export const scorePart = z.strictObject({
  field: path,
  weight: number.nullish(),
  values: z.record(z.string(), number).nullish(),
  missing: number.nullish(),
})

const scoreParts = boundedList(scorePart, 20)

export const sftTarget = z.strictObject({
  kind: z.literal("sft"),
  mapping: rowMapping.nullish(),
  corrections: fieldList(path).nullish(),
  score: scoreParts.nullish(),
  min_score: number.nullish(),
  best_of: path.nullish(),
})

export const rlTarget = z.strictObject({
  kind: z.literal("rl"),
  mapping: rowMapping.nullish(),
  reward: scoreParts.min(1),
  group_by: path.nullish(),
})

/** The best answer to a question against the worst one, by a score. */
export const scoredPairs = z.strictObject({ from: z.literal("score"), score: scoreParts.min(1) })

/** Answers that a vote preferred, against those that it preferred them to: `over` and `value` of the field, as the playground has it. */
export const votedPairs = z.strictObject({ from: z.literal("vote"), field: path.nullish() })

/** Two answers to one question, at least one of which is a field; the other is the row's own answer. */
export const labelledPairs = z.strictObject({
  from: z.literal("fields"),
  chosen: path.nullish(),
  rejected: path.nullish(),
})

export const dpoTarget = z.strictObject({
  kind: z.literal("dpo"),
  mapping: rowMapping.nullish(),
  pairs: z.discriminatedUnion("from", [scoredPairs, votedPairs, labelledPairs]),
  beta: z.number().gt(0).max(100).nullish(),
  reference: dpoReference.nullish(),
})

export const trainingTarget = z.discriminatedUnion("kind", [sftTarget, rlTarget, dpoTarget])

export const trainFromBody = z.strictObject({
  model_id: z.string(),
  source: trainingSource,
  target: trainingTarget,
  config: sftJobConfig.nullish(),
  experimental_config: experimentalConfig.nullish(),
})

export const dropCause = z.enum([
  "failed",
  "unfinished",
  "deleted",
  "no_messages",
  "not_text",
  "no_answer",
  "several_answers",
  "not_labelled",
  "disputed",
  "no_score",
  "low_score",
  "not_the_best",
  "repeated",
  "tie",
  "between",
  "no_other",
  "other_question",
  "no_group",
  "no_tokens",
  "other_model",
  "too_long",
])

export const droppedRow = z.object({ id: z.string(), detail: z.string() })

export const rowDrop = z.object({
  cause: dropCause,
  reason: z.string(),
  count: z.int(),
  examples: z.array(droppedRow),
})

export const previewRow = z.object({
  id: z.string(),
  question: z.string(),
  answer: z.string(),
  /** What the answer is preferred to; null: it is no pair. */
  rejected: z.string().nullable(),
  is_corrected: z.boolean(),
  score: z.number().nullable(),
})

export const trainingTime = z.object({
  seconds: z.number().nullable(),
  tokens_per_second: z.number().nullable(),
  reason: z.string(),
})

export const trainingSummary = z.object({
  kind: jobKind,
  read: z.int(),
  rows: z.int(),
  pairs: z.int().nullable(),
  groups: z.int().nullable(),
  groups_without_contrast: z.int().nullable(),
  groups_of_one: z.int().nullable(),
  tokens: z.int(),
  trained_tokens: z.int(),
  tokens_are_estimated: z.boolean(),
  corrected: z.int(),
  drops: z.array(rowDrop),
})

export const trainingDryRun = trainingSummary.extend({
  object: z.literal("training_dry_run"),
  time: trainingTime,
  preview: z.array(previewRow),
  warnings: z.array(z.string()),
})

export const trainedFromJob = job.extend({ summary: trainingSummary })

/** Source of one line of a job's data. */
export const trainingRow = z.object({
  id: z.string(),
  row: z.int(),
  group: z.int().nullable(),
  index: z.int().nullable(),
  call_id: z.string().nullable(),
  row_digest: z.string().nullable(),
  rollout_id: z.string().nullable(),
  feedback_ids: z.array(z.string()),
  score: z.number().nullable(),
  is_corrected: z.boolean(),
})

export const trainingRowsQuery = z.object({
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
})

/** Without rows, and null besides, for a job whose client sent the data: of that no origin is known. */
export const trainingRowsAnswer = pageOf(trainingRow).extend({
  project_id: z.string().nullable(),
  /** As they were sent. */
  source: z.looseObject({ kind: z.string(), project_id: z.string() }).nullable(),
  target: z.looseObject({ kind: z.string() }).nullable(),
  summary: trainingSummary.nullable(),
})

export const trainingUsesBody = z
  .looseObject({
    project_id: z.string(),
    call_ids: keyList.nullish(),
    feedback_ids: keyList.nullish(),
    row_digests: keyList.nullish(),
    rollout_ids: keyList.nullish(),
  })
  .refine(
    (body) =>
      [body.call_ids, body.feedback_ids, body.row_digests, body.rollout_ids].some((list) => (list?.length ?? 0) > 0),
    {
      path: ["call_ids"],
      error: "name at least one call, feedback, row or rollout",
    },
  )

/** A line of a job's data that something went into. */
export const trainingUse = trainingRow.omit({ id: true }).extend({
  training_job_id: z.uuid(),
  status: job.shape.status,
  model_id: z.uuid(),
  model: z.string(),
  output_step: z.int().nullable(),
  created_at: z.iso.datetime(),
})

export const trainingUses = z.object({ uses: z.array(trainingUse), is_complete: z.boolean() })

export type TrainFromBody = z.output<typeof trainFromBody>
export type TrainingSource = z.output<typeof trainingSource>
export type TrainingTarget = z.output<typeof trainingTarget>
export type DpoTarget = z.output<typeof dpoTarget>
export type ScorePart = z.output<typeof scorePart>
export type DropCause = z.output<typeof dropCause>
export type RowDrop = z.output<typeof rowDrop>
export type PreviewRow = z.output<typeof previewRow>
export type TrainingSummary = z.output<typeof trainingSummary>
export type TrainingDryRun = z.output<typeof trainingDryRun>
export type TrainingRow = z.output<typeof trainingRow>
export type TrainingUse = z.output<typeof trainingUse>
export type TrainingRollouts = z.infer<typeof trainingRollouts>
