/** The address under which a client reached this server. */
import type { FastifyRequest } from "fastify"

/**
 * Without the path `own` of the route. Whoever lies about it in headers gets useless addresses, and nobody else sees them.
 */
export function baseAddress(request: FastifyRequest, own: RegExp): string {
  // The first of a chain of proxies is the one that the client reached.
  const [outermost = ""] = String(request.headers["x-forwarded-proto"] ?? "").split(",")
  const scheme = outermost.trim().toLowerCase() === "https" ? "https" : request.protocol
  const path = request.originalUrl.split("?", 1)[0]?.replace(own, "") ?? ""
  return `${scheme}://${request.host}${withPrefix(request.server.publicPrefix, path)}`
}

/** A proxy may have taken the operator's prefix off; who came without one is answered under it too. */
function withPrefix(prefix: string | null, path: string): string {
  return prefix === null || path === prefix || path.startsWith(`${prefix}/`) ? path : prefix + path
}
