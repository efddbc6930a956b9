/** HTTP/1.1 without connection reuse, the same for every server under test. */
import http from "node:http"

export interface Reply {
  status: number
  body: string
}

// A reused connection that the peer's server has just closed would fail the request.
const agent = new http.Agent({ keepAlive: false, maxSockets: Infinity })

export function request(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const payload = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const call = http.request(url, {
      method,
      agent,
      headers: payload === undefined ? headers : { ...headers, "content-type": "application/json" },
    })
    call.on("error", reject)
    call.on("response", (response) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
    })
    call.end(payload)
  })
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
    await new Promise((resolve) => setTimeout(resolve, 10))
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
