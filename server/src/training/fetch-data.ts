/** Fetches training data from an https address that a client names, within {@link FetchPolicy}. */
import { lookup as dnsLookup } from "node:dns"
import type { IncomingMessage } from "node:http"
import { request } from "node:https"
import { isIP, type LookupFunction } from "node:net"
import type { FetchPolicy } from "./public-address.ts"

export interface FetchLimits {
  maximumBytes: number
  timeoutMs: number
}

const maximumRedirects = 5

/** Why the data could not be had, in words for the client. */
export class FetchError extends Error {
  override readonly name = "FetchError"
}

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
  const host = url.hostname.replace(/^\[|\]$/g, "")
  // No name is looked up for a literal address, so the check in `lookup` would not see it.
  if (isIP(host) !== 0 && !policy.allowsAddress(host)) throw notPublic(host)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const call = request(url, {
    signal,
    agent: false,
    lookup: policy.allowsHost(host) ? dnsLookup : publicLookup(policy),
    headers: { accept: "application/jsonl, */*", "user-agent": "heddle" },
  })
  call.once("response", resolve).once("error", reject).end()
  return promise
}

/** The connection goes to an address that was checked here, so a second answer of the name server cannot differ. */
function publicLookup(policy: FetchPolicy): LookupFunction {
  return (hostname, options, callback) => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "", 0)
      const refused = addresses.find(({ address }) => !policy.allowsAddress(address))
      const [first] = addresses
      if (refused !== undefined || first === undefined) {
        return callback(notPublic(`${hostname} (${refused?.address ?? "no address"})`), "", 0)
      }
      if (options.all === true) return callback(null, addresses)
      return callback(null, first.address, first.family)
    })
  }
}

function notPublic(host: string): FetchError {
  return new FetchError(`${host} is not a public address; an operator can allow it with HEDDLE_FETCH_ALLOW`)
}
