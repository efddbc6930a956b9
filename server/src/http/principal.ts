/** Who makes a request: resolved once from the key, carried by every handler. */
import type { IncomingHttpHeaders } from "node:http"

export interface EntityMembership {
  id: string
  name: string
}

export interface Principal {
  userId: string
  username: string
  apiKeyId: string
  isAdmin: boolean
  /** The entity that `entity: null` means. */
  defaultEntity: EntityMembership
  /** Every entity the user belongs to, the default one included. */
  entities: readonly EntityMembership[]
}

/** Looks a key up. null: no such live key. */
export type Authenticate = (key: string) => Promise<Principal | null>

/** The key that a request brings; OTLP exporters may send it as `wandb-api-key` (evaluation-store-calls 1.1). */
export function keyOf(headers: IncomingHttpHeaders): string | null {
  const own = headers["wandb-api-key"]
  return keyFromAuthorization(headers.authorization) ?? (typeof own === "string" && own !== "" ? own : null)
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
