/** `POST /tokenize` and `/detokenize` with vLLM's names, also below `/v1`: inference-api 9. */
import type { Gateway } from "../gateway/gateway.ts"
import type { Limits } from "../limits.ts"
import { type Route, route } from "../http/route.ts"
import {
  detokenizeAnswer,
  detokenizeRequest,
  tokenizeAnswer,
  tokenizeRequest,
  type TokenizeRequest,
} from "../wire/inference/tokenize.ts"
import { templateVariables, toEngineMessages, toEngineTools } from "./chat/chat-request.ts"
import { projectHeader } from "./completion-request.ts"
import type { InferenceDependencies } from "./dependencies.ts"
import { withExactFields } from "./exact-fields.ts"
import { refused } from "./unsupported.ts"

export function tokenizeRoutes({ gateway, limits }: InferenceDependencies): Route[] {
  return ["", "/v1"].flatMap((prefix) => [tokenize(gateway, limits, prefix), detokenize(gateway, limits, prefix)])
}

function tokenize(gateway: Gateway, limits: Limits, prefix: string): Route {
  return route({
    method: "POST",
    path: `${prefix}/tokenize`,
    access: { right: "read", of: "model body.model" },
    dialect: "openai",
    summary: "The token ids a prompt renders to",
    tag: "Chat",
    schemas: { body: tokenizeRequest },
    maximumBodyBytes: limits.prompt_body_bytes,
    response: tokenizeAnswer,
    handle: async ({ body, exactBody, principal, request }) => {
      const { base } = await gateway.resolve(principal, body.model, projectHeader(request))
      const { token_ids, max_model_len } = await gateway.ask(principal, "tokenize", {
        base,
        ...toPrompt(withExactFields(body, exactBody, ["messages", "tools", "chat_template_kwargs"])),
      })
      return { tokens: token_ids, count: token_ids.length, max_model_len }
    },
  })
}

function detokenize(gateway: Gateway, limits: Limits, prefix: string): Route {
  return route({
    method: "POST",
    path: `${prefix}/detokenize`,
    access: { right: "read", of: "model body.model" },
    dialect: "openai",
    summary: "The text of token ids",
    tag: "Chat",
    schemas: { body: detokenizeRequest },
    maximumBodyBytes: limits.prompt_body_bytes,
    maximumBodyValues: limits.prompt_token_ids,
    response: detokenizeAnswer,
    handle: async ({ body, principal, request }) => {
      const { base } = await gateway.resolve(principal, body.model, projectHeader(request))
      const { text } = await gateway.ask(principal, "detokenize", { base, token_ids: body.tokens })
      return { prompt: text }
    },
  })
}

function toPrompt(body: TokenizeRequest) {
  if ((body.prompt == null) === (body.messages == null))
    throw refused("prompt", "give exactly one of prompt and messages")
  const continues = body.continue_final_message ?? false
  return {
    prompt: body.prompt ?? null,
    messages: body.messages == null ? null : toEngineMessages(body.messages),
    tools: toEngineTools({ tools: body.tools }).tools ?? null,
    chat_template_kwargs: templateVariables(body.chat_template_kwargs),
    add_generation_prompt: body.add_generation_prompt ?? !continues,
    continue_final_message: continues,
  }
}
