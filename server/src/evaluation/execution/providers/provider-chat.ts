/** A chat with a custom provider, in the form of one with our own models. */
import type { FetchPolicy } from "../../../outbound/public-address.ts"
import type { AdmittedChat } from "../chat-models.ts"
import type { ProviderModel } from "./provider.ts"
import { askProvider, type ProviderCall, streamProvider } from "./provider-request.ts"

const path = "/chat/completions"
const defaultTimeoutSeconds = 300
const longestTimeoutSeconds = 600

/** `request`: the chat request with its numbers as they were spelled; `timeout` is for us. */
export function providerChat(
  policy: FetchPolicy,
  provider: ProviderModel,
  request: Record<string, unknown>,
): AdmittedChat {
  const { timeout, ...rest } = request
  const call = (more: object): ProviderCall => ({
    provider,
    path,
    body: JSON.stringify({ ...rest, ...more, model: provider.model }),
    timeoutMs: timeoutMs(timeout),
  })
  return {
    complete: (signal) => askProvider(policy, call({}), signal),
    stream: (signal) =>
      batches(streamProvider(policy, call({ stream: true, stream_options: { include_usage: true } }), signal)),
    release: () => Promise.resolve(),
  }
}

async function* batches(chunks: AsyncGenerator<string>): AsyncGenerator<string[]> {
  for await (const chunk of chunks) yield [chunk]
}

export function timeoutMs(seconds: unknown): number {
  const asked = Number(JSON.isRawJSON(seconds) ? seconds.rawJSON : seconds)
  return 1000 * (asked > 0 ? Math.min(asked, longestTimeoutSeconds) : defaultTimeoutSeconds)
}
