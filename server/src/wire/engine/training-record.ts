/**
 * The files that the engine leaves in `record_dir` of an RL job. Every line is the SHA-256 of a JSON text, a space, the
 * text. Arrays are in base64: little-endian float32 (NaN: unknown) or int32, or a byte of 0 or 1 each.
 */
import { z } from "zod"

export const dropCause = z.enum([
  "no_contrast",
  "zero_advantage",
  "overlong",
  "empty",
  "other_model",
  "no_ids",
  "no_logprobs",
  "no_choice",
  "repeated",
])

/** The first line of `trajectories.jsonl`. */
export const recordSummary = z.object({
  groups: z.int(),
  groups_with_contrast: z.int(),
  trajectories: z.int(),
  trajectories_trained: z.int(),
  trained_tokens: z.int(),
  lowest_reward: z.number().nullable(),
  highest_reward: z.number().nullable(),
  drops: z.array(z.object({ cause: dropCause, trajectories: z.int() })),
})

/** Every other line of `trajectories.jsonl`, in the order of the data. */
export const recordedTrajectory = z.object({
  group: z.int(),
  index: z.int(),
  reward: z.number(),
  /** Relative to the group, before the job's advantages are brought to one scale. */
  advantage: z.number(),
  question: z.string(),
  question_digest: z.string().nullable(),
  completions: z.int(),
  sampled_tokens: z.int(),
  /** Byte offset of its line in `turns.jsonl`. */
  turns_at: z.int(),
  turns_length: z.int(),
  sequences: z.array(
    z.object({
      /** The gradient step that trains it; null: it is longer than a row. */
      step: z.int().nullable(),
      tokens: z.int(),
      trained_tokens: z.int(),
      advantage: z.number(),
      weight: z.number(),
    }),
  ),
  /** `place`: of the completion; null: all of the trajectory, or a sequence of it. */
  drops: z.array(z.object({ cause: dropCause, place: z.string().nullable() })),
})

const recordedTokens = z.object({
  count: z.int(),
  ids: z.string(),
  text: z.array(z.string()),
  sampled: z.string(),
  /** Both absent where no token of it is trained. */
  sequence: z.int().optional(),
  trained: z.string().optional(),
})

/** A line of `turns.jsonl`. */
export const recordedTurns = z.object({
  tools: z.array(z.looseObject({})).nullable(),
  turns: z.array(
    z.union([
      z.object({
        history: z.int(),
        place: z.string(),
        message: z.looseObject({}).nullable(),
        tokens: recordedTokens.nullable(),
        cause: dropCause.nullable(),
      }),
      z.object({ history: z.int(), message: z.looseObject({}) }),
      z.object({ history: z.int(), context: z.string(), tokens_of_context: z.int() }),
    ]),
  ),
})

/** A line of `steps.jsonl`: over the trained tokens of each sequence of the step. */
export const recordedStep = z.object({
  number: z.int(),
  sequences: z.array(
    z.object({
      /** Which line of `trajectories.jsonl` after the first, from 0, and which of its sequences. */
      trajectory: z.int(),
      sequence: z.int(),
      logprobs: z.string(),
      ratios: z.string(),
      clipped: z.string(),
    }),
  ),
})

export type DropCause = z.infer<typeof dropCause>
export type RecordSummary = z.infer<typeof recordSummary>
export type RecordedTrajectory = z.infer<typeof recordedTrajectory>
export type RecordedTurns = z.infer<typeof recordedTurns>
export type RecordedTurn = RecordedTurns["turns"][number]
export type RecordedStep = z.infer<typeof recordedStep>
