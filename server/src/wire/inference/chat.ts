/** `POST /v1/chat/completions`: inference-api 3 to 6, training-api 4.4 and 4.5. */
import { z } from "zod"
import { promptLogprobs } from "./prompt-logprobs.ts"
import { samplingFields, usage } from "./sampling.ts"
import { structuredFields } from "./structured-output.ts"

const role = z.enum(["developer", "system", "user", "assistant", "tool", "function"])

/** Turns that a client replays carry whatever we answered, and more: every other key is kept. */
export const requestMessage = z.looseObject({
  role,
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string() }))], "a text, or a list of parts with a type each")
    .nullish(),
})

const functionSchema = z.looseObject({ name: z.string().min(1) })

/** `custom` and other kinds are refused by name; older ART sends bare functions without the wrapper. */
export const requestTool = z.union(
  [
    z.looseObject({ type: z.literal("function"), function: functionSchema }),
    z.looseObject({ type: z.string() }),
    functionSchema,
  ],
  'a tool is {"type": "function", "function": {"name": "…"}}',
)

const namedFunction = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({ name: z.string() }),
})
const allowedTools = z.looseObject({
  type: z.literal("allowed_tools"),
  allowed_tools: z.looseObject({
    mode: z.enum(["auto", "required"]),
    tools: z.array(namedFunction),
  }),
})

/** A kind that cannot be served is refused by name. Malformed allowed tools are none: without `abort` zod would say just that. */
const otherChoice = z.looseObject({ type: z.string() }).refine(({ type }) => type !== "allowed_tools", { abort: true })

/** Unknown fields are accepted: clients of several vendors send their own. */
export const chatRequest = z.looseObject({
  ...samplingFields,
  ...structuredFields,
  messages: z.array(requestMessage).min(1),
  /** Wins over `max_tokens`, its deprecated name. */
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  tools: z.array(requestTool).nullish(),
  tool_choice: z
    .union(
      [z.enum(["none", "auto", "required"]), allowedTools, namedFunction, otherChoice],
      'one of "none", "auto", "required", {"type": "function", "function": {"name": "…"}} and ' +
        '{"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": […]}}',
    )
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  functions: z.array(functionSchema).nullish(),
  function_call: z.union([z.enum(["none", "auto"]), z.looseObject({ name: z.string() })]).nullish(),
  reasoning_effort: z.string().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  add_generation_prompt: z.boolean().nullish(),
  continue_final_message: z.boolean().nullish(),
})

const logprobItem = z.object({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()),
  top_logprobs: z.array(z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) })),
})
const logprobs = z.object({ content: z.array(logprobItem), refusal: z.null() })

const toolCall = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
})

const finishReason = z.enum(["stop", "length", "tool_calls"])

/** openpipe-art takes a span with these keys and no others. */
const policySpans = z.array(
  z.object({
    start_token: z.int(),
    end_token: z.int(),
    generation_id: z.string(),
    policy_version: z.int(),
    lora_slot: z.string(),
    update_seq: z.int(),
  }),
)

export const chatChoice = z.object({
  index: z.int(),
  message: z.object({
    role: z.literal("assistant"),
    content: z.string().nullable(),
    refusal: z.null(),
    reasoning: z.string().nullable(),
    reasoning_content: z.string().nullable(),
    tool_calls: z.array(toolCall).min(1).optional(),
  }),
  /** Base models return it on request, trained models unless declined. */
  logprobs: logprobs.nullable(),
  finish_reason: finishReason,
  stop_reason: z.union([z.string(), z.int()]).nullable(),
  /** Base models leave it out with `return_token_ids: false`. */
  token_ids: z.array(z.int()).optional(),
  prompt_token_ids: z.array(z.int()).optional(),
  /** Only of trained models: which step read the prompt and sampled the answer (art-0.5.23 8). */
  prompt_policy_token_spans: policySpans.optional(),
  policy_token_spans: policySpans.optional(),
  /** Opaque; brings the sampled ids back to training when a client drops them (engine 5.4). Only for trainable models. */
  heddle_ledger_key: z.string().optional(),
})

export const chatCompletion = z.object({
  id: z.string(),
  object: z.literal("chat.completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(chatChoice),
  prompt_token_ids: z.array(z.int()).optional(),
  prompt_logprobs: promptLogprobs.optional(),
  usage,
})

export const chatChunk = z.object({
  id: z.string(),
  object: z.literal("chat.completion.chunk"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      delta: z.looseObject({}),
      logprobs: logprobs.nullable(),
      finish_reason: finishReason.nullable(),
      token_ids: z.array(z.int()).optional(),
      prompt_token_ids: z.array(z.int()).optional(),
      prompt_policy_token_spans: policySpans.optional(),
      policy_token_spans: policySpans.optional(),
      stop_reason: z.union([z.string(), z.int()]).nullable().optional(),
      heddle_ledger_key: z.string().optional(),
    }),
  ),
  prompt_token_ids: z.array(z.int()).optional(),
  usage: usage.nullable().optional(),
})

export type ChatRequest = z.infer<typeof chatRequest>
