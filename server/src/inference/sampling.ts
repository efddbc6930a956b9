/** Sampling fields of a request to the engine's (inference-api 3). Defaults are neutral: raw model, temperature 1. */
import { exactInteger } from "../json/exact-json.ts"
import type { EngineChatParamsInput } from "../wire/engine/chat.ts"
import type { SamplingRequest } from "../wire/inference/sampling.ts"
import { refused } from "./unsupported.ts"

type Sampling = EngineChatParamsInput["sampling"]

export function toSampling(body: SamplingRequest, maxTokens: number | null, topLogprobs: number): Sampling {
  if (body.stream !== true && body.stream_options != null) {
    throw refused("stream_options", "only with stream: true")
  }
  return {
    max_tokens: maxTokens,
    min_tokens: body.min_tokens ?? 0,
    temperature: body.temperature ?? 1,
    top_p: body.top_p ?? 1,
    top_k: Math.max(body.top_k ?? 0, 0),
    min_p: body.min_p ?? 0,
    presence_penalty: body.presence_penalty ?? 0,
    frequency_penalty: body.frequency_penalty ?? 0,
    repetition_penalty: body.repetition_penalty ?? 1,
    logit_bias: body.logit_bias ?? {},
    allowed_token_ids: body.allowed_token_ids ?? null,
    seed: body.seed == null ? null : BigInt.asIntN(64, exactInteger(body.seed)).toString(),
    stop: stops(body.stop),
    stop_token_ids: body.stop_token_ids ?? [],
    ignore_eos: body.ignore_eos ?? false,
    include_stop_str_in_output: body.include_stop_str_in_output ?? false,
    skip_special_tokens: body.skip_special_tokens ?? true,
    top_logprobs: topLogprobs,
  }
}

function stops(stop: SamplingRequest["stop"]): string[] {
  if (stop == null) return []
  return (typeof stop === "string" ? [stop] : stop).filter((text) => text !== "")
}
