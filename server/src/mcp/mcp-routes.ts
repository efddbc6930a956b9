/** `POST /mcp`: the Model Context Protocol over streamable HTTP, without sessions, so that any server process answers any request. */
import type { FastifyReply, FastifyRequest } from "fastify"
import { HeddleError } from "../errors.ts"
import { logFailure } from "../http/answers/failure-log.ts"
import { keyOf } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import { mcpAnswer, mcpMessage } from "../wire/mcp/message.ts"
import { Api } from "./api.ts"
import type { McpDependencies } from "./mcp-area.ts"
import { answerMessage } from "./mcp-server.ts"
import { toolAccess } from "./tools.ts"

export function mcpRoutes(dependencies: McpDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/mcp",
      access: { fields: toolAccess },
      dialect: "jsonrpc",
      summary: "Tools for coding agents, as the Model Context Protocol has them",
      tag: "Service",
      schemas: { body: mcpMessage },
      response: mcpAnswer,
      isOnlyMethod: true,
      handle: async ({ body, principal, request, reply, signal }) => {
        requireOwnOrigin(request)
        const key = keyOf(request.headers)
        // A browser's session is for the pages: what acts by itself has a key of its own.
        if (key === null) throw new HeddleError("forbidden", "/mcp needs a key: 'Authorization: Bearer <key>'")
        // Streams of changes stay open without an end, and nothing here changes what is offered.
        if (body.method === "subscriptions/listen")
          throw new HeddleError("not_found", "this server has no subscriptions")
        const api = new Api(dependencies.inject, { key, ip: request.ip, signal })
        const tell = (error: unknown) => logFailure(reply, error, "a tool failed")
        const caller = { api, scope: principal.scope, logFailure: tell }
        const message = webRequest(request, signal)
        await send(reply, await answerMessage(dependencies, caller, message, body))
      },
    }),
  ]
}

/**
 * A page of another origin has no business here, even with a key; the protocol asks for this check. Names that resolve to this
 * machine are no way around it: without a key in its headers no request is answered, and no browser adds one by itself.
 */
function requireOwnOrigin({ headers, host }: FastifyRequest): void {
  const { origin } = headers
  if (origin === undefined || URL.parse(origin)?.host === host) return
  throw new HeddleError(
    "forbidden",
    `/mcp takes no requests of pages of another origin (origin ${origin}, host ${host}); programs send no Origin. ` +
      "Behind a proxy that changes the host, name the proxy in HEDDLE_TRUSTED_PROXIES and let it send X-Forwarded-Host",
  )
}

/** What the SDK reads of a request; its body is parsed already. */
function webRequest({ headers }: FastifyRequest, signal: AbortSignal): Request {
  const names = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"]
  const given = names.flatMap((name) => {
    const value = headers[name]
    return typeof value === "string" ? [[name, value] as [string, string]] : []
  })
  return new Request("http://heddle/mcp", { method: "POST", headers: given, signal })
}

async function send(reply: FastifyReply, answer: Response): Promise<void> {
  const text = await answer.text()
  reply.code(answer.status)
  const type = answer.headers.get("content-type")
  if (type !== null) reply.type(type)
  await reply.send(text)
}
