/** A chat request to the engine's parameters: inference-api 3 and 4, training-api 4.4. */
import type { SamplingCall } from "../gateway/gateway.ts"
import type { ChatRequest } from "../wire/inference/chat.ts"
import { toEngineTools } from "./chat-tools.ts"
import { toSampling } from "./sampling.ts"
import { toStructuredOutput } from "./structured-output.ts"
import { templateVariables } from "./template-variables.ts"
import { refused, refusePromptLogprobsOfStream, refuseUnsupported } from "./unsupported.ts"

/** @throws {HeddleError} `invalid_request` for what is well-formed and cannot be served. */
export function toChatCall(body: ChatRequest): SamplingCall {
  refuseUnsupported(body)
  refusePromptLogprobsOfStream(body)
  if (body["echo"] === true) throw refused("echo", "only for /v1/completions; the prompt's ids are in prompt_token_ids")
  const topLogprobs = body.top_logprobs ?? 0
  if (topLogprobs > 0 && body.logprobs !== true) throw refused("top_logprobs", "needs logprobs: true")
  const continues = body.continue_final_message ?? false
  if (continues && body.add_generation_prompt === true) {
    throw refused("continue_final_message", "not together with add_generation_prompt: true")
  }
  const tools = toEngineTools(body)
  const structured = toStructuredOutput(body)
  if (structured !== null && tools.tool_choice !== "auto" && tools.tool_choice !== "none")
    throw refused(structured.param, "not together with a tool_choice that asks for a call")
  return {
    messages: toEngineMessages(body.messages),
    ...tools,
    structured_output: structured,
    chat_template_kwargs: { ...effortVariables(body), ...templateVariables(body.chat_template_kwargs) },
    add_generation_prompt: body.add_generation_prompt ?? !continues,
    continue_final_message: continues,
    n: body.n ?? 1,
    prompt_logprobs: body.prompt_logprobs ?? null,
    sampling: toSampling(body, body.max_completion_tokens ?? body.max_tokens ?? null, topLogprobs),
  }
}

/** Templates know either name of a turn's reasoning, so both are there (inference-api 4). */
export function toEngineMessages(messages: ChatRequest["messages"]): ChatRequest["messages"] {
  return messages.map((message) => {
    const reasoning = message["reasoning"] ?? message["reasoning_content"]
    return reasoning == null ? message : { ...message, reasoning, reasoning_content: reasoning }
  })
}

/** As vLLM: the effort is a template variable, and `none` switches thinking off. The caller's own variables win. */
function effortVariables({ reasoning_effort: effort }: ChatRequest): Record<string, unknown> {
  return effort == null ? {} : { reasoning_effort: effort, enable_thinking: effort !== "none" }
}
