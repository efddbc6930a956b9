/** Request fields we must refuse, because dropping them would answer another question (inference-api 3, rows E). */
import { HeddleError } from "../errors.ts"

/** Field → when its value asks for something, and what to do instead. */
export type Refusals = Readonly<Record<string, { isUsed: (value: unknown) => boolean; why: string }>>

const refusals: Refusals = {
  audio: { isUsed: isSet, why: "audio output is not supported" },
  modalities: {
    isUsed: (value) => isSet(value) && JSON.stringify(value) !== '["text"]',
    why: "only text output is supported",
  },
  web_search_options: { isUsed: isSet, why: "web search is not supported" },
  chat_template: {
    isUsed: isSet,
    why: "templates come with the model; use chat_template_kwargs to steer it",
  },
  documents: { isUsed: isNonEmpty, why: "documents are not supported; put them into a message" },
  bad_words: { isUsed: isNonEmpty, why: "bad_words is not supported; use logit_bias with token ids" },
  logprob_token_ids: {
    isUsed: isNonEmpty,
    why: "logprobs of chosen tokens are not supported; use top_logprobs",
  },
  truncate_prompt_tokens: { isUsed: isSet, why: "prompts are never cut; shorten the messages" },
  thinking_token_budget: {
    isUsed: isSet,
    why: "thinking budgets are not supported; use max_completion_tokens",
  },
  suffix: { isUsed: isNonEmpty, why: "suffix is not supported" },
  use_beam_search: { isUsed: (value) => value === true, why: "beam search is not supported; use n" },
  logits_processors: { isUsed: isNonEmpty, why: "logits processors are code and are not accepted" },
}

/** @throws {HeddleError} `invalid_request` that names the field. */
export function refuseUnsupported(body: Record<string, unknown>, more: Refusals = {}): void {
  for (const field in body) {
    const refusal = [more, refusals].find((list) => Object.hasOwn(list, field))?.[field]
    if (refusal !== undefined && refusal.isUsed(body[field])) throw refused(field, refusal.why)
  }
}

/** As in vLLM: a stream begins before they are known. @throws {HeddleError} */
export function refusePromptLogprobsOfStream(body: { stream?: unknown; prompt_logprobs?: unknown }): void {
  if (body.stream === true && isSet(body.prompt_logprobs)) {
    throw refused("prompt_logprobs", "not together with stream: true")
  }
}

export function refused(param: string, why: string): HeddleError {
  return new HeddleError("invalid_request", `${param}: ${why}`, { param })
}

export function isSet(value: unknown): boolean {
  return value !== null && value !== undefined
}

export function isNonEmpty(value: unknown): boolean {
  if (typeof value === "string" || Array.isArray(value)) return value.length > 0
  return isSet(value)
}
