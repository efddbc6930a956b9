/** One admitted chat to its answer or its chunks, recorded before either ends: inference-api 5 and 6. */
import { ledgerKey } from "../gateway/completion-record.ts"
import type { AdmittedRequest, ChatEvent, Gateway, SamplingCall } from "../gateway/gateway.ts"
import type { ChatRequest } from "../wire/inference/chat.ts"
import { chatAnswerJson, toUsage } from "./chat-answer.ts"
import { type ChunkFrame, deltaChunk, finishChunk, roleChunk, usageChunk } from "./chat-chunks.ts"
import { completionId, shownTokens, unixSeconds } from "./completion-request.ts"
import { sampleChat, sampleStream } from "./sampled-chat.ts"
import { exactStructuredFields } from "./structured-output.ts"

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
    shown: shownTokens(body, body.logprobs ?? null, admitted),
    promptLogprobs: body.prompt_logprobs ?? null,
    parallelToolCalls: body.parallel_tool_calls ?? true,
    ledgerKey: admitted.served.trained === null ? null : (index) => ledgerKey(id, index),
    n: body.n ?? 1,
    includeUsage: body.stream_options?.include_usage ?? false,
  }
}

/** The answer as JSON text. @throws {HeddleError} */
export async function completeChat(gateway: Gateway, chat: ReadyChat, signal: AbortSignal): Promise<string> {
  return chatAnswerJson(chat.frame, await sampleChat(gateway, { ...chat, id: chat.frame.id }, signal))
}

/** The chunks as JSON texts, a batch at a time. @throws {HeddleError} */
export async function* streamChat(gateway: Gateway, chat: ReadyChat, signal: AbortSignal): AsyncGenerator<string[]> {
  const { frame } = chat
  await using batches = sampleStream(gateway, { ...chat, id: frame.id }, signal)
  let next = await batches.next()
  while (next.done !== true) {
    yield next.value.map((each) => eventChunk(frame, each))
    next = await batches.next()
  }
  const finish = next.value.choices.map((choice) => finishChunk(frame, choice))
  yield frame.includeUsage ? [...finish, usageChunk(frame, toUsage(next.value))] : finish
}

function eventChunk(frame: ChunkFrame, each: ChatEvent): string {
  return each.event === "start" ? roleChunk(frame, each.data.prompt_token_ids) : deltaChunk(frame, each.data)
}
