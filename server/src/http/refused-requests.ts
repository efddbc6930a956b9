/**
 * The last requests that were refused, so that whoever waits for a first call sees why none arrives: a client whose key is
 * wrong, or whose base URL is, mostly says nothing of it. Kept in memory, of this process alone.
 */
import type { FastifyRequest } from "fastify"
import type { HeddleError } from "../errors.ts"
import { csrfHeader } from "./session-cookie.ts"

export interface RefusedRequest {
  requestId: string
  time: Date
  method: string
  /** Without its query, which may hold anything. */
  path: string
  status: number
  code: string
  message: string
  userAgent: string
  /** null: nobody is known who sent it. */
  userId: string | null
}

const mostKept = 200
const longestPath = 300
const longestMessage = 1000
const longestUserAgent = 200

export class RefusedRequests {
  /** Newest last. */
  readonly #kept: RefusedRequest[] = []

  /** What pages of the web interface ask for is left out: they show their errors themselves. */
  add(request: FastifyRequest, { status, code, message }: HeddleError): void {
    if (request.headers[csrfHeader] !== undefined) return
    this.#kept.push({
      requestId: request.id,
      time: new Date(),
      method: request.method,
      path: (request.originalUrl.split("?", 1)[0] ?? "").slice(0, longestPath),
      status,
      code,
      message: message.slice(0, longestMessage),
      userAgent: (request.headers["user-agent"] ?? "").slice(0, longestUserAgent),
      userId: request.principal?.userId ?? null,
    })
    if (this.#kept.length > mostKept) this.#kept.shift()
  }

  /** Of one user, newest first; `withUnknown` adds those that nobody is known of. */
  of(userId: string, withUnknown: boolean): RefusedRequest[] {
    return this.#kept.filter((one) => one.userId === userId || (withUnknown && one.userId === null)).toReversed()
  }
}
