/** `POST /v1/completions`: inference-api 1 and 9. */
import { z } from "zod"
import { promptLogprobs } from "./prompt-logprobs.ts"
import { promptTexts } from "./prompt-texts.ts"
import { samplingFields, usage } from "./sampling.ts"
import { structuredFields } from "./structured-output.ts"

export const textCompletionRequest = z.looseObject({
  ...samplingFields,
  ...structuredFields,
  prompt: promptTexts,
  /** 0 only with `echo` or `prompt_logprobs`. */
  max_tokens: z.int().min(0).nullish(),
  /** How many alternatives a token's logprob comes with; here a number, in chat a flag. */
  logprobs: z.int().min(0).max(20).nullish(),
  best_of: z.int().nullish(),
  echo: z.boolean().nullish(),
  suffix: z.string().nullish(),
})

const logprobs = z.object({
  tokens: z.array(z.string()),
  /** null: the first token of an echoed prompt, which nothing predicts. */
  token_logprobs: z.array(z.number().nullable()),
  top_logprobs: z.array(z.record(z.string(), z.number()).nullable()),
  text_offset: z.array(z.int()),
})

export const textChoice = z.object({
  index: z.int(),
  text: z.string(),
  /** Base models return it on request only. */
  logprobs: logprobs.nullable(),
  finish_reason: z.enum(["stop", "length"]).nullable(),
  stop_reason: z.union([z.string(), z.int()]).nullable(),
  /** Base models leave it out with `return_token_ids: false`. */
  token_ids: z.array(z.int()).optional(),
  prompt_token_ids: z.array(z.int()).optional(),
  prompt_logprobs: promptLogprobs.optional(),
  heddle_ledger_key: z.string().optional(),
})

export const textCompletion = z.object({
  id: z.string(),
  object: z.literal("text_completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(textChoice),
  usage: usage.nullable().optional(),
})

export type TextCompletionRequest = z.infer<typeof textCompletionRequest>
export type TextChoice = z.infer<typeof textChoice>
