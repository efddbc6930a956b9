/** Chats of callers inside this server, on the same way as those of `POST /v1/chat/completions`. */
import type { Gateway } from "../gateway/gateway.ts"
import type { Principal } from "../http/principal.ts"
import { parse } from "../http/validation.ts"
import { chatRequest } from "../wire/inference/chat.ts"
import { completeChat, frameOf, opaqueFields, streamChat } from "./chat-completion.ts"
import { toChatCall } from "./chat-request.ts"
import { withExactFields } from "./exact-fields.ts"

export interface InnerChatRequest {
  requestId: string
  principal: Principal
  /** `entity/project` that it is counted for. */
  project: string
  /** A chat request, not checked yet. */
  body: object
  /** The same with its numbers as they were spelled. */
  exactBody: object
}

export interface InnerChat {
  /** The answer as JSON text. @throws {HeddleError} */
  complete: (signal: AbortSignal) => Promise<string>
  /** The chunks as JSON texts, the last with the usage. @throws {HeddleError} */
  stream: (signal: AbortSignal) => AsyncGenerator<string[]>
  /** Only needed when neither of the two is begun. Repeatable. */
  release: () => Promise<void>
}

export class ChatService {
  readonly #gateway: Gateway

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** @throws {HeddleError} 400, 404, 422, 429: what is wrong before anything is sampled. */
  async admit({ requestId, principal, project, body, exactBody }: InnerChatRequest): Promise<InnerChat> {
    const checked = parse(chatRequest, body, "body")
    const call = toChatCall(withExactFields(checked, () => exactBody, opaqueFields))
    const admitted = await this.#gateway.admit({
      requestId,
      caller: principal,
      model: checked.model,
      project,
      clientSalt: checked.cache_salt ?? "",
      size: { prompts: 1, choices: checked.n ?? 1, maxTokens: call.sampling.max_tokens },
    })
    const asked = frameOf(checked, admitted)
    // Nobody trains on these answers, which are stored: only what was asked for.
    const shown = { ...asked.shown, logprobs: checked.logprobs === true, ids: false }
    const frame = { ...asked, shown, includeUsage: true }
    return {
      complete: (signal) => completeChat(this.#gateway, { admitted, call, frame }, signal),
      stream: (signal) => streamChat(this.#gateway, { admitted, call, frame }, signal),
      release: admitted.release,
    }
  }
}
