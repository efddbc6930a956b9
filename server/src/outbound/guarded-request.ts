/** One HTTP request to an address that a client named, within {@link FetchPolicy}. Redirects are not followed. */
import { lookup as dnsLookup } from "node:dns"
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { isIP, type LookupFunction } from "node:net"
import type { FetchPolicy } from "./public-address.ts"

/** Why there is no answer, in words for the client. */
export class FetchError extends Error {
  override readonly name = "FetchError"
}

export interface OutboundRequest {
  method: "GET" | "POST"
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

/**
 * Resolves with the head of the answer; its body is for the caller to read or destroy.
 * @throws {FetchError}, the signal's reason, and what sockets throw; reading the body throws the last two.
 */
export function guardedRequest(
  url: URL,
  policy: FetchPolicy,
  { method, headers, body, signal }: OutboundRequest,
): Promise<IncomingMessage> {
  const send = url.protocol === "https:" ? requestHttps : url.protocol === "http:" ? requestHttp : null
  if (send === null) throw new FetchError(`"${url.protocol}//${url.host}" is neither http nor https`)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  // No name is looked up for a literal address, so the check in `lookup` would not see it.
  if (isIP(host) !== 0 && !policy.allowsAddress(host)) throw notPublic(host)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const call = send(url, {
    method,
    agent: false,
    lookup: guardedLookup(policy),
    headers: { "user-agent": "heddle", ...headers },
  })
  call.once("response", resolve).once("error", (error) => reject(withoutAddress(url, error)))
  // An answer 101 is no response to Node and no error either: without this, nothing would settle the promise.
  call.once("close", () => reject(new FetchError(`${url.host} closed the connection without an answer`)))
  abortWith(signal, call)
  call.end(body)
  return promise
}

/** Node's own `signal` option would end an answer that has begun as if all of it had come. */
function abortWith(signal: AbortSignal, call: ClientRequest): void {
  let answer: IncomingMessage | null = null
  call.once("response", (response) => (answer = response))
  const abort = () => {
    answer?.destroy(signal.reason as Error)
    call.destroy(signal.reason as Error)
  }
  call.once("close", () => signal.removeEventListener("abort", abort))
  if (signal.aborted) abort()
  else signal.addEventListener("abort", abort, { once: true })
}

/** The connection goes to an address that was checked here, so a second answer of the name server cannot differ. */
function guardedLookup(policy: FetchPolicy): LookupFunction {
  return (hostname, options, callback) => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
      // A name that is not known and one of the inner network are refused alike: the caller must not learn the names in there.
      if (error?.code === "ENOTFOUND" && !policy.allowsHost(hostname)) return callback(notPublic(hostname), "", 0)
      if (error !== null) return callback(error, "", 0)
      const [first] = addresses
      if (first === undefined || addresses.some(({ address }) => !policy.allows(hostname, address))) {
        return callback(notPublic(hostname), "", 0)
      }
      if (options.all === true) return callback(null, addresses)
      return callback(null, first.address, first.family)
    })
  }
}

/** Node tells the address that it could not connect to, which a host's name may hide. */
function withoutAddress(url: URL, error: Error): Error {
  const { code, syscall } = error as NodeJS.ErrnoException
  // A name with several addresses fails once for each, as an AggregateError.
  const isConnect = syscall === "connect" || error instanceof AggregateError
  return isConnect ? new FetchError(`${url.host} cannot be reached (${code})`, { cause: error }) : error
}

function notPublic(host: string): FetchError {
  return new FetchError(`${host} is not a public address; an operator can allow it with HEDDLE_FETCH_ALLOW`)
}
