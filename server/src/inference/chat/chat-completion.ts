/** One admitted chat to its answer or its chunks, recorded before either ends: inference-api 5 and 6. */
import { ledgerKey } from "../../gateway/completion-record.ts"
import type { AdmittedRequest, ChatEvent, Gateway, SamplingCall } from "../../gateway/gateway.ts"
import type { EngineChatResult } from "../../wire/engine/chat.ts"
import type { ChatRequest } from "../../wire/inference/chat.ts"
import { chatAnswerJson, type ChatChunk, type ChunkFrame, toUsage } from "./chat-answer.ts"
import { completionId, tokenDetails, unixSeconds } from "../completion-request.ts"
import { policyFields } from "./policy-spans.ts"
import { type AdmittedChat, sampleChat, sampleStream } from "./sampled-chat.ts"
import { exactStructuredFields } from "../structured-output.ts"

/** Parts of a request that the engine gets as the client wrote them. */
export const opaqueFields = [
  "messages",
  "tools",
  "functions",
  "chat_template_kwargs",
  "seed",
  ...exactStructuredFields,
] as const

/** A chat that may begin: what it was admitted as, what the engine is asked, how it is answered. */
export interface ReadyChat {
  admitted: AdmittedRequest
  call: SamplingCall
  frame: ChunkFrame
}

export function frameOf(body: ChatRequest, admitted: AdmittedRequest): ChunkFrame {
  const id = completionId("chatcmpl")
  return {
    id,
    created: unixSeconds(),
    model: body.model,
    details: tokenDetails(body, body.logprobs ?? null, admitted),
    promptLogprobs: body.prompt_logprobs ?? null,
    parallelToolCalls: body.parallel_tool_calls ?? true,
    ledgerKey: admitted.served.trained === null ? null : (index) => ledgerKey(id, index),
    policy: policyFields(admitted.served),
    n: body.n ?? 1,
    includeUsage: body.stream_options?.include_usage ?? false,
  }
}

/** The answer as JSON text. @throws {HeddleError} */
export async function completeChat(gateway: Gateway, chat: ReadyChat, signal: AbortSignal): Promise<string> {
  return chatAnswerJson(chat.frame, await sampleReady(gateway, chat, signal))
}

function toAdmitted({ admitted, call, frame: { id } }: ReadyChat): AdmittedChat {
  return { id, protocol: "chat_completions", admitted, call }
}

/** @throws {HeddleError} */
export function sampleReady(gateway: Gateway, chat: ReadyChat, signal: AbortSignal): Promise<EngineChatResult> {
  return sampleChat(gateway, toAdmitted(chat), signal)
}

/** The chunks, a batch at a time. @throws {HeddleError} */
export async function* streamChat(gateway: Gateway, chat: ReadyChat, signal: AbortSignal): AsyncGenerator<ChatChunk[]> {
  const { frame } = chat
  await using batches = sampleStream(gateway, toAdmitted(chat), signal)
  let next = await batches.next()
  while (next.done !== true) {
    yield next.value.map(eventChunk)
    next = await batches.next()
  }
  const finish = next.value.choices.map((choice): ChatChunk => ({ kind: "finish", choice }))
  yield frame.includeUsage ? [...finish, { kind: "usage", usage: toUsage(next.value) }] : finish
}

function eventChunk(each: ChatEvent): ChatChunk {
  return each.event === "start"
    ? { kind: "role", promptTokenIds: each.data.prompt_token_ids }
    : { kind: "delta", delta: each.data }
}
