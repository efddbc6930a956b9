/**
 * The last requests that were refused, so that a user who waits for a first call sees why none arrives: a client with a
 * wrong key or a wrong base URL mostly reports nothing. Each process keeps its own, in memory.
 */
import type { FastifyRequest } from "fastify"
import type { HeddleError } from "../../errors.ts"
import { csrfHeader } from "../session-cookie.ts"

export interface RefusedRequest {
  requestId: string
  time: Date
  method: string
  /** The path without its query, which may hold anything. */
  path: string
  status: number
  code: string
  message: string
  userAgent: string
  /** null: the sender is not known. */
  userId: string | null
}

const mostKept = 200
const longestPath = 300
const longestMessage = 1000
const longestUserAgent = 200

export class RefusedRequests {
  /** Newest last. */
  readonly #kept: RefusedRequest[] = []

  /** Requests of the web interface are left out: its pages show their errors themselves. */
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

  /** Refused requests of one user, newest first; `withUnknown` adds those of unidentified callers. */
  of(userId: string, withUnknown: boolean): RefusedRequest[] {
    return this.#kept.filter((one) => one.userId === userId || (withUnknown && one.userId === null)).toReversed()
  }
}
