/** Samples an admitted chat, for every protocol that chats, and records it before the client learns that it ended. */
import type { CompletionRecord } from "../../gateway/completion-record.ts"
import type { AdmittedRequest, ChatEvent, Gateway, SamplingCall } from "../../gateway/gateway.ts"
import type { TurnProtocol } from "../../storage/catalog/training/rollouts-schema.ts"
import type { EngineChatResult } from "../../wire/engine/chat.ts"
import { StreamedChoices, toSampled } from "./sampled-choice.ts"

export interface AdmittedChat {
  /** Id of the answer. */
  id: string
  protocol: TurnProtocol
  admitted: AdmittedRequest
  call: SamplingCall
}

/** @throws {HeddleError} */
export async function sampleChat(gateway: Gateway, chat: AdmittedChat, signal: AbortSignal): Promise<EngineChatResult> {
  const { admitted, call } = chat
  try {
    const result = await gateway.complete(admitted, call, signal)
    await gateway.record(admitted, recordOf(chat, sampledOf(result)))
    return result
  } finally {
    await admitted.release()
  }
}

/** Yields the events in batches; the result has the tokens too. A reader that stops before the end must call `return`. @throws {HeddleError} */
export async function* sampleStream(
  gateway: Gateway,
  chat: AdmittedChat,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent[], EngineChatResult> {
  const { admitted, call } = chat
  const streamed = new StreamedChoices()
  let isRecorded = false
  try {
    await using batches = gateway.stream(admitted, call, signal)
    let next = await batches.next()
    while (next.done !== true) {
      for (const each of next.value) streamed.add(each)
      yield next.value
      next = await batches.next()
    }
    const choices = next.value.choices.map((choice) => ({ ...choice, tokens: streamed.tokensOf(choice.index) }))
    const result = { ...next.value, choices }
    isRecorded = true
    await gateway.record(admitted, recordOf(chat, sampledOf(result)))
    return result
  } finally {
    if (!isRecorded) await gateway.recordBroken(admitted, recordOf(chat, streamed.unfinished()))
    await admitted.release()
  }
}

function recordOf({ id, protocol, call }: AdmittedChat, choices: CompletionRecord["choices"]): CompletionRecord {
  const { messages, tools, sampling } = call
  return { id, protocol, request: { messages, tools }, sampling, choices }
}

function sampledOf({ choices, prompt_token_ids }: EngineChatResult) {
  return choices.map((choice) => toSampled(choice, choice.tokens, prompt_token_ids))
}
