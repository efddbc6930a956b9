/**
 * `train`: run one training job to its end.
 *
 * The server owns the job's state; the engine owns the work folder. Calling `train` again with the
 * same `job_id` and `work_dir` after a crash continues from the newest complete snapshot, and the
 * events of steps done again are the same as the first time (on a CPU bit for bit, timings aside).
 */
import { z } from "zod"
import { baseRef } from "./base.ts"
import { adapterRef, chatMessage } from "./chat.ts"
import { carriedAdapter, contentFile } from "./files.ts"

/** The sampler's record of one completion (law 6). */
export const ledgerEntry = z.object({
  prompt_token_ids: z.array(z.int()),
  token_ids: z.array(z.int()),
  logprobs: z.array(z.number()),
})

/** A completion inside a trajectory: training-api 2.1 "Choice". Only what training reads is kept. */
export const specChoice = z.object({
  message: chatMessage,
  finish_reason: z.string(),
  /** Exact ids from the choice itself, or null. */
  token_ids: z.array(z.int()).nullable(),
  prompt_token_ids: z.array(z.int()).nullable(),
  /** `choice.logprobs.content`: token text as the client sent it (literal, or `token_id:N`) and its logprob; null when absent. */
  logprobs: z.array(z.object({ token: z.string(), logprob: z.number().nullable() })).nullable(),
  /** The choice's `heddle_ledger_key`, for the server; the engine ignores it. */
  ledger_key: z.string().nullable(),
  /** Our own ledger's entry for this choice, if it carried a ledger key that we know. */
  ledger: ledgerEntry.nullable(),
})

export const specHistory = z.object({
  /** A completion is `{choice}`, anything else `{message}`. */
  items: z.array(z.union([z.object({ choice: specChoice }), z.object({ message: chatMessage })])),
  tools: z.array(z.looseObject({})).nullable(),
})

/** One sampling run of a captured call (art-0.5.23 4.2). null: the answer did not hold it. */
export const capturedGeneration = z.object({
  /** Name of the model that was asked. */
  model: z.string(),
  /** Which it is, for messages: `responses 0, generation 1`. */
  place: z.string(),
  prompt_token_ids: z.array(z.int()).nullable(),
  /** Every sampled token, the stop token too. */
  token_ids: z.array(z.int()).nullable(),
  /** One entry per id of `token_ids`. */
  logprobs: z.array(z.number().nullable()).nullable(),
  /** Whether it was cut off by the limit of tokens. */
  truncated: z.boolean(),
})

/** Calls that a client captured during a rollout. */
export const capturedRollout = z.object({
  /** Answers of trained models in sampling order; `policy_names` of the job's config says which are the job's own. */
  generations: z.array(capturedGeneration),
  /** Names of some other models that were asked; their calls are not here. */
  other_models: z.array(z.string()),
})

/** RL data file: JSON Lines, one trajectory a line, in the order of the request. */
export const specTrajectory = z.object({
  /** Which group, from 0. Groups with no trajectory have no line. */
  group: z.int(),
  /** Place in the group, from 0. */
  index: z.int(),
  reward: z.number(),
  /** The main history, then the additional ones; none where calls were captured. */
  histories: z.array(specHistory),
  captured: capturedRollout.optional(),
})

/** SFT data file: JSON Lines as uploaded (training-api 2.5): `{"messages": […], "tools": […]?}`. */

/**
 * DPO data file: JSON Lines, two a pair, the chosen answer (index 0) before the rejected one (index 1): `{"group": pair,
 * "index": 0 or 1, "messages": […], "tools": […]?}`.
 */

/** What the sum of the loss over the tokens of a gradient step is divided by (training-api 7.4). */
export const lossType = z.enum(["bnpo", "grpo", "dr_grpo"])

/** Every key of training-api 2.2 with its default applied; null only where null has a meaning of its own. */
export const rlConfig = z.object({
  learning_rate: z.number().min(0),
  loss_fn: z.enum(["cispo", "ppo"]),
  epsilon: z.number(),
  epsilon_high: z.number(),
  importance_sampling_level: z.enum(["token", "sequence", "average", "geometric_average"]),
  advantage_balance: z.number().min(-1).max(1),
  scale_rewards: z.boolean(),
  max_negative_advantage_importance_sampling_weight: z.number().nullable(),
  mask_prob_ratio: z.boolean(),
  kimi_k2_tau: z.number().nullable(),
  precalculate_logprobs: z.boolean(),
  truncated_importance_sampling: z.number().nullable(),
  kl_penalty_coef: z.number(),
  kl_penalty_source: z.enum(["current_learner", "sample"]),
  allow_training_without_logprobs: z.boolean(),
  logprob_calculation_chunk_size: z.int().min(1),
  packed_sequence_length: z.int().min(1).nullable(),
  num_trajectories_learning_rate_multiplier_power: z.number(),
  /** Already worked out by the server from the history of `train/reward_std_dev` (training-api 7.6). */
  learning_rate_multiplier: z.number(),
  /** Absent: `bnpo`. */
  loss_type: lossType.optional(),
  /** Of `dr_grpo`; null or absent with the others. */
  max_completion_length: z.int().min(1).nullish(),
  /** Whether a trajectory weighs the same however many tokens it has; absent: true. */
  normalize_by_length: z.boolean().optional(),
  /** Rows of one optimizer step; absent: 1. */
  grad_accumulation_sequences: z.int().min(1).optional(),
  /** Names in the data's captured calls that mean this job's model, at whatever step. Absent: there are none. */
  policy_names: z.array(z.string()).optional(),
})

export const sftConfig = z.object({
  batch_size: z.int().min(1),
  /** One value, or one per batch that has a labelled token. */
  learning_rate: z.union([z.number().min(0), z.array(z.number().min(0))]),
  assistant_turns: z.enum(["all", "last"]),
})

/** What answers are compared with: the weights that the job starts from, or the base model. */
export const dpoReference = z.enum(["start", "base"])

export const dpoConfig = z.object({
  /** Pairs of one optimizer step. */
  batch_size: z.int().min(1),
  learning_rate: z.number().min(0),
  beta: z.number().gt(0),
  reference: dpoReference,
})

export const loraConfig = z.object({
  rank: z.int().min(1),
  alpha: z.number().gt(0),
  seed: z.int(),
})

export const trainParams = z.object({
  job_id: z.string(),
  base: baseRef,
  lora: loraConfig,
  /** Checkpoint folder to start from; null starts from the initial adapter that `lora` describes. */
  start: adapterRef.nullable(),
  /** KL reference; null is the base model. */
  reference: adapterRef.nullable(),
  data: z.object({ path: z.string(), sha256: z.string() }),
  job: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("rl"), config: rlConfig }),
    z.object({ kind: z.literal("sft"), config: sftConfig }),
    z.object({ kind: z.literal("dpo"), config: dpoConfig }),
  ]),
  /** The engine's own folder for this job: snapshots. Emptied by the server once the job has ended. */
  work_dir: z.string(),
  /**
   * The folder in which an RL job writes what it trained, trajectory by trajectory and token by token, for people to read
   * (`wire/engine/training-record.ts`). It outlives the job. Absent: nothing is recorded.
   */
  record_dir: z.string().optional(),
  /**
   * The new checkpoint. The folder `path` must not exist yet; it appears whole or not at all. `key` is the part that is known
   * before (`<model uuid>@<step>`): two jobs may make the same step, of which one is cancelled.
   */
  output: adapterRef,
})

/** `train` of an engine on another machine: the job's folders are the engine's own. */
export const remoteTrainParams = trainParams.omit({ work_dir: true, record_dir: true }).extend({
  start: carriedAdapter.nullable(),
  reference: carriedAdapter.nullable(),
  data: z.object({ sha256: z.string() }),
  /** Whether an RL job records what it trains. */
  is_recorded: z.boolean(),
  output: z.object({ key: z.string() }),
})

/** Event `training_started`. */
export const trainingStarted = z.object({ num_sequences: z.int() })

/** Event `gradient_step`. `number` counts from 1. Metric names: training-api 3.3, left column. */
export const gradientStep = z.object({ number: z.int(), metrics: z.record(z.string(), z.number()) })

/** Event `warning`: something the user should know and that did not stop the job. */
export const trainWarning = z.object({ message: z.string() })

/** Result of `train`: the checkpoint is on disk, synced, and its adapter is in a slot. */
export const trainResult = z.object({
  /** With the whole key: that of the parameters, `#` and `manifest_sha256`. */
  output: adapterRef,
  size_bytes: z.int(),
  /** SHA-256 of `manifest.json`, which lists every file with size and SHA-256. */
  manifest_sha256: z.string(),
  gradient_steps: z.int(),
  /** How trajectories became tokens: turns per source (`choice_ids`, `ledger`, `token_id_strings`, `retokenized`), drift, drops, mismatch. */
  data_metrics: z.record(z.string(), z.number()),
  /** Of an engine on another machine: the files of the checkpoint, and of the record. */
  files: z.array(contentFile).optional(),
  record: z.array(contentFile).optional(),
})

/** `train.cancel`: stop job `job_id` after the running gradient step; `train` ends with `cancelled`. */
export const trainCancelParams = z.object({ job_id: z.string() })

export type SpecTrajectory = z.infer<typeof specTrajectory>
export type CapturedGeneration = z.infer<typeof capturedGeneration>
export type CapturedRollout = z.infer<typeof capturedRollout>
export type SpecChoice = z.infer<typeof specChoice>
export type RlConfig = z.infer<typeof rlConfig>
export type SftConfig = z.infer<typeof sftConfig>
export type DpoConfig = z.infer<typeof dpoConfig>
export type LoraConfig = z.infer<typeof loraConfig>
export type TrainParams = z.infer<typeof trainParams>
export type TrainResult = z.infer<typeof trainResult>
