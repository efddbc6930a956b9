/**
 * What a job is made of, as a model says it, and as the API takes it (`wire/training/train-from.ts`). The target is the API's
 * own; sources name their project and choose calls as the other tools do.
 */
import { z } from "zod"
import { trainingTarget } from "../../wire/training/train-from.ts"
import { projectField } from "../tool.ts"
import { callSelection, selectionOf } from "./call-conditions.ts"

const source = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("calls"),
    project: projectField,
    ...callSelection,
    feedback_type: z.string().min(1).max(200).optional().describe("Only calls that have such feedback."),
    limit: z.int().min(1).optional(),
  }),
  z.strictObject({ kind: z.literal("queue"), project: projectField, queue_id: z.string().min(1) }),
  z.strictObject({
    kind: z.literal("evaluation"),
    project: projectField,
    evaluation_call_ids: z.array(z.string().min(1)).min(1).max(100),
  }),
  z.strictObject({
    kind: z.literal("dataset"),
    project: projectField,
    object_id: z.string().min(1).describe("Name of a published dataset."),
    digest: z.string().optional().describe("Its version; by default the newest."),
  }),
  z.strictObject({
    kind: z.literal("rollouts"),
    project: projectField,
    rollout_ids: z.array(z.string().min(1)).min(1).max(1000).optional(),
    group: z.string().optional(),
    step: z.int().min(0).optional().describe("Only rollouts with a turn of this checkpoint."),
    since: z.iso.datetime({ offset: true }).optional(),
    until: z.iso.datetime({ offset: true }).optional(),
    queue_id: z.string().min(1).optional().describe("The queue whose labels label.<field> means."),
  }),
])

/** Arguments of the dry run and of the job alike. */
export const trainFromInput = z.strictObject({
  model_id: z.string().min(1).describe("Of list_models or create_model."),
  source,
  target: trainingTarget,
  config: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "Settings of fine-tuning and of pairs: batch_size, learning_rate; of fine-tuning also assistant_turns (all or last).",
    ),
  experimental_config: z.record(z.string(), z.unknown()).optional().describe("Settings of reinforcement learning."),
})

export function trainFromBodyOf(input: z.output<typeof trainFromInput>): object {
  return { ...input, source: sourceOf(input.source) }
}

function sourceOf(given: z.output<typeof source>): object {
  const { project, ...rest } = given
  if (given.kind !== "calls") return { ...rest, project_id: project }
  const { kind, feedback_type, limit } = given
  return { kind, project_id: project, feedback_type, limit, ...selectionOf(project, given) }
}
