/** Sends requests to custom providers. A failure is a {@link ModelFailure}; the key is taken out of all that comes back. */
import type { IncomingMessage } from "node:http"
import { isJsonObject, tryParse } from "../../json/parsed-json.ts"
import { FetchError, guardedRequest } from "../../outbound/guarded-request.ts"
import type { FetchPolicy } from "../../outbound/public-address.ts"
import { type Busy, ModelFailure } from "./model-failure.ts"
import { requireStorable } from "./storable-answer.ts"

export interface ProviderModel {
  baseUrl: URL
  /** With the key, when there is one. */
  headers: Record<string, string>
  /** Takes the key out of a text of the endpoint's. */
  hideKey: (text: string) => string
  /** As the endpoint names it. */
  model: string
  /** Under which its usage is counted. */
  usageName: string
}

export interface ProviderCall {
  provider: ProviderModel
  /** Under the base address: `/chat/completions`. */
  path: string
  /** JSON text. */
  body: string
  timeoutMs: number
}

const maximumAnswerBytes = 32 * 1024 * 1024
const longestErrorExcerpt = 500

/** A provider's answer: the JSON text of an object, and the object. */
export interface ProviderAnswer {
  text: string
  value: Record<string, unknown>
}

export function askProvider(policy: FetchPolicy, call: ProviderCall, signal: AbortSignal): Promise<ProviderAnswer> {
  return withFailures(call, async () => {
    const answer = await send(policy, call, signal)
    return checked(call, await wholeText(call, answer))
  })
}

/** The data of each server-sent event until `[DONE]`. */
export async function* streamProvider(
  policy: FetchPolicy,
  call: ProviderCall,
  signal: AbortSignal,
): AsyncGenerator<ProviderAnswer> {
  const answer = await withFailures(call, () => send(policy, call, signal))
  try {
    const events = eventData(call, answer)
    for (;;) {
      const next = await withFailures(call, () => events.next())
      if (next.done === true || next.value === "[DONE]") return
      yield checked(call, next.value)
    }
  } finally {
    answer.destroy()
  }
}

async function send(policy: FetchPolicy, call: ProviderCall, signal: AbortSignal): Promise<IncomingMessage> {
  const { provider, path, body, timeoutMs } = call
  const url = new URL(provider.baseUrl)
  url.pathname = url.pathname.replace(/\/+$/, "") + path
  const answer = await guardedRequest(url, policy, {
    method: "POST",
    headers: { ...provider.headers, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  })
  if (answer.statusCode === 200) return answer
  const reason = errorIn(tryParse(await wholeText(call, answer)))
  throw failure(call, `answered ${answer.statusCode}${reason === null ? "" : `: ${reason}`}`, busyOf(answer))
}

/** null: it is not busy. */
function busyOf({ statusCode, headers }: IncomingMessage): Busy | null {
  if (statusCode !== 429 && statusCode !== 503) return null
  const seconds = Number(headers["retry-after"] ?? Number.NaN)
  return { retryAfterMs: seconds >= 0 ? seconds * 1000 : null }
}

async function wholeText(call: ProviderCall, answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > maximumAnswerBytes) throw failure(call, `answered with more than ${maximumAnswerBytes} bytes`)
    parts.push(part)
  }
  return call.provider.hideKey(Buffer.concat(parts).toString("utf8"))
}

/** Server-sent events as OpenAI's API sends them: one line of data each. The answer is collected, so all of it is bounded. */
async function* eventData(call: ProviderCall, answer: IncomingMessage): AsyncGenerator<string> {
  let pending = ""
  let characters = 0
  answer.setEncoding("utf8")
  for await (const part of answer as AsyncIterable<string>) {
    characters += part.length
    if (characters > maximumAnswerBytes) throw failure(call, `sent more than ${maximumAnswerBytes} bytes`)
    const [rest = "", ...lines] = part.split("\n")
    pending += rest
    // A line of many parts is joined once: searching it anew for each part would take the square of its length.
    for (const line of lines) {
      if (pending.startsWith("data:")) yield call.provider.hideKey(pending.slice(5).trim())
      pending = line
    }
  }
  if (pending.startsWith("data:")) yield call.provider.hideKey(pending.slice(5).trim())
}

/** @throws {ModelFailure} for what is no object, could not be stored, or says that the provider failed. */
function checked(call: ProviderCall, text: string): ProviderAnswer {
  const value = tryParse(text)
  if (!isJsonObject(value)) throw failure(call, "did not answer with a JSON object")
  requireStorable(text)
  const reported = errorIn(value)
  if (reported !== null) throw failure(call, `answered 200: ${reported}`)
  return { text, value }
}

/** The message of OpenAI's `{"error": {"message": …}}`, or of the plain `{"error": …}` of others; null: none. */
function errorIn(value: unknown): string | null {
  const error = isJsonObject(value) ? value["error"] : undefined
  if (error == null) return null
  const message = isJsonObject(error) ? error["message"] : error
  const text = typeof message === "string" ? message : JSON.stringify(error)
  return text.slice(0, longestErrorExcerpt)
}

async function withFailures<T>(call: ProviderCall, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ModelFailure) throw error
    const { name, message } = error as Error
    if (name === "TimeoutError") throw failure(call, `did not answer within ${call.timeoutMs / 1000} s`)
    if (error instanceof FetchError) throw failure(call, `cannot be asked: ${message}`)
    throw failure(call, `broke off: ${message}`)
  }
}

function failure(call: ProviderCall, what: string, busy: Busy | null = null): ModelFailure {
  return new ModelFailure(`${call.provider.baseUrl.host} ${what}`, busy, false)
}
