/** The non-streaming chat answer: inference-api 5, training-api 4.5. Written as JSON text, see `logprobs.ts`. */
import type { ChatChoice, EngineChatResult, EngineToolCall } from "../wire/engine/chat.ts"
import type { Usage } from "../wire/inference/sampling.ts"
import type { ShownTokens } from "./completion-request.ts"
import { idsMember, logprobsJson } from "./logprobs.ts"
import { promptLogprobsMember } from "./prompt-logprobs.ts"

export interface AnswerFrame {
  id: string
  /** Unix seconds. */
  created: number
  /** As the client wrote it. */
  model: string
  shown: ShownTokens
  /** How many alternatives to each token of the prompt; null: nothing is said of the prompt. */
  promptLogprobs: number | null
  /** false: only the first tool call of a turn is kept. */
  parallelToolCalls: boolean
  /** null: a base model, whose completions are not kept for training. */
  ledgerKey: ((index: number) => string) | null
}

export function chatAnswerJson(frame: AnswerFrame, result: EngineChatResult): string {
  const promptIds = frame.shown.ids ? `,"prompt_token_ids":[${result.prompt_token_ids.join(",")}]` : ""
  const choices = result.choices.map((choice) => choiceJson(frame, choice, promptIds))
  return (
    `{"id":"${frame.id}","object":"chat.completion","created":${frame.created},"model":${JSON.stringify(frame.model)},` +
    `"choices":[${choices.join(",")}]${promptIds}${promptLogprobsMember(result.prompt_logprobs, frame.promptLogprobs)},"usage":${JSON.stringify(toUsage(result))}}`
  )
}

function choiceJson(frame: AnswerFrame, choice: ChatChoice, promptIds: string): string {
  const ledgerKey =
    frame.ledgerKey === null ? "" : `,"heddle_ledger_key":${JSON.stringify(frame.ledgerKey(choice.index))}`
  return (
    `{"index":${choice.index},"message":${JSON.stringify(toMessage(choice, frame.parallelToolCalls))},` +
    `"logprobs":${logprobsJson(choice.tokens, frame.shown)},"finish_reason":"${choice.finish_reason}",` +
    `"stop_reason":${JSON.stringify(choice.stop_reason)}${idsMember(choice.tokens, frame.shown)}${promptIds}${ledgerKey}}`
  )
}

/** Both names of reasoning: vLLM and W&B say `reasoning` now, `reasoning_content` before. */
function toMessage({ content, reasoning, tool_calls }: ChatChoice, parallel: boolean) {
  const message = {
    role: "assistant",
    content,
    refusal: null,
    reasoning,
    reasoning_content: reasoning,
  }
  if (tool_calls.length === 0) return message
  return {
    ...message,
    tool_calls: (parallel ? tool_calls : tool_calls.slice(0, 1)).map(toWireToolCall),
  }
}

export function toWireToolCall({ id, name, arguments: text }: EngineToolCall) {
  return { id, type: "function", function: { name, arguments: text } }
}

type Counts = Pick<EngineChatResult, "prompt_token_ids" | "cached_tokens" | "completion_tokens">

export function toUsage({ prompt_token_ids, cached_tokens, completion_tokens }: Counts): Usage {
  return {
    prompt_tokens: prompt_token_ids.length,
    completion_tokens,
    total_tokens: prompt_token_ids.length + completion_tokens,
    prompt_tokens_details: { cached_tokens },
  }
}
