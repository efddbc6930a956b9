/** How many tokens the prompt of a call has: what a chat would be given, in the protocols that let clients ask for it. */
import type { FastifyRequest } from "fastify"
import type { Gateway, SamplingCall } from "../gateway/gateway.ts"
import type { Principal } from "../http/principal.ts"
import { projectHeader } from "./completion-request.ts"

/** @throws {HeddleError} `model_not_found`, `invalid_api_key` as a chat. */
export async function countPromptTokens(
  gateway: Gateway,
  { principal, request }: { principal: Principal; request: FastifyRequest },
  model: string,
  call: SamplingCall,
): Promise<number> {
  const { base } = await gateway.resolve(principal, model, projectHeader(request))
  const { messages, chat_template_kwargs, add_generation_prompt, continue_final_message } = call
  // A chat that may call none is shown none.
  const tools = call.tool_choice === "none" ? null : call.tools
  const prompt = { messages, tools, chat_template_kwargs, add_generation_prompt, continue_final_message }
  const { token_ids } = await gateway.ask(principal, "tokenize", { base, ...prompt })
  return token_ids.length
}
