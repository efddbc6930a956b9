/** The caller of a request, resolved once from the key and passed to every handler. */
import type { FastifyRequest } from "fastify"
import type { IncomingHttpHeaders } from "node:http"
import type { Holder, Membership } from "../access/can.ts"
import type { ProjectCaller } from "../access/project-access.ts"

/** The user, team and limits of a key. */
export interface Identity extends Holder {
  userId: string
  username: string
  apiKeyId: string
  isAdmin: boolean
  /** The entity that `entity: null` means. */
  defaultEntity: Membership
  /** Request rate of the key, or null if unlimited. */
  requestsPerMinute: number | null
}

export interface Principal extends Identity, ProjectCaller {
  /** Id of the request; for work that the server does later, the id of its job. */
  requestId: string
}

/** Looks a key up. null: no such live key. */
export type Authenticate = (key: string) => Promise<Identity | null>

/** What the caller reads whose key is not, or no longer, one. */
export const unknownKey =
  "this API key is not known here, has ended or was revoked; use the key that the server printed at its first start, " +
  "or one that an administrator made for you"

/** Sessions of browsers: where a request has one, and whose it is; null: none that lives. */
export interface SessionAuthentication {
  secretOf: (request: FastifyRequest) => string | null
  authenticate: (secret: string) => Promise<Identity | null>
}

/** OTLP exporters may send the key as the first (evaluation-store-calls 1.1), Anthropic's clients as the second (art-0.5.23 7). */
const keyHeaders = ["wandb-api-key", "x-api-key"] as const

/** The key that a request brings. */
export function keyOf(headers: IncomingHttpHeaders): string | null {
  const own = keyHeaders.map((name) => headers[name]).find((value) => typeof value === "string" && value !== "")
  return keyFromAuthorization(headers.authorization) ?? (own as string | undefined) ?? null
}

/** The key of an `Authorization` header: `Bearer <key>`, or Basic with user `api` as the wandb SDK sends it. */
export function keyFromAuthorization(header: string | undefined): string | null {
  const match = /^(bearer|basic) +(\S+)$/i.exec(header?.trim() ?? "")
  if (match === null) return null
  const [, scheme, value] = match as unknown as [string, string, string]
  if (scheme.toLowerCase() === "bearer") return value
  const [user, ...rest] = Buffer.from(value, "base64").toString("utf8").split(":")
  return user === "api" && rest.length > 0 ? rest.join(":") : null
}
