/** The chat answer, whole (inference-api 5, training-api 4.5) or in chunks (inference-api 6). Written as JSON text, see `logprobs.ts`. */
import type { ChatChoice, ChatDelta, EngineChatResult, EngineToolCall } from "../../wire/engine/chat.ts"
import type { Usage } from "../../wire/inference/sampling.ts"
import type { TokenDetails } from "../completion-request.ts"
import { idsMember, logprobsJson, promptLogprobsMember } from "./logprobs.ts"
import { choiceSpansMember, promptSpansMember } from "./policy-spans.ts"

export interface AnswerFrame {
  id: string
  /** Unix seconds. */
  created: number
  /** As the client wrote it. */
  model: string
  details: TokenDetails
  /** How many alternatives to each token of the prompt; null: nothing is said of the prompt. */
  promptLogprobs: number | null
  /** false: only the first tool call of a turn is kept. */
  parallelToolCalls: boolean
  /** null: a base model, whose completions are not kept for training. */
  ledgerKey: ((index: number) => string) | null
  /** See `policyFields`. */
  policy: string | null
}

export function chatAnswerJson(frame: AnswerFrame, result: EngineChatResult): string {
  const promptIds = frame.details.ids ? `,"prompt_token_ids":[${result.prompt_token_ids.join(",")}]` : ""
  const ofPrompt = `${promptIds}${promptSpansMember(frame.policy, result.prompt_token_ids.length)}`
  const choices = result.choices.map((choice) => choiceJson(frame, choice, ofPrompt))
  return (
    `{"id":"${frame.id}","object":"chat.completion","created":${frame.created},"model":${JSON.stringify(frame.model)},` +
    `"choices":[${choices.join(",")}]${promptIds}${promptLogprobsMember(result.prompt_logprobs, frame.promptLogprobs)},"usage":${JSON.stringify(toUsage(result))}}`
  )
}

/** `ofPrompt`: the members that say something of the prompt. */
function choiceJson(frame: AnswerFrame, choice: ChatChoice, ofPrompt: string): string {
  const ledgerKey =
    frame.ledgerKey === null ? "" : `,"heddle_ledger_key":${JSON.stringify(frame.ledgerKey(choice.index))}`
  return (
    `{"index":${choice.index},"message":${JSON.stringify(toMessage(choice, frame.parallelToolCalls))},` +
    `"logprobs":${logprobsJson(choice.tokens, frame.details)},"finish_reason":"${choice.finish_reason}",` +
    `"stop_reason":${JSON.stringify(choice.stop_reason)}${idsMember(choice.tokens, frame.details)}${ofPrompt}` +
    `${choiceSpansMember(frame.policy, choice.tokens.length)}${ledgerKey}}`
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

// The chunks of a streamed chat answer, and how they are written: inference-api 6.

export interface ChunkFrame extends AnswerFrame {
  n: number
  /** The client asked for the usage chunk; every other chunk then says `usage: null`. */
  includeUsage: boolean
}

export type ChatChunk =
  | { kind: "role"; promptTokenIds: readonly number[] }
  | { kind: "delta"; delta: ChatDelta }
  | { kind: "finish"; choice: ChatChoice }
  | { kind: "usage"; usage: Usage }

/** As clients get it. */
export function chunkText(frame: ChunkFrame, each: ChatChunk): string {
  switch (each.kind) {
    case "role":
      return roleChunk(frame, each.promptTokenIds)
    case "delta":
      return deltaChunk(frame, each.delta)
    case "finish":
      return finishChunk(frame, each.choice)
    case "usage":
      return usageChunk(frame, each.usage)
  }
}

/** The value that {@link chunkText} prints, without logprobs, ids and spans. */
export function chunkValue(frame: ChunkFrame, each: ChatChunk): Record<string, unknown> {
  const { id, created, ledgerKey } = frame
  switch (each.kind) {
    case "role": {
      const delta = { role: "assistant", content: "" }
      return { id, created, choices: Array.from({ length: frame.n }, (_, index) => ({ index, delta })) }
    }
    case "delta":
      return { id, created, choices: [{ index: each.delta.index, delta: toDelta(frame, each.delta) }] }
    case "finish": {
      const { index, finish_reason } = each.choice
      const kept = ledgerKey === null ? {} : { heddle_ledger_key: ledgerKey(index) }
      return { id, created, choices: [{ index, delta: {}, finish_reason, ...kept }] }
    }
    case "usage":
      return { id, created, choices: [], usage: each.usage }
  }
}

/** All choices with their role, in order: one client indexes choices by their place in the list. The role comes only here. */
function roleChunk(frame: ChunkFrame, promptTokenIds: readonly number[]): string {
  const promptIds = frame.details.ids ? `,"prompt_token_ids":${JSON.stringify(promptTokenIds)}` : ""
  const ofPrompt = `${promptIds}${promptSpansMember(frame.policy, promptTokenIds.length)}`
  const choices = Array.from(
    { length: frame.n },
    (_, index) =>
      `{"index":${index},"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null${ofPrompt}}`,
  )
  return chunk(frame, choices.join(","), promptIds)
}

/** Logprobs and ids of exactly the tokens of this delta, also while their text is withheld. */
function deltaChunk(frame: ChunkFrame, delta: ChatDelta): string {
  const { index, tokens } = delta
  return chunk(
    frame,
    `{"index":${index},"delta":${JSON.stringify(toDelta(frame, delta))},"logprobs":${logprobsJson(tokens, frame.details)},` +
      `"finish_reason":null${idsMember(tokens, frame.details)}}`,
  )
}

function toDelta(frame: ChunkFrame, { content, reasoning, tool_calls }: ChatDelta): Record<string, unknown> {
  const calls = frame.parallelToolCalls ? tool_calls : tool_calls.filter((call) => call.index === 0)
  return {
    ...(reasoning === "" ? {} : { reasoning, reasoning_content: reasoning }),
    ...(content === "" ? {} : { content }),
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map((call) => ({ index: call.index, ...toWireToolCall(call) })) }),
  }
}

function finishChunk(frame: ChunkFrame, choice: ChatChoice): string {
  const ledgerKey =
    frame.ledgerKey === null ? "" : `,"heddle_ledger_key":${JSON.stringify(frame.ledgerKey(choice.index))}`
  return chunk(
    frame,
    `{"index":${choice.index},"delta":{},"logprobs":null,"finish_reason":"${choice.finish_reason}",` +
      `"stop_reason":${JSON.stringify(choice.stop_reason)}${choiceSpansMember(frame.policy, choice.tokens.length)}${ledgerKey}}`,
  )
}

/** One client takes usage from the last chunk only. */
function usageChunk(frame: ChunkFrame, usage: Usage): string {
  return `${head(frame)}"choices":[],"usage":${JSON.stringify(usage)}}`
}

function chunk(frame: ChunkFrame, choices: string, more = ""): string {
  return `${head(frame)}"choices":[${choices}]${more}${frame.includeUsage ? ',"usage":null' : ""}}`
}

function head(frame: ChunkFrame): string {
  return `{"id":"${frame.id}","object":"chat.completion.chunk","created":${frame.created},"model":${JSON.stringify(frame.model)},`
}
