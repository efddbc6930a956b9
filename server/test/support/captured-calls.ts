/** Calls as openpipe-art 0.5.23 captures them, of the four kinds (art-0.5.23 3, 6, 7). */

interface Tokens {
  prompt_token_ids: number[]
  token_ids: number[]
  logprobs: (number | null)[]
}

type Body = Record<string, unknown>

export interface CapturedCall {
  kind: string
  exchange: { start_time: string; end_time: string; request: Body; response: Body; model: string }
}

/** A trajectory with these calls. */
export function captured(reward: number, ...calls: object[]): object {
  const exchanges: Record<string, object[]> = {}
  for (const { kind, exchange } of calls as CapturedCall[]) (exchanges[kind] ??= []).push(exchange)
  return { exchanges, reward }
}

/** A captured call, made in the given second of a minute. */
function call(kind: string, model: string, response: Body, second: number): CapturedCall {
  const time = (fraction: string) => `2026-11-22T15:57:${String(second).padStart(2, "0")}.${fraction}Z`
  const times = { start_time: time("291569"), end_time: time("393672") }
  return { kind, exchange: { ...times, request: { model }, response, model } }
}

export function chatCall(model: string, { prompt_token_ids, token_ids, logprobs }: Tokens, second = 0) {
  const content = token_ids.map((id, at) => ({ token: `token_id:${id}`, logprob: logprobs[at], top_logprobs: [] }))
  const message = { role: "assistant", content: "answer" }
  const choice = { index: 0, finish_reason: "stop", message, logprobs: { content, refusal: null }, token_ids }
  const response = { id: "chatcmpl-1", model, choices: [{ ...choice, prompt_token_ids }], usage: null }
  return call("chat_completions", model, response, second)
}

export function completionCall(model: string, { prompt_token_ids, token_ids, logprobs }: Tokens, second = 0) {
  const tokens = token_ids.map((id) => `token_id:${id}`)
  const choice = { index: 0, finish_reason: "stop", text: "answer", logprobs: { tokens, token_logprobs: logprobs } }
  const response = { id: "cmpl-1", model, choices: [{ ...choice, token_ids, prompt_token_ids }] }
  return call("completions", model, response, second)
}

export function responsesCall(model: string, { prompt_token_ids, token_ids, logprobs }: Tokens, second = 0) {
  const output_tokens = token_ids.map((token_id, at) => ({ token_id, logprob: logprobs[at] }))
  const output = [
    { id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text: "answer" }] },
  ]
  const token_generations = [{ prompt_token_ids, output_tokens, output_indices: [0] }]
  return call("responses", model, { id: "resp_1", model, status: "completed", output, token_generations }, second)
}

export function messagesCall(model: string, tokens: Tokens, second = 0) {
  const content = [{ type: "text", text: "answer" }]
  return call("messages", model, { id: "msg_1", model, stop_reason: "end_turn", content, ...tokens }, second)
}
