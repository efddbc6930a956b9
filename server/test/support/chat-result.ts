/** Makes an answer of the fake engine to a chat, with one choice. */
import { fakeTokens } from "../../src/engines/fake-engine.ts"
import type { ChatChoice, EngineChatResult } from "../../src/wire/engine/chat.ts"

export function chatResult(choice: Partial<ChatChoice>): EngineChatResult {
  const whole: ChatChoice = {
    index: 0,
    content: "ab",
    reasoning: null,
    tool_calls: [],
    finish_reason: "stop",
    stop_reason: null,
    tokens: fakeTokens(2),
    ...choice,
  }
  const completion_tokens = whole.tokens.length
  return { prompt_token_ids: [1], prompt_logprobs: null, cached_tokens: 0, completion_tokens, choices: [whole] }
}
