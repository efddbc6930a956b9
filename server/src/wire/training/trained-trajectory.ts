/** What an RL job trained: groups, one trajectory down to its tokens, the same question in other jobs. */
import { z } from "zod"
import { dropCause } from "../engine/training-record.ts"
import { pageOf, pageQuery } from "./page.ts"

/** Numbers as the request had them, from 0. */
const number = z.coerce.number().int().min(0).max(1_000_000_000)
export const trajectoryGroupParams = z.object({ training_job_id: z.string(), group: number })
export const trainedTrajectoryParams = trajectoryGroupParams.extend({ index: number })
export const trajectoryGroupsQuery = pageQuery

export const trajectoryDrop = z.object({
  cause: dropCause,
  /** Which completion; null: all of the trajectory. */
  place: z.string().nullable(),
  reason: z.string(),
})

export const listedTrajectory = z.object({
  index: z.int(),
  reward: z.number(),
  advantage: z.number(),
  completions: z.int(),
  sampled_tokens: z.int(),
  trained_tokens: z.int(),
  gradient_steps: z.array(z.int()),
  drops: z.array(trajectoryDrop),
})

export const trainedGroup = z.object({
  id: z.string(),
  group: z.int(),
  question: z.string(),
  question_digest: z.string().nullable(),
  mean_reward: z.number(),
  reward_std_dev: z.number(),
  has_contrast: z.boolean(),
  trajectories: z.array(listedTrajectory),
})

export const trajectorySummary = z.object({
  groups: z.int(),
  groups_with_contrast: z.int(),
  trajectories: z.int(),
  trajectories_trained: z.int(),
  trained_tokens: z.int(),
  lowest_reward: z.number().nullable(),
  highest_reward: z.number().nullable(),
  drops: z.array(z.object({ cause: dropCause, reason: z.string(), trajectories: z.int() })),
})

export const trajectoryGroupsAnswer = pageOf(trainedGroup).extend({
  state: z.enum(["waiting", "kept", "none"]),
  summary: trajectorySummary.nullable(),
})

export const trainedSequence = z.object({
  gradient_step: z.int().nullable(),
  tokens: z.int(),
  trained_tokens: z.int(),
  advantage: z.number(),
  weight: z.number(),
})

/** All lists are of equal length. */
export const trainedTokens = z.object({
  token_ids: z.array(z.int()),
  texts: z.array(z.string()),
  sampled_logprobs: z.array(z.number().nullable()),
  trained: z.array(z.boolean()),
  logprobs: z.array(z.number().nullable()),
  ratios: z.array(z.number().nullable()),
  clipped: z.array(z.boolean()),
})

export const trainedTurn = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), history: z.int(), message: z.looseObject({}) }),
  z.object({ type: z.literal("context"), history: z.int(), text: z.string(), tokens: z.int() }),
  z.object({
    type: z.literal("completion"),
    history: z.int(),
    place: z.string(),
    message: z.looseObject({}).nullable(),
    sequence: z.int().nullable(),
    drop: trajectoryDrop.nullable(),
    tokens: trainedTokens.nullable(),
  }),
])

export const trainedTrajectory = z.object({
  object: z.literal("trajectory"),
  training_job_id: z.uuid(),
  group: z.int(),
  index: z.int(),
  question: z.string(),
  question_digest: z.string().nullable(),
  reward: z.number(),
  advantage: z.number(),
  drops: z.array(trajectoryDrop),
  sequences: z.array(trainedSequence),
  tools: z.array(z.looseObject({})).nullable(),
  turns: z.array(trainedTurn),
})

export const sameQuestion = z.object({
  training_job_id: z.uuid(),
  created_at: z.iso.datetime(),
  output_step: z.int().nullable(),
  group: z.int(),
  mean_reward: z.number(),
  reward_std_dev: z.number(),
  has_contrast: z.boolean(),
  trajectories: z.array(z.object({ index: z.int(), reward: z.number() })),
})

export const sameQuestionAnswer = z.object({
  object: z.literal("list"),
  data: z.array(sameQuestion),
  jobs_searched: z.int(),
  is_complete: z.boolean(),
})

export type TrajectoryDrop = z.infer<typeof trajectoryDrop>
export type ListedTrajectory = z.infer<typeof listedTrajectory>
export type TrainedGroup = z.infer<typeof trainedGroup>
export type TrajectorySummary = z.infer<typeof trajectorySummary>
export type TrajectoryGroupsAnswer = z.infer<typeof trajectoryGroupsAnswer>
export type TrainedTokens = z.infer<typeof trainedTokens>
export type TrainedTurn = z.infer<typeof trainedTurn>
export type TrainedTrajectory = z.infer<typeof trainedTrajectory>
export type SameQuestion = z.infer<typeof sameQuestion>
export type SameQuestionAnswer = z.infer<typeof sameQuestionAnswer>
