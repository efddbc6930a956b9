/** Mounts routes on Fastify: key → principal, parse, handle. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { HeddleError } from "../errors.ts"
import { requireScope } from "../access/can.ts"
import type { HeldBody } from "./bodies/body-budget.ts"
import {
  unknownKey,
  type Authenticate,
  type Identity,
  keyOf,
  type Principal,
  type SessionAuthentication,
} from "./principal.ts"
import { onceAnswered } from "./answers/once-answered.ts"
import type { Access, ErrorDialect, Route, RouteContext } from "./route.ts"
import { RequestRates } from "./requests/request-rates.ts"
import { requireOwnPage } from "./session-cookie.ts"
import { StandingCallers } from "./standing-callers.ts"
import type { Right } from "../wire/platform/access.ts"
import { inScope, type WorkScope } from "../work/work-scope.ts"
import { bringsBody, readBody } from "./bodies/request-body.ts"
import { parse } from "./validation.ts"

/** Somebody waits for what a request does. */
type RequestScope = WorkScope & { readonly signal: AbortSignal }

declare module "fastify" {
  interface FastifyRequest {
    /** Whose key it brings; null on public routes, but for those that tell callers more. */
    principal: Principal | null
    /** Whose work the request is, until its client leaves. */
    scope: RequestScope
  }
  interface FastifyContextConfig {
    dialect?: ErrorDialect
    access?: Access
  }
}

export function registerRoutes(
  server: FastifyInstance,
  routes: readonly Route[],
  authenticate: Authenticate,
  { rates = new RequestRates(), sessions = null }: Partial<Pick<Admission, "rates" | "sessions">> = {},
): void {
  const standing = new StandingCallers()
  server.addHook("onClose", async () => standing.close())
  for (const route of routes) {
    const admission = { route, authenticate, rates, sessions }
    server.route({
      method: route.method,
      url: route.path,
      config: { dialect: route.dialect, access: route.access },
      ...(route.isUncompressed === true ? { compress: false as const } : {}),
      // Before the body: nothing of it is read for a client that may not come in.
      onRequest: async (request, reply) => {
        const scope = strangersScope(request, disconnected(reply))
        request.principal = await inScope(scope, () => admit(admission, request))
        request.scope = request.principal === null ? scope : scopeOf(request.principal, scope.signal)
        watchCaller(standing, admission, request, reply)
        // Nobody is there to be answered any more.
        await server.requestTurns.begin(request.scope).catch(() => reply.hijack())
      },
      handler: (request, reply) => inScope(request.scope, () => answer(route, request, reply)),
    })
    if (route.isOnlyMethod === true) refuseOtherMethods(server, route)
  }
}

function watchCaller(standing: StandingCallers, admission: Admission, request: FastifyRequest, reply: FastifyReply) {
  const { principal: caller } = request
  const credential = keyOf(request.headers) ?? admission.sessions?.secretOf(request) ?? null
  if (caller === null || credential === null) return
  standing.watch({ request, reply, caller, credential, identifyAgain: () => identify(admission, request) })
}

function refuseOtherMethods(server: FastifyInstance, { method, path, dialect }: Route): void {
  server.route({
    method: ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((other) => other !== method),
    url: path,
    config: { dialect },
    handler: () => {
      throw new HeddleError("method_not_allowed", `${path} takes ${method} alone`, { headers: { allow: method } })
    },
  })
}

/** Until a request names a project, its team is the user's own. */
function scopeOf({ userId, defaultEntity }: Principal, signal: AbortSignal): RequestScope {
  return { userId, teamId: defaultEntity.id, signal }
}

/** Whoever has shown no key is known by the address: all together they have no more turns than one team. */
function strangersScope({ ip }: FastifyRequest, signal: AbortSignal): RequestScope {
  return { userId: ip, teamId: "strangers", signal }
}

/** The body counts against the memory budget until the handler, and an answer that it streams, no longer need it. */
async function answer(route: Route, request: FastifyRequest, reply: FastifyReply) {
  const held = request.server.bodyBudget.open()
  if (!bringsBody(route, request)) return handle(route, request, reply, undefined, held)
  const stopWatching = request.server.bodyWatch.watch(request.raw)
  try {
    const body = route.streamsBody === true ? undefined : await readBody(route, request, held)
    return await handle(route, request, reply, body, held)
  } finally {
    stopWatching()
    onceAnswered(reply, held.release)
  }
}

async function handle(route: Route, request: FastifyRequest, reply: FastifyReply, body: unknown, held: HeldBody) {
  const { params, query } = route.schemas
  const context = {
    params: params === undefined ? undefined : parse(params, request.params, "path"),
    query: query === undefined ? undefined : parse(query, request.query, "query"),
    body: checkedBody(route, body),
    exactBody: request.exactBody ?? (() => body),
    principal: request.principal,
    requestId: request.id,
    held,
    signal: request.scope.signal,
    request,
    reply,
  }
  const result = await route.handle(context as unknown as RouteContext)
  return reply.sent || result === undefined ? reply : result
}

function checkedBody({ rawBody, schemas }: Route, body: unknown): unknown {
  if (rawBody === true) return body ?? Buffer.alloc(0)
  return schemas.body === undefined ? undefined : parse(schemas.body, body, "body")
}

interface Admission {
  route: Route
  authenticate: Authenticate
  rates: RequestRates
  sessions: SessionAuthentication | null
}

async function admit(admission: Admission, request: FastifyRequest): Promise<Principal | null> {
  const { route, rates } = admission
  if (route.access === "public") return route.tellsMoreToCallers === true ? knownCaller(admission, request) : null
  const identity = await identify(admission, request)
  const { requestsPerMinute } = identity
  const retryAfterMs = requestsPerMinute === null ? null : rates.take(identity.apiKeyId, requestsPerMinute)
  if (requestsPerMinute !== null && retryAfterMs !== null) throw tooManyRequests(requestsPerMinute, retryAfterMs)
  return { ...identity, requestId: request.id, right: admittedRight(route.access, identity) }
}

/** @throws {HeddleError} for a request with no key or session that lives. */
async function identify({ authenticate, sessions }: Admission, request: FastifyRequest): Promise<Identity> {
  const key = keyOf(request.headers)
  if (key === null) return ofSession(request, sessions)
  const identity = await authenticate(key)
  if (identity === null) throw new HeddleError("invalid_api_key", unknownKey)
  return identity
}

/** null: nobody known, or nobody can be looked up now. */
async function knownCaller(admission: Admission, request: FastifyRequest): Promise<Principal | null> {
  const identity = await identify(admission, request).catch(() => null)
  return identity === null ? null : { ...identity, requestId: request.id, right: "read" }
}

/** The right that the request needs of what it names. @throws {HeddleError} 403 for a caller who may not call the route at all. */
function admittedRight(access: Exclude<Access, "public">, { isAdmin, scope }: Identity): Right {
  // Each field asks for its own before it is resolved.
  if (typeof access === "object" && "fields" in access) return "manage"
  if (access !== "admin") {
    requireScope(scope, access)
    return access.right
  }
  if (!isAdmin) throw new HeddleError("forbidden", "this call needs the key of an administrator")
  requireScope(scope, { right: "manage" })
  return "manage"
}

/** A request with a key is the key's, whatever cookies come with it. */
async function ofSession(request: FastifyRequest, sessions: SessionAuthentication | null): Promise<Identity> {
  const secret = sessions?.secretOf(request) ?? null
  if (sessions === null || secret === null) {
    throw new HeddleError("invalid_api_key", missingKey(request.headers["user-agent"]))
  }
  if (request.method !== "GET" && request.method !== "HEAD") requireOwnPage(request)
  const identity = await sessions.authenticate(secret)
  if (identity === null) throw new HeddleError("session_ended", "this browser's session has ended; sign in again")
  return identity
}

/**
 * openpipe-art 0.5.17 and older sends no key at all when openai 2.34 or later is installed beside it, although the
 * user gave it one: training-api 1.4. Its training client names itself `Client/Python <version of openai>`.
 */
function missingKey(userAgent: string | undefined): string {
  const wayOut = "no API key: send the header 'Authorization: Bearer <key>'"
  if (userAgent?.startsWith("Client/Python ") !== true) return wayOut
  return (
    `${wayOut}. If openpipe-art was given a key: 0.5.17 and older needs openai < 2.34 ` +
    "(openpipe-art 0.5.18 works with openai 2.38 to 2.54)"
  )
}

function tooManyRequests(perMinute: number, retryAfterMs: number): HeddleError {
  return new HeddleError(
    "rate_limit_exceeded",
    `this key may make ${perMinute} requests a minute, and none is left now. Send larger batches, wait as Retry-After ` +
      "says, or ask an administrator for a larger quota (requests_per_minute)",
    { retryAfterMs },
  )
}

function disconnected(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  // If the client has already gone, 'close' will not fire again.
  if (reply.raw.destroyed) controller.abort()
  reply.raw.on("close", () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}
