/** Fetches training data from an https address that a client names, within {@link FetchPolicy}. */
import type { IncomingMessage } from "node:http"
import { FetchError, guardedRequest } from "../../outbound/guarded-request.ts"
import type { FetchPolicy } from "../../outbound/public-address.ts"

export interface FetchLimits {
  maximumBytes: number
  timeoutMs: number
}

const maximumRedirects = 5

/** Yields the body. @throws {FetchError} */
export async function* fetchData(url: URL, policy: FetchPolicy, limits: FetchLimits): AsyncGenerator<Buffer> {
  const signal = AbortSignal.timeout(limits.timeoutMs)
  try {
    const response = await follow(url, policy, signal)
    let bytes = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > limits.maximumBytes) throw new FetchError(`it is larger than ${limits.maximumBytes} bytes`)
      yield chunk
    }
  } catch (error) {
    if (signal.aborted) throw new FetchError(`it did not arrive within ${limits.timeoutMs / 1000} s`, { cause: error })
    throw error instanceof FetchError ? error : new FetchError((error as Error).message, { cause: error })
  }
}

async function follow(first: URL, policy: FetchPolicy, signal: AbortSignal): Promise<IncomingMessage> {
  let url = first
  for (let hop = 0; hop <= maximumRedirects; hop++) {
    const response = await get(url, policy, signal)
    const status = response.statusCode ?? 0
    if (status === 200) return response
    response.destroy()
    const { location } = response.headers
    if (status < 300 || status > 399 || location === undefined) throw new FetchError(`${url.host} answered ${status}`)
    if (!URL.canParse(location, url))
      throw new FetchError(`${url.host} redirects to "${location}", which is no address`)
    url = new URL(location, url)
  }
  throw new FetchError(`more than ${maximumRedirects} redirects`)
}

function get(url: URL, policy: FetchPolicy, signal: AbortSignal): Promise<IncomingMessage> {
  if (url.protocol !== "https:") throw new FetchError(`"${url.protocol}//${url.host}" is not https`)
  return guardedRequest(url, policy, { method: "GET", headers: { accept: "application/jsonl, */*" }, signal })
}
