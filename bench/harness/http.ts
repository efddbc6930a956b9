/** Sends HTTP/1.1 requests, with the same client to every server under test. */
import http from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"

export interface Reply {
  status: number
  body: string
}

/** Sends one request over a connection of the agent and reads its whole answer. */
export function exchange(
  agent: http.Agent,
  method: string,
  url: string,
  headers: Record<string, string | number>,
  payload?: string | Buffer,
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const call = http.request(url, { method, agent, headers })
  call.on("error", reject)
  call.on("response", (response) => {
    text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
  })
  call.end(payload)
  return promise
}

// Connections are not reused, because a request over one that the server has just closed would fail.
const freshConnections = new http.Agent({ keepAlive: false, maxSockets: Infinity })

export function request(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  if (body === undefined) return exchange(freshConnections, method, url, headers)
  const typed = { ...headers, "content-type": "application/json" }
  return exchange(freshConnections, method, url, typed, JSON.stringify(body))
}

/** The parsed body of a 200 answer. @throws {Error} with the answer's text on any other status. */
export async function requestJson<T>(
  method: string,
  url: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<T> {
  const reply = await request(method, url, body, headers)
  if (reply.status !== 200) throw new Error(`${method} ${url} answered ${reply.status}: ${reply.body.slice(0, 1000)}`)
  return JSON.parse(reply.body) as T
}

/** Asks until it answers 200. `assertAlive` throws when the server's process has ended. */
export async function waitUntilReady(url: string, timeoutMs: number, assertAlive: () => void): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (performance.now() < deadline) {
    assertAlive()
    const reply = await request("GET", url).catch(() => null)
    if (reply?.status === 200) return
    await sleep(10)
  }
  throw new Error(`${url} did not answer 200 within ${timeoutMs / 1000} s`)
}

/** A TCP port that nothing listens on now. */
export function freePort(): Promise<number> {
  const server = http.createServer()
  return new Promise((resolve, reject) => {
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0))
    })
  })
}
