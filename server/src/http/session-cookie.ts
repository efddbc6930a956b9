/** The cookie that holds a browser's session, and what a request that relies on it must show. */
import { parseCookie, stringifySetCookie } from "cookie"
import type { FastifyReply, FastifyRequest } from "fastify"
import { createHmac } from "node:crypto"
import { HeddleError } from "../errors.ts"

/** Any value will do: a page of another origin cannot send it without asking first, and is never answered yes. */
export const csrfHeader = "x-heddle-csrf"

export class SessionCookie {
  readonly #name: string

  /**
   * Cookies of a host are shared by its ports, so the name tells servers apart: a second one on the same machine would
   * otherwise sign its user out of the first. Servers on one catalog share the secret, and with it the name.
   */
  constructor(secret: Buffer) {
    const mark = createHmac("sha256", secret).update("session cookie").digest("hex").slice(0, 8)
    this.#name = `heddle_session_${mark}`
  }

  read({ headers }: FastifyRequest): string | null {
    return parseCookie(headers.cookie ?? "")[this.#name] || null
  }

  /**
   * `strict`: no other site's request carries it, not even a click on a link. The pages themselves need no session, and
   * what they ask for afterwards comes from themselves, so a link from outside opens as signed in all the same.
   */
  set(request: FastifyRequest, reply: FastifyReply, value: string, maxAgeMs: number): void {
    const maxAge = Math.floor(maxAgeMs / 1000)
    const secure = request.protocol === "https"
    reply.header(
      "set-cookie",
      stringifySetCookie({ name: this.#name, value, path: "/", httpOnly: true, sameSite: "strict", secure, maxAge }),
    )
  }

  clear(request: FastifyRequest, reply: FastifyReply): void {
    this.set(request, reply, "", 0)
  }
}

/**
 * A request that changes something by the cookie's right must come from an own page: it has the header, and the browser
 * says of it that it comes from here.
 * @throws {HeddleError} 403.
 */
export function requireOwnPage({ headers, host }: FastifyRequest): void {
  if (headers[csrfHeader] === undefined) {
    throw new HeddleError(
      "forbidden",
      `a request that changes something with the cookie of a session needs the header ${csrfHeader}; ` +
        "programs send 'Authorization: Bearer <key>' instead of the cookie",
    )
  }
  const site = headers["sec-fetch-site"]
  // Browsers send it over https and to this machine only; else the origin has to do.
  if (site === "same-origin") return
  if (site === undefined && headers.origin !== undefined && URL.parse(headers.origin)?.host === host) return
  throw new HeddleError(
    "forbidden",
    `this request does not come from a page of this server (origin ${headers.origin ?? "unknown"}, host ${host}). ` +
      "Behind a proxy that changes the host, name the proxy in HEDDLE_TRUSTED_PROXIES and let it send X-Forwarded-Host",
  )
}
