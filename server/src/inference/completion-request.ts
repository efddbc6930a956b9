/** Handling shared by chat and text completions: from the HTTP request to an admitted one, and its headers. */
import type { FastifyReply, FastifyRequest } from "fastify"
import { randomUUID } from "node:crypto"
import type { RequestSize } from "../gateway/admission.ts"
import type { AdmittedRequest, Gateway } from "../gateway/gateway.ts"
import { rolloutMark } from "../gateway/rollout-mark.ts"
import type { Principal } from "../http/principal.ts"
import { headerText } from "../http/requests/header-text.ts"
import type { SamplingRequest } from "../wire/inference/sampling.ts"

interface IncomingCompletion {
  request: FastifyRequest
  reply: FastifyReply
  principal: Principal
  requestId: string
  body: { model: string; cache_salt?: string | null | undefined }
}

/** Admits the request and names what serves it in the answer's headers (inference-api 2 rule 1). */
export async function admit(
  gateway: Gateway,
  { request, reply, principal, requestId, body }: IncomingCompletion,
  size: RequestSize,
): Promise<AdmittedRequest> {
  const admitted = await gateway.admit({
    requestId,
    caller: principal,
    model: body.model,
    project: projectHeader(request),
    clientSalt: body.cache_salt ?? "",
    size,
    // A request that samples nothing has no turn.
    rollout: size.maxTokens === 0 ? null : rolloutMark(request.headers, body),
  })
  const { trained, base } = admitted.served
  reply.header("x-heddle-model", trained?.modelId ?? encodeURI(base.name))
  if (trained !== null) reply.header("x-heddle-step", String(trained.step))
  return admitted
}

/** Whose request it is, where its client says so (inference-api 1). */
export function projectHeader({ headers }: FastifyRequest): string | undefined {
  const value = headers["openai-project"]
  const header = Array.isArray(value) ? value[0] : value
  return header === undefined ? undefined : headerText(header)
}

/** Details of the sampled tokens that an answer shows besides their text. */
export interface TokenDetails {
  logprobs: boolean
  /** Ids of the tokens and of the prompt's. */
  ids: boolean
  /** Tokens of logprobs are named `token_id:<id>`. */
  byId: boolean
}

type TokenOptions = Pick<SamplingRequest, "return_token_ids" | "return_tokens_as_token_ids">

/**
 * Rollouts on a trained model's name must be trainable whatever their code asks for (inference-api 5.3, law 6), so
 * they always get the ids, and the logprobs unless these are declined: the token ledger has them too. A base model's
 * answer has logprobs when asked for: they are 20 times the text, and kept in every trace of it.
 * @param logprobs what the request says of them; null: nothing.
 */
export function tokenDetails(body: TokenOptions, logprobs: boolean | null, { served }: AdmittedRequest): TokenDetails {
  const isTrained = served.trained !== null
  return {
    logprobs: logprobs ?? isTrained,
    ids: isTrained || body.return_token_ids !== false,
    byId: body.return_tokens_as_token_ids ?? false,
  }
}

export function completionId(prefix: "chatcmpl" | "cmpl"): string {
  return `${prefix}-${randomUUID()}`
}

/** As OpenAI's and Anthropic's newer APIs write the ids of what they answer. */
export function answerId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll("-", "")}`
}

export function unixSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
