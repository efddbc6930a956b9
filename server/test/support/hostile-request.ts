/** Requests that are valid, or nearly so, and are made to take as long as possible. */
import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { text as textOf } from "node:stream/consumers"
import type { WatchedServer } from "./watched-server.ts"

const mebibyte = 1024 * 1024

export interface HostileRequest {
  name: string
  /** A function for a path that needs something stored first. */
  path: string | ((server: WatchedServer) => Promise<string>)
  headers?: Record<string, string>
  /** Makes a body of about `bytes` bytes. */
  body: (bytes: number) => Buffer
  /** The statuses that it may be answered with. */
  statuses: readonly number[]
  /** Size of the largest body, where that is not 32 MiB. */
  largestBytes?: number
}

/** Size of the largest body, with room for the text around the repeated part. */
export const largestBodyBytes = 32 * mebibyte - 2048

/** Sends the request without a time limit; `fetch` would give up after five minutes. */
export async function sendHostile(
  server: WatchedServer,
  { path: given, headers, body }: HostileRequest,
  bytes: number,
): Promise<{ status: number; text: string }> {
  const { url, key } = server
  const path = typeof given === "string" ? given : await given(server)
  const sending = request(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
  })
  const answered = once(sending, "response")
  sending.end(body(bytes))
  const [answer] = (await answered) as [IncomingMessage]
  return { status: answer.statusCode ?? 0, text: await textOf(answer) }
}

/** Repeats `unit` as often as it fits into `bytes`, with commas between. */
export function repeated(unit: string, bytes: number): string {
  const count = Math.max(1, Math.floor(bytes / (unit.length + 1)))
  return `${unit},`.repeat(count).slice(0, -1)
}

/** Joins as many of `make(index)` as fit into `bytes`, with commas between. */
export function counted(make: (index: number) => string, bytes: number): string {
  const pieces: string[] = []
  for (let used = 0; used < bytes; used += (pieces.at(-1)?.length ?? 0) + 1) pieces.push(make(pieces.length))
  return pieces.join(",")
}
