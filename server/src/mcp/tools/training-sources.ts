/** What a job is made of, as a model says it, and as the API takes it (`wire/training/train-from.ts`). */
import { z } from "zod"
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
    since: z.iso.datetime({ offset: true }).optional(),
    until: z.iso.datetime({ offset: true }).optional(),
    queue_id: z.string().min(1).optional().describe("The queue whose labels label.<field> means."),
  }),
])

const part = z.strictObject({
  field: z
    .string()
    .min(1)
    .max(1000)
    .describe(
      "A number or yes and no: feedback.[<type>].payload.value, label.<field> of a queue, scores.<scorer> of an evaluation, " +
        "output.<path>, row.<path> of a dataset, rollout.reward and rollout.metrics.<name> of a rollout; a rollout also has " +
        "feedback, labels and scores of the calls it was made in.",
    ),
  weight: z.number().optional(),
  values: z.record(z.string(), z.number()).optional().describe('What texts count, such as {"good": 1, "bad": 0}.'),
  missing: z.number().optional().describe("What a row without the field counts; left out, such a row is dropped."),
})

const mapping = z
  .strictObject({
    messages: z.string().min(1).max(1000).optional(),
    answer: z.string().min(1).max(1000).optional(),
    tools: z.string().min(1).max(1000).optional(),
  })
  .optional()
  .describe("Only where calls are no chats the server knows: paths such as inputs.question and output.text.")

const target = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("sft").describe("Fine-tuning on answers."),
    mapping,
    corrections: z.array(z.string().min(1).max(1000)).max(20).optional().describe("Fields with a better answer."),
    score: z.array(part).max(20).optional(),
    min_score: z.number().optional().describe("Rows with less are left out."),
    best_of: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe("Of answers to the same question, input or field only the best."),
  }),
  z.strictObject({
    kind: z.literal("rl").describe("Reinforcement learning on answers of the model itself, compared within groups."),
    mapping,
    reward: z.array(part).min(1).max(20),
    group_by: z.string().min(1).max(1000).optional().describe("question, input, or a field."),
  }),
])

/** Arguments of the dry run and of the job alike. */
export const trainFromInput = z.strictObject({
  model_id: z.string().min(1).describe("Of list_models or create_model."),
  source,
  target,
  config: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Settings of fine-tuning: batch_size, learning_rate, assistant_turns (all or last)."),
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
