/** One admitted chat to what was sampled for it: the way of every protocol that chats. It is recorded before its end is told. */
import type { AdmittedRequest, ChatEvent, Gateway, SamplingCall } from "../gateway/gateway.ts"
import type { EngineChatResult, TokenLogprob } from "../wire/engine/chat.ts"
import { collectTokens, toSampled } from "./sampled-choice.ts"

export interface AdmittedChat {
  /** Of the answer. */
  id: string
  admitted: AdmittedRequest
  call: SamplingCall
}

/** @throws {HeddleError} */
export async function sampleChat(
  gateway: Gateway,
  { id, admitted, call }: AdmittedChat,
  signal: AbortSignal,
): Promise<EngineChatResult> {
  try {
    const result = await gateway.complete(admitted, call, signal)
    await gateway.record(admitted, { id, sampling: call.sampling, choices: sampledOf(result) })
    return result
  } finally {
    await admitted.release()
  }
}

/** The events a batch at a time; its result has the tokens too. Who stops reading before the end must call `return`. @throws {HeddleError} */
export async function* sampleStream(
  gateway: Gateway,
  { id, admitted, call }: AdmittedChat,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent[], EngineChatResult> {
  try {
    const sampled = new Map<number, TokenLogprob[]>()
    await using batches = gateway.stream(admitted, call, signal)
    let next = await batches.next()
    while (next.done !== true) {
      for (const each of next.value) collectTokens(sampled, each)
      yield next.value
      next = await batches.next()
    }
    const choices = next.value.choices.map((choice) => ({ ...choice, tokens: sampled.get(choice.index) ?? [] }))
    const result = { ...next.value, choices }
    await gateway.record(admitted, { id, sampling: call.sampling, choices: sampledOf(result) })
    return result
  } finally {
    await admitted.release()
  }
}

function sampledOf({ choices, prompt_token_ids }: EngineChatResult) {
  return choices.map((choice) => toSampled(choice, choice.tokens, prompt_token_ids))
}
