/** Request fields that chat and text completions share: inference-api 3, training-api 4.4. null means absent everywhere. */
import { z } from "zod"
import { repetitionPenalty } from "../engine/chat.ts"

const flag = z.boolean().nullish()
const tokenIds = z.array(z.int().min(0))

/** Rounded past 2^53; the handler takes the seed from the exact body. */
const int64 = z
  .number()
  .refine((value) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63, "a seed is a whole number of 64 bits")

/** Those that mean the same in every protocol. */
export const samplerFields = {
  model: z.string().min(1).max(1024),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  seed: int64.nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z.record(z.string().regex(/^\d+$/, "a token id"), z.number().min(-100).max(100)).nullish(),
  stream: flag,
  /** −1 is vLLM's other way to say "every token". */
  top_k: z.int().min(-1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: repetitionPenalty.nullish(),
  min_tokens: z.int().min(0).nullish(),
  stop_token_ids: tokenIds.nullish(),
  allowed_token_ids: tokenIds.min(1).nullish(),
  ignore_eos: flag,
  include_stop_str_in_output: flag,
  skip_special_tokens: flag,
  cache_salt: z.string().min(1).max(1024).nullish(),
}

export const samplingFields = {
  ...samplerFields,
  max_tokens: z.int().min(1).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([z.string(), z.array(z.string())], "a text or a list of texts").nullish(),
  stream_options: z.looseObject({ include_usage: flag }).nullish(),
  user: z.string().nullish(),
  prompt_logprobs: z.int().min(0).max(20).nullish(),
  return_token_ids: flag,
  return_tokens_as_token_ids: flag,
}

export const samplingRequest = z.looseObject(samplingFields)
export type SamplingRequest = z.infer<typeof samplingRequest>

export const usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int() }),
})
export type Usage = z.infer<typeof usage>
