/** A client with a connection of its own, which it may close at any moment. */
import { request } from "node:http"
import { text } from "node:stream/consumers"

export interface OpenCall {
  /** The answer; null when the connection ended before the answer did. */
  answer: Promise<{ status: number; headers: Record<string, unknown>; text: string } | null>
  /** True when the call has its answer, or its connection has ended. */
  readonly isOver: boolean
  leave: () => void
}

/** Sends a request; a Buffer or text is sent as it is, any other body as JSON. */
export function callServer(server: URL, key: string, path: string, body: unknown, headers: object = {}): OpenCall {
  let isOver = false
  const sent = request(new URL(path, server), {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
  })
  const answer = new Promise<Awaited<OpenCall["answer"]>>((resolve) => {
    sent.on("error", () => resolve(null)).on("close", () => resolve(null))
    sent.on("response", (response) => {
      text(response).then(
        (read) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: read }),
        () => resolve(null),
      )
    })
  }).finally(() => (isOver = true))
  sent.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  return {
    answer,
    get isOver() {
      return isOver
    },
    leave: () => void sent.destroy(),
  }
}
