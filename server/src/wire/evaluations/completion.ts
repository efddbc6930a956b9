/** Completions and images made by the server: evaluation-store-calls 9, and the client generated into weave 0.54. */
import { z } from "zod"

/**
 * Only what the server itself looks at; the rest is checked by whoever serves the model. Keys and
 * their values reach it as they came.
 */
const completionInputs = z.looseObject({
  model: z.string().min(1),
  messages: z.array(z.unknown()).nullish(),
  /** Ref or name of a published prompt, whose messages come first. */
  prompt: z.string().nullish(),
  /** For `{name}` in messages. */
  template_vars: z.record(z.string(), z.unknown()).nullish(),
  /** Seconds. */
  timeout: z.union([z.number(), z.string()]).nullish(),
})

export const completionBody = z.object({
  project_id: z.string(),
  inputs: completionInputs,
  track_llm_call: z.boolean().nullish(),
  trace_id: z.string().nullish(),
  parent_id: z.string().nullish(),
  /** Groups completions: the thread of the recorded call. */
  conversation_id: z.string().nullish(),
  conversation_name: z.string().nullish(),
  source: z.string().nullish(),
  /** Refused: where a request goes is decided by the model's name. */
  inference_route: z.unknown().optional(),
  wb_user_id: z.string().nullish(),
})
export type CompletionBody = z.output<typeof completionBody>

/** An answer of the model, or `{"error": …}` when it failed. */
const response = z.record(z.string(), z.unknown())

export const completionAnswer = z.object({
  response,
  weave_call_id: z.string().nullable(),
  trace_id: z.string().nullable(),
  span_id: z.string().nullable(),
  conversation_id: z.string().nullable(),
})

/** One line of the stream: first `_meta` when the call is recorded, then chunks, at the end perhaps `error`. */
export const completionLine = z.looseObject({
  _meta: z
    .object({ weave_call_id: z.string(), trace_id: z.string(), conversation_id: z.string().nullable() })
    .optional(),
  error: z.string().optional(),
  /** With `error`: as the list of errors names it, `model_failed` for a service outside. */
  code: z.string().optional(),
  /** With `error`: when to ask again, where that is known. */
  retry_after_ms: z.number().optional(),
})

export const imageBody = z.object({
  project_id: z.string(),
  inputs: z.looseObject({ model: z.string().min(1), prompt: z.string().min(1), n: z.int().min(1).max(10).nullish() }),
  track_llm_call: z.boolean().nullish(),
  wb_user_id: z.string().nullish(),
})
export type ImageBody = z.output<typeof imageBody>

export const imageAnswer = z.object({ response, weave_call_id: z.string().nullable() })
