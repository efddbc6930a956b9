/** The chunks of a streamed chat answer, as JSON texts: inference-api 6. */
import type { ChatChoice, ChatDelta } from "../wire/engine/chat.ts"
import type { Usage } from "../wire/inference/sampling.ts"
import { type AnswerFrame, toWireToolCall } from "./chat-answer.ts"
import { idsMember, logprobsJson } from "./logprobs.ts"

export interface ChunkFrame extends AnswerFrame {
  n: number
  /** The client asked for the usage chunk; every other chunk then says `usage: null`. */
  includeUsage: boolean
}

/** All choices with their role, in order: one client indexes choices by their place in the list. The role comes only here. */
export function roleChunk(frame: ChunkFrame, promptTokenIds: readonly number[]): string {
  const promptIds = frame.shown.ids ? `,"prompt_token_ids":${JSON.stringify(promptTokenIds)}` : ""
  const choices = Array.from(
    { length: frame.n },
    (_, index) =>
      `{"index":${index},"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null${promptIds}}`,
  )
  return chunk(frame, choices.join(","), promptIds)
}

/** Logprobs and ids of exactly the tokens of this delta, also while their text is withheld. */
export function deltaChunk(frame: ChunkFrame, delta: ChatDelta): string {
  const { index, tokens } = delta
  return chunk(
    frame,
    `{"index":${index},"delta":${JSON.stringify(toDelta(frame, delta))},"logprobs":${logprobsJson(tokens, frame.shown)},` +
      `"finish_reason":null${idsMember(tokens, frame.shown)}}`,
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

export function finishChunk(frame: ChunkFrame, choice: ChatChoice): string {
  const ledgerKey =
    frame.ledgerKey === null ? "" : `,"heddle_ledger_key":${JSON.stringify(frame.ledgerKey(choice.index))}`
  return chunk(
    frame,
    `{"index":${choice.index},"delta":{},"logprobs":null,"finish_reason":"${choice.finish_reason}",` +
      `"stop_reason":${JSON.stringify(choice.stop_reason)}${ledgerKey}}`,
  )
}

/** One client takes usage from the last chunk only. */
export function usageChunk(frame: ChunkFrame, usage: Usage): string {
  return `${head(frame)}"choices":[],"usage":${JSON.stringify(usage)}}`
}

function chunk(frame: ChunkFrame, choices: string, more = ""): string {
  return `${head(frame)}"choices":[${choices}]${more}${frame.includeUsage ? ',"usage":null' : ""}}`
}

function head(frame: ChunkFrame): string {
  return `{"id":"${frame.id}","object":"chat.completion.chunk","created":${frame.created},"model":${JSON.stringify(frame.model)},`
}
