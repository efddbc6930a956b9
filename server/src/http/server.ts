/** The HTTP edge: one Fastify server with what every area shares. */
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from "fastify"
import { randomUUID } from "node:crypto"
import { mayChangeNumbers, parseExact } from "../json/exact-json.ts"
import { compressAnswers } from "./compressed-answers.ts"
import { withoutNotFinite } from "../json/json-parts.ts"
import { answerUnroutable, installErrorHandlers } from "./register-routes.ts"
import { RootPath } from "./root-path.ts"
import type { ErrorDialect } from "./route.ts"
import { parseJson, parseTolerantly, wholeBody } from "./whole-body.ts"

const mebibyte = 1024 * 1024

/** Bodies that are held in memory; routes with `streamsBody` have their own limit. Evaluation store: calls 1.1. */
const maximumBytes: Record<ErrorDialect, number> = {
  detail: 64 * mebibyte,
  openai: 64 * mebibyte,
  reason: 32 * mebibyte,
  otlp: 32 * mebibyte,
  graphql: mebibyte,
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set when parsing may have changed a number of the body. */
    exactBody: (() => unknown) | null
  }
}

export interface HttpOptions {
  logLevel: string
  /** Path under which a proxy shows the server, such as `/heddle`; it is served at the root as well. */
  prefix: string | null
}

export async function createHttpServer({ logLevel, prefix }: HttpOptions): Promise<FastifyInstance> {
  const paths = new RootPath(prefix)
  const server = Fastify({
    logger: logLevel === "silent" ? false : logger(logLevel),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: Math.max(...Object.values(maximumBytes)),
    // Long generations: inference-api 11.5.
    requestTimeout: 0,
    keepAliveTimeout: 75_000,
    frameworkErrors: answerUnroutable,
    genReqId: () => `req_${randomUUID()}`,
    rewriteUrl: (request) => paths.of(request.url ?? "/"),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2048 },
  })
  server.addHook("onRoute", ({ url }) => paths.learn(url))
  await compressAnswers(server)
  server.decorateRequest("principal", null)
  readBodies(server)
  installErrorHandlers(server)
  server.addHook("onSend", async (request, reply) => {
    reply.header("x-request-id", request.id)
  })
  return server
}

/** Fastify tells each address it listens on; the ready message tells it better (`main.ts`). */
const libraryAnnouncement = /^Server listening at /

function logger(level: string): NonNullable<FastifyServerOptions["logger"]> {
  return {
    level,
    hooks: {
      logMethod(this: FastifyBaseLogger, [first, ...rest]: [unknown, ...unknown[]], method) {
        if (typeof first === "string" && libraryAnnouncement.test(first)) return
        Reflect.apply(method, this, [first, ...rest])
      },
    },
  }
}

function readBodies(server: FastifyInstance): void {
  server.decorateRequest("exactBody", null)
  server.removeAllContentTypeParsers()
  // Also a request without Content-Type: weave 0.52.22 sends JSON that way.
  server.addContentTypeParser("*", async (request: FastifyRequest) => {
    const { body, dialect } = request.routeOptions.config
    if (body === "stream" || request.is404) return undefined
    const bytes = await wholeBody(request.raw, maximumBytes[dialect ?? "detail"])
    if (body === "raw") return bytes
    const text = bytes.toString("utf8")
    const isTolerant = dialect === "reason"
    if (mayChangeNumbers(text)) request.exactBody = () => parseExact(isTolerant ? withoutNotFinite(text) : text)
    return isTolerant ? parseTolerantly(text) : parseJson(text)
  })
}
