/** Sends the same greedy text completions to any server with the `/v1/completions` API. */
import { requestJson } from "./http.ts"

/** A server to ask; `headers` have the key where one is needed. */
export interface CompletionServer {
  url: string
  headers: Record<string, string>
  /** Fields that only this server is sent. */
  extra: Record<string, unknown>
}

export interface CompletionRequest {
  promptIds: number[]
  maxTokens: number
  /** Which of the eight adapters it goes to in the mixed run. */
  adapter: number
}

export interface Completion {
  tokenIds: number[]
  logprobs: number[]
}

interface Answer {
  choices: [{ token_ids: number[]; logprobs: { token_logprobs: number[] } }]
  usage: { prompt_tokens_details?: { cached_tokens?: number } | null }
}

/** Sends all requests at once; `modelOf` names the model of each. */
export function completeAll(
  server: CompletionServer,
  requests: CompletionRequest[],
  modelOf: (request: CompletionRequest) => string,
): Promise<Completion[]> {
  return Promise.all(requests.map((request) => complete(server, modelOf(request), request)))
}

/** Asks for exactly `maxTokens` tokens, past the end of a turn. @throws {Error} when the prompt came from a cache. */
async function complete(server: CompletionServer, model: string, request: CompletionRequest): Promise<Completion> {
  const answer = await requestJson<Answer>(
    "POST",
    `${server.url}/v1/completions`,
    {
      model,
      prompt: request.promptIds,
      max_tokens: request.maxTokens,
      temperature: 0,
      ignore_eos: true,
      logprobs: 0,
      return_token_ids: true,
      ...server.extra,
    },
    server.headers,
  )
  const [choice] = answer.choices
  if (choice.token_ids.length !== request.maxTokens) {
    throw new Error(`${server.url} gave ${choice.token_ids.length} tokens where ${request.maxTokens} were asked for`)
  }
  const cached = answer.usage.prompt_tokens_details?.cached_tokens ?? 0
  if (cached > 0)
    throw new Error(`${server.url} took ${cached} prompt tokens from a cache; every run must compute them`)
  return { tokenIds: choice.token_ids, logprobs: choice.logprobs.token_logprobs }
}

export interface Mix {
  requests: number
  vocabulary: number
  adapters: number
}

/** Prompts of 64 to 256 random ids, 64 to 128 tokens wanted; the same for the same `mix`. */
export function makeRequests(mix: Mix): CompletionRequest[] {
  const random = randomSource(1)
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
  return Array.from({ length: mix.requests }, (_, index) => ({
    promptIds: Array.from({ length: between(64, 256) }, () => between(3, mix.vocabulary - 1)),
    maxTokens: between(64, 128),
    adapter: index % mix.adapters,
  }))
}

/** Numbers from 0 to below 1 by a multiplicative congruential generator (Lehmer, modulus 2^31 - 1). */
function randomSource(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}
