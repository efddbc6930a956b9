/** Chats of callers inside this server, on the same way as those of `POST /v1/chat/completions`. */
import type { AdmittedChat, ChatAnswer, ChatModels, ChatRequest, SentChunk } from "../../gateway/chat-models.ts"
import type { Gateway } from "../../gateway/gateway.ts"
import { parse } from "../../http/validation.ts"
import type { EngineChatResult } from "../../wire/engine/chat.ts"
import { chatRequest } from "../../wire/inference/chat.ts"
import { chatAnswerJson, type ChatChunk, type ChunkFrame, chunkText, chunkValue, toUsage } from "./chat-answer.ts"
import { frameOf, opaqueFields, sampleReady, streamChat } from "./chat-completion.ts"
import { toChatCall } from "./chat-request.ts"
import { withExactFields } from "../exact-fields.ts"

export class ChatService implements ChatModels {
  readonly #gateway: Gateway

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** @throws {HeddleError} 400, 404, 422, 429: what is wrong before anything is sampled. */
  async admit({ requestId, caller, project, body, exactBody }: ChatRequest): Promise<AdmittedChat> {
    const checked = parse(chatRequest, body, "body")
    const call = toChatCall(withExactFields(checked, () => exactBody, opaqueFields))
    const admitted = await this.#gateway.admit({
      requestId,
      caller,
      model: checked.model,
      project,
      clientSalt: checked.cache_salt ?? "",
      size: { prompts: 1, choices: checked.n ?? 1, maxTokens: call.sampling.max_tokens },
      rollout: null,
    })
    const requested = frameOf(checked, admitted)
    // Nobody trains on these answers, which are stored: only what was asked for.
    const details = { ...requested.details, logprobs: checked.logprobs === true, ids: false }
    const frame = { ...requested, details, includeUsage: true }
    const chat = { admitted, call, frame }
    return {
      complete: async (signal) => innerAnswer(frame, await sampleReady(this.#gateway, chat, signal)),
      stream: (signal) => innerChunks(frame, streamChat(this.#gateway, chat, signal)),
      release: admitted.release,
    }
  }
}

function innerAnswer(frame: ChunkFrame, result: EngineChatResult): ChatAnswer {
  const content = result.choices[0]?.content ?? null
  return { text: chatAnswerJson(frame, result), content, usage: JSON.stringify(toUsage(result)) }
}

async function* innerChunks(frame: ChunkFrame, batches: AsyncGenerator<ChatChunk[]>): AsyncGenerator<SentChunk[]> {
  for await (const batch of batches) {
    yield batch.map((each) => ({ text: chunkText(frame, each), value: chunkValue(frame, each) }))
  }
}
