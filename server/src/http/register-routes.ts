/** Mounts routes on Fastify: key → principal, parse, handle, and every error in the route's dialect. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { diskFull, HeddleError, isStoreAway, saysDiskFull } from "../errors.ts"
import { JsonTextError } from "../json/json-text-error.ts"
import type { HeldBody } from "./body-budget.ts"
import { errorBody, errorHeaders } from "./error-dialects.ts"
import { type Authenticate, keyOf, type Principal } from "./principal.ts"
import { isProtobuf, protobufType, statusBytes } from "./otlp-status.ts"
import type { ErrorDialect, Route, RouteContext } from "./route.ts"
import { bringsBody, readBody } from "./request-body.ts"
import { parse } from "./validation.ts"

declare module "fastify" {
  interface FastifyRequest {
    /** Whose key it brings; null on public routes. */
    principal: Principal | null
  }
  interface FastifyContextConfig {
    dialect?: ErrorDialect
  }
}

export function registerRoutes(server: FastifyInstance, routes: readonly Route[], authenticate: Authenticate): void {
  for (const route of routes) {
    server.route({
      method: route.method,
      url: route.path,
      config: { dialect: route.dialect },
      ...(route.streamsLive === true ? { compress: false as const } : {}),
      // Ahead of the body, of which nothing is read for who may not come in.
      onRequest: async (request) => {
        request.principal = await admit(route, authenticate, request)
      },
      handler: (request, reply) => answer(route, request, reply),
    })
  }
}

/** What the body takes of memory is counted until nobody needs it any more: not the handler, nor an answer that it streams. */
async function answer(route: Route, request: FastifyRequest, reply: FastifyReply) {
  const held = request.server.bodyBudget.open()
  if (!bringsBody(route, request)) return handle(route, request, reply, undefined, held)
  try {
    const body = route.streamsBody === true ? undefined : await readBody(route, request, held)
    return await handle(route, request, reply, body, held)
  } finally {
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
    signal: disconnected(reply),
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

async function admit(route: Route, authenticate: Authenticate, request: FastifyRequest): Promise<Principal | null> {
  if (route.access === "public") return null
  const key = keyOf(request.headers)
  if (key === null) throw new HeddleError("invalid_api_key", missingKey)
  const principal = await authenticate(key)
  if (principal === null) throw new HeddleError("invalid_api_key", unknownKey)
  if (route.access === "admin" && !principal.isAdmin) {
    throw new HeddleError("forbidden", "this call needs the key of an administrator")
  }
  return principal
}

/** openai-python 2.34 and later under openpipe-art 0.5.17 and older sends no key at all: training-api 1.4. */
const missingKey =
  "no API key: send the header 'Authorization: Bearer <key>'. If your client was given a key, " +
  "openpipe-art 0.5.17 and older needs openai < 2.34 (openpipe-art 0.5.18 works with openai 2.38 to 2.54)"
const unknownKey =
  "this API key is not known here or was revoked; use the key that the server printed at its first start"

function disconnected(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  // Who left by now is told by no event any more.
  if (reply.raw.destroyed) controller.abort()
  reply.raw.on("close", () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

/** Also when the client has left instead. */
function onceAnswered({ raw }: FastifyReply, act: () => void): void {
  if (raw.writableFinished || raw.destroyed) return act()
  raw.once("finish", act).once("close", act)
}

/** Fastify's own failures (body parsing, unknown path) and ours, in one place. */
export function installErrorHandlers(server: FastifyInstance): void {
  server.setErrorHandler((thrown, request, reply) => {
    const error = toHeddleError(thrown)
    if (error.status >= 500) logFailure(request, reply, thrown)
    return send(reply, error, request.routeOptions.config.dialect ?? dialectOfPath(request.url))
  })
  server.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?")[0] ?? ""
    const hint = withoutVersion.test(path) ? "; the base URL of OpenAI and ART clients ends with /v1" : ""
    const error = new HeddleError("not_found", `no such path: ${request.method} ${path}${hint}`)
    return send(reply, error, dialectOfPath(request.url))
  })
}

/** What was stopped since its client left is no failure of the server; of a store that is away the log has heard. */
function logFailure(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
  if (isStoreAway(thrown)) request.log.debug({ err: thrown }, "a store is away")
  else if (reply.raw.destroyed) request.log.info({ err: thrown }, "the client left before it was answered")
  else request.log.error({ err: thrown }, "request failed")
}

/** A path that no route can be looked up for: broken percent-encoding, or a part longer than any name. */
export function answerUnroutable(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  reply.header("x-request-id", request.id)
  send(reply, toHeddleError(thrown), dialectOfPath(request.url))
}

function send(reply: FastifyReply, error: HeddleError, dialect: ErrorDialect) {
  reply.code(error.status).headers(errorHeaders(error))
  if (dialect === "otlp" && isProtobuf(reply.request.headers["content-type"])) {
    return reply.type(protobufType).send(statusBytes(error))
  }
  return reply.send(errorBody(error, dialect))
}

const openaiPaths =
  /^(?:\/v1\/(?:chat|completions|models|embeddings|responses|organization|files|fine_tuning|images|audio|moderations|batches)\b|\/(?:chat\/completions|models|embeddings|responses)\b)/
const trainingPaths = /^\/(?:v1|preview)\//
/** What clients ask for whose base URL was given without its `/v1`. */
const withoutVersion = /^\/(?:chat\/completions|completions|models|embeddings|responses|preview)\b/

function dialectOfPath(url: string): ErrorDialect {
  if (openaiPaths.test(url)) return "openai"
  return trainingPaths.test(url) ? "detail" : "reason"
}

function toHeddleError(thrown: unknown): HeddleError {
  if (thrown instanceof HeddleError) return thrown
  if (thrown instanceof JsonTextError) {
    if (thrown.kind === "too_deep") return new HeddleError("payload_too_large", thrown.message, { cause: thrown })
    return new HeddleError("bad_request", `the request body is not JSON: ${thrown.message}`, { cause: thrown })
  }
  const { statusCode, code, message } = thrown as { statusCode?: number; code?: string; message?: string }
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE")
    return new HeddleError("payload_too_large", "the request body is too large")
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return new HeddleError("unsupported_media_type", "send the body as Content-Type: application/json")
  }
  if (code === "FST_ERR_MAX_PARAM_LENGTH") {
    return new HeddleError("bad_request", "a part of the path is longer than any name may be: 2048 characters")
  }
  // PostgreSQL's class 22: U+0000 in text, a number out of range. Bad input is never a 5xx.
  if (code !== undefined && /^22[0-9A-Z]{3}$/.test(code)) {
    return new HeddleError("bad_request", `the request has a value that cannot be stored: ${message ?? code}`, {
      cause: thrown,
    })
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new HeddleError("bad_request", message ?? "the request cannot be read")
  }
  if (saysDiskFull(code)) return diskFull(thrown)
  return new HeddleError("internal_error", "Internal server error; the server's log has it under this request id", {
    cause: thrown,
  })
}
