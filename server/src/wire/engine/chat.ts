/** `chat`: sample completions of one prompt. The gateway has already resolved the model name. */
import { z } from "zod"
import { baseRef } from "./base.ts"

/**
 * Names one immutable set of LoRA weights. `key` is unique for ever (`<model uuid>@<step>#<SHA-256 of manifest.json>`), so
 * caches keyed by it never go stale. The engine reads `path` (a PEFT folder) when the key is not
 * in a slot yet.
 */
export const adapterRef = z.object({ key: z.string(), path: z.string() })

export const chatMessage = z.looseObject({ role: z.string() })

const constraint = z.object({
  /** The field of the client's request that says so; errors name it. */
  param: z.string(),
})
/** Constraint on an answer: JSON of a schema, a text that a pattern or grammar matches whole, or one of some texts. */
export const structuredOutput = z.discriminatedUnion("kind", [
  constraint.extend({ kind: z.literal("json"), schema: z.record(z.string(), z.unknown()) }),
  constraint.extend({ kind: z.literal("regex"), text: z.string() }),
  constraint.extend({ kind: z.literal("choice"), options: z.array(z.string()).min(1) }),
  /** In GBNF or in llguidance's Lark. */
  constraint.extend({ kind: z.literal("grammar"), text: z.string() }),
])

/** Logits that are multiplied by less or more may not be finite, and then no mask holds any more. */
export const repetitionPenalty = z.number().min(1e-6).max(1e6)

export const samplingParams = z.object({
  /** 0, only where `prompt_logprobs` asks for some: nothing is sampled. */
  max_tokens: z.int().min(0).nullable(),
  min_tokens: z.int().min(0).default(0),
  temperature: z.number().min(0).max(2).default(1),
  top_p: z.number().gt(0).max(1).default(1),
  /** 0 keeps every token. */
  top_k: z.int().min(0).default(0),
  min_p: z.number().min(0).max(1).default(0),
  presence_penalty: z.number().min(-2).max(2).default(0),
  frequency_penalty: z.number().min(-2).max(2).default(0),
  repetition_penalty: repetitionPenalty.default(1),
  /** Token id (as a string, JSON keys being strings) → added to its logit, −100…100. */
  logit_bias: z.record(z.string(), z.number()).default({}),
  allowed_token_ids: z.array(z.int()).nullable().default(null),
  /** Any int64, as a decimal string so that values above 2^53 survive. */
  seed: z.string().nullable().default(null),
  stop: z.array(z.string()).default([]),
  stop_token_ids: z.array(z.int()).default([]),
  ignore_eos: z.boolean().default(false),
  include_stop_str_in_output: z.boolean().default(false),
  skip_special_tokens: z.boolean().default(true),
  /** How many alternatives to report per token, 0…20. */
  top_logprobs: z.int().min(0).max(20).default(0),
})

/** Exactly one of `messages` (rendered with the model's chat template), `prompt` and `prompt_token_ids`. */
export const chatParams = z.object({
  base: baseRef,
  /** null samples from the base model. */
  adapter: adapterRef.nullable(),
  messages: z.array(chatMessage).nullable().default(null),
  prompt: z.string().nullable().default(null),
  prompt_token_ids: z.array(z.int()).nullable().default(null),
  tools: z.array(z.looseObject({})).nullable().default(null),
  /** For `required` and a named function the prompt ends with the beginning of a call, and the sampler is held to the rest. */
  tool_choice: z.union([z.enum(["none", "auto", "required"]), z.object({ name: z.string() })]).default("auto"),
  chat_template_kwargs: z.record(z.string(), z.unknown()).default({}),
  add_generation_prompt: z.boolean().default(true),
  continue_final_message: z.boolean().default(false),
  sampling: samplingParams,
  n: z.int().min(1).max(128).default(1),
  /** true: `delta` events as tokens come. false: only the result. */
  stream: z.boolean().default(false),
  /** Whose call it is. Tenants take turns, and none can take every place. */
  tenant: z.string().default(""),
  /** Separates prompt caches: the same prompt under another salt never shares cached keys and values. */
  cache_salt: z.string().default(""),
  /** Constraint on every choice, applied after its reasoning. Logprobs stay those of the unconstrained model. */
  structured_output: structuredOutput.nullable().default(null),
  /** How many alternatives to report for each token of the prompt, 0…20; null reports nothing of them. Not in a stream's events. */
  prompt_logprobs: z.int().min(0).max(20).nullable().default(null),
})

const alternative = z.object({ id: z.int(), logprob: z.number(), bytes: z.array(z.int()) })

/** One generated token. `logprob` is raw: log-softmax of the model's own logits, before temperature, bias and cut-offs. */
export const tokenLogprob = z.object({
  id: z.int(),
  logprob: z.number(),
  /** The token's own bytes; several tokens may share one character. A special token's are its literal text, which the content leaves out. */
  bytes: z.array(z.int()),
  top: z.array(alternative).default([]),
})

/** A token of the prompt. `rank`: 1 for the likeliest. Nothing predicts the first, which has neither. */
export const promptLogprob = z.object({
  id: z.int(),
  logprob: z.number().nullable(),
  rank: z.int().nullable(),
  bytes: z.array(z.int()),
  top: z.array(alternative),
})

export const toolCall = z.object({
  id: z.string(),
  name: z.string(),
  /** JSON text, as the model wrote it. */
  arguments: z.string(),
})

export const finishReason = z.enum(["stop", "length", "tool_calls"])

/** Event `start`, once, before any delta. */
export const chatStart = z.object({ prompt_token_ids: z.array(z.int()), cached_tokens: z.int() })

/** Event `delta`: what one choice gained. Text is withheld while it may still turn into a stop string or a tool call. */
export const chatDelta = z.object({
  index: z.int(),
  content: z.string(),
  reasoning: z.string(),
  tool_calls: z.array(toolCall.extend({ index: z.int() })),
  tokens: z.array(tokenLogprob),
})

export const chatChoice = z.object({
  index: z.int(),
  /** null when the model only called tools. */
  content: z.string().nullable(),
  reasoning: z.string().nullable(),
  tool_calls: z.array(toolCall),
  finish_reason: finishReason,
  /** The stop string or stop token id that ended it; null for end-of-turn and length. */
  stop_reason: z.union([z.string(), z.int()]).nullable(),
  /** Every sampled token, the end-of-turn token included. Empty when streaming: the deltas carried them. */
  tokens: z.array(tokenLogprob),
})

/** Result of `chat`. */
export const chatResult = z.object({
  prompt_token_ids: z.array(z.int()),
  cached_tokens: z.int(),
  completion_tokens: z.int(),
  choices: z.array(chatChoice),
  /** As long as the prompt; null unless asked for. */
  prompt_logprobs: z.array(promptLogprob).nullable().default(null),
})

/** `embed`: one vector for a prompt, the mean of its tokens' last hidden states, of length 1. Cancelled by `chat.cancel`. */
export const embedParams = chatParams.pick({
  base: true,
  adapter: true,
  prompt: true,
  prompt_token_ids: true,
  tenant: true,
  cache_salt: true,
})
export const embedResult = z.object({
  prompt_token_ids: z.array(z.int()),
  cached_tokens: z.int(),
  completion_tokens: z.int(),
  embedding: z.array(z.number()),
})

/**
 * `chat.cancel`: ends call `id`, which may also be an embedding or an export: it frees its places of the batch at the next
 * step, and what it has written. That call ends with `cancelled`.
 */
export const cancelParams = z.object({ id: z.int() })

/** `tokenize` and `detokenize`, without sampling. */
export const tokenizeParams = chatParams.pick({
  base: true,
  messages: true,
  prompt: true,
  tools: true,
  chat_template_kwargs: true,
  add_generation_prompt: true,
  continue_final_message: true,
  tenant: true,
})
export const tokenizeResult = z.object({ token_ids: z.array(z.int()), max_model_len: z.int() })
export const detokenizeParams = chatParams.pick({ base: true, tenant: true }).extend({ token_ids: z.array(z.int()) })
export const detokenizeResult = z.object({ text: z.string() })

export type AdapterRef = z.infer<typeof adapterRef>
export type StructuredOutput = z.infer<typeof structuredOutput>
export type SamplingParams = z.infer<typeof samplingParams>
export type EngineChatParams = z.infer<typeof chatParams>
export type EngineChatParamsInput = z.input<typeof chatParams>
export type TokenLogprob = z.infer<typeof tokenLogprob>
export type EngineToolCall = z.infer<typeof toolCall>
export type PromptLogprob = z.infer<typeof promptLogprob>
export type FinishReason = z.infer<typeof finishReason>
export type ChatStart = z.infer<typeof chatStart>
export type ChatDelta = z.infer<typeof chatDelta>
export type ChatChoice = z.infer<typeof chatChoice>
export type EngineChatResult = z.infer<typeof chatResult>
