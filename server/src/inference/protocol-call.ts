/** From the form that other protocols are translated to, to the engine's parameters: a chat, with errors in their own names. */
import type { SamplingCall } from "../gateway/gateway.ts"
import type { ChatRequest } from "../wire/inference/chat.ts"
import { toChatCall } from "./chat/chat-request.ts"

export interface ChatForm extends Pick<ChatRequest, "model" | "messages"> {
  max_tokens?: number | null | undefined
  stop?: string[] | null | undefined
  top_logprobs?: number | null | undefined
  tools?: Record<string, unknown>[] | undefined
  tool_choice?: ChatRequest["tool_choice"]
  reasoning_effort?: string | null | undefined
  chat_template_kwargs?: Record<string, unknown> | undefined
  continue_final_message?: boolean
  /** `response_format` of a chat, and the name that the client's own protocol has for it. */
  structured?: { format: NonNullable<ChatRequest["response_format"]>; param: string } | undefined
}

/** @throws {HeddleError} `invalid_request` for what is well-formed and cannot be served. */
export function toProtocolCall({ structured, ...form }: ChatForm): SamplingCall {
  const call = toChatCall({
    ...form,
    logprobs: (form.top_logprobs ?? 0) > 0,
    response_format: structured?.format,
  } as ChatRequest)
  const output = call.structured_output
  if (structured === undefined || output == null) return call
  return { ...call, structured_output: { ...output, param: structured.param } }
}
