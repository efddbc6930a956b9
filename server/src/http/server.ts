/** The HTTP edge: one Fastify server with what every area shares. */
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from "fastify"
import { randomUUID } from "node:crypto"
import { HeddleError } from "../errors.ts"
import { rootPath } from "./root-path.ts"
import { installErrorHandlers } from "./register-routes.ts"

/** Bodies that are parsed in memory; routes with `streamsBody` have their own limit. */
const maximumParsedBytes = 64 * 1024 * 1024

export function createHttpServer(logLevel: string): FastifyInstance {
  const server = Fastify({
    logger: logLevel === "silent" ? false : logger(logLevel),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maximumParsedBytes,
    // Long generations: inference-api 11.5.
    requestTimeout: 0,
    keepAliveTimeout: 75_000,
    genReqId: () => `req_${randomUUID()}`,
    rewriteUrl: (request) => rootPath(request.url ?? "/"),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2048 },
  })
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
  server.removeAllContentTypeParsers()
  server.addContentTypeParser("*", (request, payload, done) => {
    if (request.routeOptions.config.streamsBody === true) return done(null, undefined)
    const chunks: Buffer[] = []
    let bytes = 0
    payload.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maximumParsedBytes) chunks.push(chunk)
    })
    payload.on("error", done)
    payload.on("end", () => {
      if (bytes > maximumParsedBytes) return done(tooLarge())
      try {
        done(null, parseJson(Buffer.concat(chunks).toString("utf8")))
      } catch (error) {
        done(error as Error)
      }
    })
  })
}

function tooLarge(): HeddleError {
  return new HeddleError("payload_too_large", `the request body is larger than ${maximumParsedBytes} bytes`)
}

/** An empty body counts as absent: openai clients send a JSON content type with DELETE and no body (training-api 1.4). */
function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new HeddleError("bad_request", `the request body is not JSON: ${(cause as Error).message}`, { cause })
  }
}
