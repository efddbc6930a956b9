/** Rollouts that the server gathers from the calls that name them, and what they earned. */
import { z } from "zod"
import { exchanges } from "./exchange.ts"
import { pageOf, pageQuery } from "./page.ts"
import { rewardValue } from "./reward-value.ts"

/** `<team>/<project>`. */
const projectId = z.string()

export const rolloutParams = z.object({ rollout_id: z.string() })
/** Which project is meant; needed only where several that the caller may see have a rollout of this id. */
export const rolloutQuery = z.object({ project_id: projectId.optional() })

const flag = z.enum(["true", "false"]).transform((text) => text === "true")

export const rolloutsQuery = pageQuery.extend({
  project_id: projectId,
  group: z.string().optional(),
  /** Rollouts with a turn of this model. */
  model_id: z.string().optional(),
  step: z.coerce.number().int().min(0).optional(),
  rewarded: flag.optional(),
  /** Time of the first turn; `since` is inclusive, `until` exclusive. */
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
  order: z.enum(["asc", "desc"]).default("desc"),
})

export const rolloutIssue = z.object({
  code: z.enum([
    "expired",
    "unrewarded",
    "unfinished_turns",
    "several_models",
    "several_steps",
    "several_groups",
    "untrained_model",
  ]),
  message: z.string(),
})

const rolloutModel = z.object({
  /** The model's address, or the name of a base model. */
  model: z.string(),
  /** null: a base model. */
  model_id: z.uuid().nullable(),
  step: z.int().nullable(),
  turns: z.int(),
})

export const rollout = z.object({
  /** As the client named it. */
  id: z.string(),
  object: z.literal("rollout"),
  project_id: projectId,
  group: z.string().nullable(),
  created_at: z.iso.datetime(),
  last_turn_at: z.iso.datetime(),
  /** From then on messages and tokens are gone, unless another turn comes. */
  expires_at: z.iso.datetime(),
  /** The newest; null: nobody has given one. */
  reward: z.number().nullable(),
  rewarded_at: z.iso.datetime().nullable(),
  turns: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  models: z.array(rolloutModel),
  /** Reasons why it, or a part of it, cannot be trained or deserves a look. */
  issues: z.array(rolloutIssue),
})

export const rolloutPage = pageOf(rollout)

export const reward = z.object({
  id: z.uuid(),
  object: z.literal("rollout.reward"),
  key: z.string().nullable(),
  reward: z.number(),
  metrics: z.record(z.string(), z.number()),
  reason: z.string().nullable(),
  user_id: z.uuid(),
  username: z.string(),
  created_at: z.iso.datetime(),
})

/** Rewards are all that were given, the newest last; it is the one that counts. */
export const readRollout = rollout.extend({ rewards: z.array(reward) })

export const rewardBody = z.looseObject({
  reward: rewardValue,
  /** The same reward with the same key again changes nothing. */
  key: z.string().min(1).max(256).nullish(),
  /** Parts of the reward and whatever else was measured. */
  metrics: z
    .record(z.string().min(1).max(128), rewardValue)
    .refine((metrics) => Object.keys(metrics).length <= 100, "at most 100 metrics")
    .nullish(),
  reason: z.string().max(10_000).nullish(),
})

export const deletedRollout = z.object({
  id: z.string(),
  object: z.literal("rollout.deleted"),
  deleted: z.literal(true),
  turns: z.int(),
})

export const turnsQuery = pageQuery.extend({
  project_id: projectId.optional(),
  /** With the ids and raw log-probabilities. */
  tokens: flag.default(false),
})

const loose = z.looseObject({})

const turnChoice = z.object({
  index: z.int(),
  /** null: the turn is not finished. */
  finish_reason: z.string().nullable(),
  /** Message of a chat; a completion has `text`. */
  message: loose.optional(),
  text: z.string().optional(),
  /** Only where it is not the turn's. */
  prompt_token_ids: z.array(z.int()).optional(),
  token_ids: z.array(z.int()).optional(),
  logprobs: z.array(z.number().nullable()).optional(),
})

export const rolloutTurn = z.object({
  /** Id of the answer. */
  id: z.string(),
  object: z.literal("rollout.turn"),
  protocol: z.enum(["chat_completions", "completions", "responses", "messages"]),
  /** As it was asked for. */
  model: z.string(),
  model_id: z.uuid().nullable(),
  step: z.int().nullable(),
  base_model: z.string(),
  group: z.string().nullable(),
  trace_id: z.string().nullable(),
  span_id: z.string().nullable(),
  call_id: z.string().nullable(),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime(),
  /** false: its stream broke off; it is not trained. */
  is_finished: z.boolean(),
  /** The turn whose tokens its prompt begins with; null: it begins a branch. */
  extends: z.string().nullable(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  /** true: what follows is gone, and null. */
  is_expired: z.boolean(),
  /** In the form of a chat, whatever the protocol; of a completion its prompt. */
  messages: z.array(loose).nullable(),
  tools: z.array(loose).nullable(),
  prompt: z.unknown(),
  choices: z.array(turnChoice).nullable(),
  prompt_token_ids: z.array(z.int()).optional(),
})

export const turnPage = pageOf(rolloutTurn)

/** A trajectory as `POST /v1/preview/training-jobs` takes it. */
export const rolloutTrajectory = z.object({
  exchanges,
  reward: z.number(),
  metrics: z.record(z.string(), z.number()),
  metadata: z.record(z.string(), z.unknown()),
})

export type Rollout = z.infer<typeof rollout>
export type RolloutIssue = z.infer<typeof rolloutIssue>
export type RolloutReward = z.infer<typeof reward>
export type RolloutTurn = z.infer<typeof rolloutTurn>
