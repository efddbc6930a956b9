/** `/v1/responses` with OpenAI's field names: art-0.5.23 6. */
import { z } from "zod"
import { samplerFields } from "./sampling.ts"

const flag = z.boolean().nullish()
const schema = z.record(z.string(), z.unknown())

const contentPart = z.looseObject({ type: z.string(), text: z.string().nullish(), refusal: z.string().nullish() })
const content = z.union([z.string(), z.array(contentPart)], "a text, or a list of parts with a type each")

/** Items that an earlier answer gave come back as they were. Kinds that cannot be served are refused by name, with their place. */
export const responseInputItem = z.looseObject({
  /** Optional for a message. */
  type: z.string().nullish(),
  id: z.string().nullish(),
  role: z.enum(["user", "assistant", "system", "developer"]).nullish(),
  content: content.nullish(),
  call_id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: z.string().nullish(),
  output: content.nullish(),
})

export const responseTool = z.looseObject({
  type: z.string(),
  name: z.string().nullish(),
  description: z.string().nullish(),
  parameters: schema.nullish(),
  strict: flag,
})

const toolName = z.looseObject({ type: z.string(), name: z.string().nullish() })
/** A kind that cannot be served is refused by name. Malformed allowed tools are none: without `abort` zod would say just that. */
const namedChoice = toolName.refine(({ type }) => type !== "allowed_tools", { abort: true })

/** Unknown fields are accepted: clients send their own. */
export const responsesRequest = z.looseObject({
  ...samplerFields,
  input: z.union([z.string(), z.array(responseInputItem).min(1)], "a text, or a list of items"),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  store: flag,
  max_output_tokens: z.int().min(1).nullish(),
  tools: z.array(responseTool).nullish(),
  tool_choice: z
    .union(
      [
        z.enum(["none", "auto", "required"]),
        z.looseObject({
          type: z.literal("allowed_tools"),
          mode: z.enum(["auto", "required"]),
          tools: z.array(toolName),
        }),
        namedChoice,
      ],
      'one of "none", "auto", "required", {"type": "function", "name": "…"} and ' +
        '{"type": "allowed_tools", "mode": "auto", "tools": […]}',
    )
    .nullish(),
  parallel_tool_calls: flag,
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  text: z
    .looseObject({
      format: z.looseObject({ type: z.string(), name: z.string().nullish(), schema: schema.nullish() }).nullish(),
    })
    .nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  include: z.array(z.string()).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  chat_template_kwargs: schema.nullish(),
})

export const inputTokensAnswer = z.object({ object: z.literal("response.input_tokens"), input_tokens: z.int() })

const itemStatus = z.enum(["in_progress", "completed", "incomplete"])
const logprobPart = { token: z.string(), logprob: z.number(), bytes: z.array(z.int()) }

const outputText = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.never()),
  logprobs: z.array(z.object({ ...logprobPart, top_logprobs: z.array(z.object(logprobPart)) })),
})

export const responseItem = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("reasoning"),
    id: z.string(),
    summary: z.array(z.never()),
    content: z.array(z.object({ type: z.literal("reasoning_text"), text: z.string() })),
    status: itemStatus,
  }),
  z.object({
    type: z.literal("message"),
    id: z.string(),
    role: z.literal("assistant"),
    status: itemStatus,
    content: z.array(outputText),
  }),
  z.object({
    type: z.literal("function_call"),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status: itemStatus,
  }),
])

const tokenGeneration = z.object({
  prompt_token_ids: z.array(z.int()),
  output_tokens: z.array(z.object({ token_id: z.int(), logprob: z.number() })),
  output_indices: z.array(z.int()),
  logprobs_mode: z.literal("raw_logprobs"),
})

export const responseUsage = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
})

export const responseAnswer = z.object({
  id: z.string(),
  object: z.literal("response"),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  model: z.string(),
  status: z.enum(["in_progress", "completed", "incomplete", "failed", "cancelled"]),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.object({ reason: z.literal("max_output_tokens") }).nullable(),
  output: z.array(responseItem),
  background: z.literal(false),
  instructions: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  parallel_tool_calls: z.boolean(),
  previous_response_id: z.string().nullable(),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
  store: z.boolean(),
  temperature: z.number(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }) }),
  tool_choice: z.unknown(),
  tools: z.array(z.looseObject({ type: z.string() })),
  top_logprobs: z.int(),
  top_p: z.number(),
  truncation: z.literal("disabled"),
  usage: responseUsage.nullable(),
  /** Left out until the answer is whole. */
  token_generations: z.array(tokenGeneration).optional(),
})

export const responseParams = z.object({ response_id: z.string() })

export const responseQuery = z.object({ stream: z.string().optional() })

export const deletedResponse = z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) })

export const inputItemsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().optional(),
})

export const inputItemList = z.object({
  object: z.literal("list"),
  data: z.array(z.looseObject({ id: z.string(), type: z.string() })),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
})

const ofResponse = { sequence_number: z.int(), response: responseAnswer }
const ofItem = { sequence_number: z.int(), output_index: z.int() }
const ofPart = { ...ofItem, item_id: z.string(), content_index: z.literal(0) }

/** The events of a stream. */
export const responseEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("response.created"), ...ofResponse }),
  z.object({ type: z.literal("response.in_progress"), ...ofResponse }),
  z.object({ type: z.literal("response.output_item.added"), ...ofItem, item: responseItem }),
  z.object({ type: z.literal("response.content_part.added"), ...ofPart, part: outputText }),
  z.object({
    type: z.literal("response.output_text.delta"),
    ...ofPart,
    delta: z.string(),
    logprobs: z.array(z.never()),
  }),
  z.object({ type: z.literal("response.output_text.done"), ...ofPart, text: z.string(), logprobs: z.array(z.never()) }),
  z.object({ type: z.literal("response.content_part.done"), ...ofPart, part: outputText }),
  z.object({ type: z.literal("response.reasoning_text.delta"), ...ofPart, delta: z.string() }),
  z.object({ type: z.literal("response.reasoning_text.done"), ...ofPart, text: z.string() }),
  z.object({
    type: z.literal("response.function_call_arguments.delta"),
    ...ofItem,
    item_id: z.string(),
    delta: z.string(),
  }),
  z.object({
    type: z.literal("response.function_call_arguments.done"),
    ...ofItem,
    item_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({ type: z.literal("response.output_item.done"), ...ofItem, item: responseItem }),
  z.object({ type: z.literal("response.completed"), ...ofResponse }),
  z.object({ type: z.literal("response.incomplete"), ...ofResponse }),
  z.object({ type: z.literal("response.failed"), ...ofResponse }),
])

export type ResponsesRequest = z.infer<typeof responsesRequest>
export type ResponseInputItem = z.infer<typeof responseInputItem>
export type ResponseTool = z.infer<typeof responseTool>
export type ResponseItem = z.infer<typeof responseItem>
export type ResponseAnswer = z.infer<typeof responseAnswer>
export type ResponseEvent = z.infer<typeof responseEvent>
