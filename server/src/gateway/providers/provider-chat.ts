/** A chat with a custom provider, in the form of one with our own models. */
import { memberText } from "../../json/json-members.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import type { FetchPolicy } from "../../outbound/public-address.ts"
import type { AdmittedChat, SentChunk } from "../chat-models.ts"
import { askProvider, type ProviderCall, type ProviderModel, streamProvider } from "./provider-request.ts"

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
    complete: async (signal) => {
      const { text, value } = await askProvider(policy, call({}), signal)
      return { text, content: contentOf(value), usage: memberText(text, "usage") }
    },
    stream: (signal) =>
      batches(streamProvider(policy, call({ stream: true, stream_options: { include_usage: true } }), signal)),
    release: () => Promise.resolve(),
  }
}

async function* batches(chunks: AsyncGenerator<SentChunk>): AsyncGenerator<SentChunk[]> {
  for await (const chunk of chunks) yield [chunk]
}

function contentOf({ choices }: Record<string, unknown>): string | null {
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  const message = isJsonObject(choice) ? choice["message"] : undefined
  const content = isJsonObject(message) ? message["content"] : undefined
  return typeof content === "string" ? content : null
}

export function timeoutMs(seconds: unknown): number {
  const requested = Number(JSON.isRawJSON(seconds) ? seconds.rawJSON : seconds)
  return 1000 * (requested > 0 ? Math.min(requested, longestTimeoutSeconds) : defaultTimeoutSeconds)
}
