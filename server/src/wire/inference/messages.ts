/** `POST /v1/messages` and `/v1/messages/count_tokens` with Anthropic's field names: art-0.5.23 7. */
import { z } from "zod"
import { samplerFields } from "./sampling.ts"

/** Every other key is kept out of the prompt. Kinds that cannot be served are refused by name, with their place. */
export const contentBlock = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  thinking: z.string().nullish(),
  id: z.string().nullish(),
  name: z.string().nullish(),
  input: z.record(z.string(), z.unknown()).nullish(),
  tool_use_id: z.string().nullish(),
  is_error: z.boolean().nullish(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))], "a text, or a list of blocks").nullish(),
})

const content = z.union([z.string(), z.array(contentBlock)], "a text, or a list of blocks with a type each")

export const messageTurn = z.looseObject({ role: z.enum(["user", "assistant", "system"]), content })

export const messageTool = z.looseObject({
  name: z.string().min(1),
  type: z.string().nullish(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()).nullish(),
})

const promptFields = {
  messages: z.array(messageTurn).min(1),
  system: content.nullish(),
  tools: z.array(messageTool).nullish(),
  tool_choice: z
    .looseObject({
      type: z.enum(["auto", "any", "tool", "none"]),
      name: z.string().nullish(),
      disable_parallel_tool_use: z.boolean().nullish(),
    })
    .nullish(),
  thinking: z
    .looseObject({ type: z.enum(["enabled", "disabled", "adaptive"]), budget_tokens: z.int().min(1).nullish() })
    .nullish(),
  output_config: z
    .looseObject({
      effort: z.string().nullish(),
      format: z.looseObject({ type: z.string(), schema: z.record(z.string(), z.unknown()).nullish() }).nullish(),
    })
    .nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
}

/** Unknown fields are accepted: clients send their own. */
export const messagesRequest = z.looseObject({
  ...samplerFields,
  ...promptFields,
  max_tokens: z.int().min(1),
  stop_sequences: z.array(z.string()).nullish(),
  thread: z.looseObject({ type: z.enum(["create", "continue"]), previous_message_id: z.string().nullish() }).nullish(),
})

export const countTokensRequest = z.looseObject({ model: samplerFields.model, ...promptFields })
export const countTokensAnswer = z.object({ input_tokens: z.int() })

const answerBlock = z.discriminatedUnion("type", [
  z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal("text"), text: z.string(), citations: z.null() }),
  z.object({
    type: z.literal("tool_use"),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
])

const stopReason = z.enum(["end_turn", "max_tokens", "stop_sequence", "tool_use"])
const messageUsage = z.object({ input_tokens: z.int(), output_tokens: z.int() })

export const messageAnswer = z.object({
  id: z.string(),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(answerBlock),
  stop_reason: stopReason,
  stop_sequence: z.string().nullable(),
  usage: messageUsage,
  prompt_token_ids: z.array(z.int()),
  token_ids: z.array(z.int()),
  logprobs: z.array(z.number()),
})

const delta = z.discriminatedUnion("type", [
  z.object({ type: z.literal("thinking_delta"), thinking: z.string() }),
  z.object({ type: z.literal("signature_delta"), signature: z.string() }),
  z.object({ type: z.literal("text_delta"), text: z.string() }),
  z.object({ type: z.literal("input_json_delta"), partial_json: z.string() }),
])

/** The events of a stream, in this order; the three of a block come once for each. */
export const messageEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message_start"),
    message: messageAnswer
      .omit({ token_ids: true, logprobs: true })
      .extend({ content: z.array(answerBlock).max(0), stop_reason: z.null() }),
  }),
  z.object({ type: z.literal("content_block_start"), index: z.int(), content_block: answerBlock }),
  z.object({ type: z.literal("content_block_delta"), index: z.int(), delta }),
  z.object({ type: z.literal("content_block_stop"), index: z.int() }),
  z.object({
    type: z.literal("message_delta"),
    delta: z.object({ stop_reason: stopReason, stop_sequence: z.string().nullable() }),
    usage: messageUsage,
    prompt_token_ids: z.array(z.int()),
    token_ids: z.array(z.int()),
    logprobs: z.array(z.number()),
  }),
  z.object({ type: z.literal("message_stop") }),
])

export type ContentBlock = z.infer<typeof contentBlock>
export type MessageTurn = z.infer<typeof messageTurn>
export type MessagesRequest = z.infer<typeof messagesRequest>
export type CountTokensRequest = z.infer<typeof countTokensRequest>
export type MessageBlock = z.infer<typeof answerBlock>
export type Message = z.infer<typeof messageAnswer>
export type MessageEvent = z.infer<typeof messageEvent>
