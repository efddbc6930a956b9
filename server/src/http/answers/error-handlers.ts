/** Every error becomes an answer here, in the dialect of its route, or of the family of its path where no route is found. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { diskFull, HeddleError, invalid, saysDiskFull } from "../../errors.ts"
import { JsonTextError } from "../../json/json-text-error.ts"
import type { ErrorDialect } from "../route.ts"
import { longestToken } from "../signed-tokens.ts"
import { errorBody, errorHeaders, statusIn } from "./error-dialects.ts"
import { logFailure } from "./failure-log.ts"
import { isProtobuf, protobufType, statusBytes } from "./otlp-status.ts"

/** Headers of every answer, whoever made it. */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header("x-request-id", request.id)
  // Content that a client stored must not run as another type than its own.
  reply.header("x-content-type-options", "nosniff")
  const { access = "public", dialect = dialectOfPath(request.url) } = request.routeOptions.config
  // Anthropic's clients read the request id from this header.
  if (dialect === "anthropic") reply.header("request-id", request.id)
  const isStorable = reply.getHeader("cache-control")?.toString().includes("no-store") !== true
  // A cache on the way, or a browser's on a shared machine, must not keep what only a key may see.
  if (access !== "public" && isStorable) reply.header("cache-control", "no-store")
}

/** Fastify's own failures (body parsing, unknown path) and ours, in one place. */
export function installErrorHandlers(server: FastifyInstance): void {
  server.setErrorHandler((thrown, request, reply) => {
    const dialect = request.routeOptions.config.dialect ?? dialectOfPath(request.url)
    const error = toHeddleError(thrown, request, dialect)
    if (error.status >= 500) logFailure(reply, thrown, "request failed")
    return send(reply, error, dialect)
  })
  server.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?")[0] ?? ""
    const hint = pathHints.find(([paths]) => paths.test(path))?.[1] ?? ""
    const error = new HeddleError("not_found", `no such path: ${request.method} ${path}${hint}`)
    return send(reply, error, dialectOfPath(request.url))
  })
}

/** A path that no route can be looked up for: broken percent-encoding, or a part longer than any name. */
export function answerUnroutable(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  setCommonHeaders(request, reply)
  const dialect = dialectOfPath(request.url)
  send(reply, toHeddleError(thrown, request, dialect), dialect)
}

function send(reply: FastifyReply, error: HeddleError, dialect: ErrorDialect) {
  reply.server.refusedRequests.add(reply.request, error)
  reply.code(statusIn(dialect, error)).headers(errorHeaders(error))
  if (dialect === "otlp" && isProtobuf(reply.request.headers["content-type"])) {
    return reply.type(protobufType).send(statusBytes(error))
  }
  return reply.send(errorBody(error, dialect))
}

/** Families of paths whose errors are `{"detail": …}`: training and accounts. */
const trainingPaths =
  /^\/(?:preview\b|v1\/(?:preview|projects|rollouts|sessions?|sign-in-links|sign-up|system-check|refused-requests|health)\b)/
/** What else begins so is asked for by OpenAI's clients, which show the message of no other form than their own. */
const openaiPaths = /^\/(?:v1\/|openai\/|chat\/completions\b|models\b|embeddings\b|responses\b)/
const anthropicPaths = /^\/v1\/(?:v1\/)?messages\b/
/** Paths that clients request if their base URL was given without `/v1`. */
const withoutVersion = /^\/(?:chat\/completions|completions|models|embeddings|responses|preview)\b/
const pathHints: readonly [RegExp, string][] = [
  [withoutVersion, "; the base URL of OpenAI and ART clients ends with /v1"],
  [/^\/openai\//, "; give the client OpenAI a base URL that ends with /v1, since AzureOpenAI's paths are not served"],
  // Every SDK of OpenTelemetry sends metrics too unless it is told otherwise, and logs this message.
  [
    /\/v1\/metrics$/,
    "; metrics are not kept here: set OTEL_METRICS_EXPORTER=none, or give the exporter of metrics another address",
  ],
  [/^\/v1\/v1\/messages\b/, "; the base URL of Anthropic's clients ends before /v1, which they add themselves"],
]

/** The dialect of a path that no route is found for. `url`: without what stands before the paths of our routes. */
export function dialectOfPath(url: string): ErrorDialect {
  if (anthropicPaths.test(url)) return "anthropic"
  if (trainingPaths.test(url)) return "detail"
  if (openaiPaths.test(url)) return "openai"
  return /^\/mcp\b/.test(url) ? "jsonrpc" : "reason"
}

function toHeddleError(thrown: unknown, { headers }: FastifyRequest, dialect: ErrorDialect): HeddleError {
  if (thrown instanceof HeddleError) return thrown
  if (thrown instanceof JsonTextError) {
    if (thrown.kind !== "syntax") return new HeddleError("payload_too_large", thrown.message, { cause: thrown })
    const message = `the request body is not JSON: ${thrown.message}`
    // As the evaluation store's reference answers: calls 1.3.
    if (dialect === "reason") return invalid(["body"], message, "json_invalid")
    return new HeddleError("bad_request", message, { cause: thrown })
  }
  const { statusCode, code, message } = thrown as { statusCode?: number; code?: string; message?: string }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    const refusal = `Content-Type "${headers["content-type"]}" is no media type; send one such as application/json`
    return new HeddleError("unsupported_media_type", refusal)
  }
  if (statusCode === 416) {
    const refusal = `the header Range, "${headers.range}", begins behind the file's end; begin before it`
    return new HeddleError("range_not_satisfiable", refusal)
  }
  if (code === "FST_ERR_MAX_PARAM_LENGTH") {
    return new HeddleError(
      "bad_request",
      `a part of the path is longer than any name may be: ${longestToken} characters`,
    )
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
