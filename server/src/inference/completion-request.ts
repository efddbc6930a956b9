/** What chat and text completions share: from the HTTP request to an admitted one, and its headers. */
import type { FastifyReply, FastifyRequest } from "fastify"
import { randomUUID } from "node:crypto"
import type { RequestSize } from "../gateway/admission.ts"
import type { AdmittedRequest, Gateway } from "../gateway/gateway.ts"
import type { Principal } from "../http/principal.ts"

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
    project: headerText(request.headers["openai-project"]),
    clientSalt: body.cache_salt ?? "",
    size,
  })
  const { trained, base } = admitted.served
  reply.header("x-heddle-model", trained?.modelId ?? encodeURI(base.name))
  if (trained !== null) reply.header("x-heddle-step", String(trained.step))
  return admitted
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

export function completionId(prefix: "chatcmpl" | "cmpl"): string {
  return `${prefix}-${randomUUID()}`
}

export function unixSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
