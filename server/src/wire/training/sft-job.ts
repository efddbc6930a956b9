/** SFT job creation: training-api 2.5. */
import { z } from "zod"
import { boundedList } from "../bounded-list.ts"

const learningRate = z.number().min(0)

/** Every key may be absent or null, which means its default. Unknown keys are kept and named in a warning. */
export const sftJobConfig = z.looseObject({
  /** Rows per optimizer step; `auto` is 2. */
  batch_size: z.union([z.int().min(1), z.literal("auto")]).nullish(),
  /** A list has one value per batch. */
  learning_rate: z.union([learningRate, boundedList(learningRate, 100_000).min(1)]).nullish(),
  /** The step at which the client expects the job's metrics (training-api 3.5). */
  metric_logging: z.looseObject({ enabled: z.boolean(), target_training_step: z.int().min(0).nullish() }).nullish(),
  assistant_turns: z.enum(["all", "last"]).nullish(),
})

export const createSftJobBody = z.looseObject({
  model_id: z.string(),
  /** A file uploaded to `/v1/files` (its id or its address), or an https address. */
  training_data_url: z.string().min(1).max(8192),
  config: sftJobConfig.nullish(),
  experimental_config: z.looseObject({}).nullish(),
})

const role = z.enum(["developer", "system", "user", "assistant", "tool", "function"])

/** One line of the data file. */
export const sftRow = z.looseObject({
  messages: z
    .array(
      z.looseObject({
        role,
        content: z.union([z.string(), z.array(z.looseObject({}))]).nullish(),
        tool_calls: z.array(z.looseObject({})).nullish(),
      }),
    )
    .min(1)
    .refine((messages) => messages.at(-1)?.role === "assistant", "the last message must be the assistant's"),
  tools: z.array(z.looseObject({})).nullish(),
})

export type CreateSftJobBody = z.output<typeof createSftJobBody>
export type SftJobConfig = z.output<typeof sftJobConfig>
