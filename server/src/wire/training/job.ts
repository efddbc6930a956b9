/** Training jobs and their events: training-api 2.3 and 3.1. */
import { z } from "zod"
import { dpoConfig, rlConfig, sftConfig } from "../engine/train.ts"
import { repeated } from "../repeated-query.ts"
import { pageOf, pageQuery } from "./page.ts"

export const jobKind = z.enum(["rl", "sft", "dpo"])
export const jobStatus = z.enum(["queued", "running", "paused", "succeeded", "failed", "cancelled"])

/** Clients need only `id`; the rest tells a person how the job fares. */
export const job = z.object({
  id: z.uuid(),
  object: z.literal("training_job"),
  model_id: z.uuid(),
  kind: jobKind,
  status: jobStatus,
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
  /** Since when it is paused; null: it is not. */
  paused_at: z.iso.datetime().nullable(),
  error_message: z.string().nullable(),
  /** The checkpoint it made; null until it has succeeded. */
  output_step: z.int().nullable(),
  /** Parts of the request that the server did not apply as the client may have meant them, such as unknown settings. */
  warnings: z.array(z.string()),
})

/** Which jobs to list; names of entity and project. */
export const jobsQuery = pageQuery.extend({
  entity: z.string().optional(),
  project: z.string().optional(),
  model_id: z.string().optional(),
  /** May be given several times. */
  status: repeated(jobStatus),
})

export const listedJob = job.extend({
  entity: z.string(),
  project: z.string(),
  /** The model's name. */
  model: z.string(),
  /** Done by now. */
  gradient_steps: z.int(),
  /** null until the job has begun. */
  expected_gradient_steps: z.int().nullable(),
  /** From how long its gradient steps took since it last began or went on; null: not known. */
  estimated_seconds_left: z.number().min(0).nullable(),
})

export const jobPage = pageOf(listedJob)

export const jobParams = z.object({ training_job_id: z.string() })

export const eventType = z.enum(["training_started", "gradient_step", "training_ended", "training_failed"])
export const event = z.object({
  id: z.uuid(),
  type: eventType,
  created_at: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
})
export const eventPage = pageOf(event)

/**
 * KL reference of an RL job (training-api 2.2). `lag` is worked out when the job begins:
 * max(0, current step − lag). `model_id` names another model of the same base. null: the base model.
 */
export const klReference = z
  .union([
    z.strictObject({ step: z.int().min(0) }),
    z.strictObject({ lag: z.int().min(1) }),
    z.strictObject({ model_id: z.uuid(), step: z.int().min(0) }),
  ])
  .nullable()

/**
 * What `training_jobs.config` holds. `checkpoint_metrics` (`train/reward`, `train/reward_std_dev`,
 * `train/exception_rate`) are known from the data and belong to the checkpoint the job makes.
 */
export const storedJobConfig = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("rl"),
    engine: rlConfig,
    kl_reference: klReference,
    checkpoint_metrics: z.record(z.string(), z.number()),
  }),
  z.object({ kind: z.literal("sft"), engine: sftConfig, kl_reference: z.null() }),
  z.object({ kind: z.literal("dpo"), engine: dpoConfig, kl_reference: z.null() }),
])

export type Job = z.infer<typeof job>
export type Event = z.infer<typeof event>
export type ListedJob = z.infer<typeof listedJob>
export type KlReference = z.infer<typeof klReference>
export type StoredJobConfig = z.infer<typeof storedJobConfig>
