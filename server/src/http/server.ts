/** The HTTP edge: one Fastify server with what every area shares. */
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from "fastify"
import { randomUUID } from "node:crypto"
import { defaultLimits, type Limits } from "../limits.ts"
import { BodyBudget } from "./bodies/body-budget.ts"
import { BodyWatch } from "./bodies/body-watch.ts"
import { compressAnswers } from "./answers/compressed-answers.ts"
import { endBodiesOfHead } from "./answers/head-answers.ts"
import { wantsPage } from "./pages/page-paths.ts"
import { answerUnroutable, installErrorHandlers, setCommonHeaders } from "./answers/error-handlers.ts"
import { RequestTurns } from "./requests/request-turns.ts"
import { RefusedRequests } from "./requests/refused-requests.ts"
import { logRequests } from "./requests/request-log.ts"
import { RootPath } from "./root-path.ts"
import { longestToken } from "./signed-tokens.ts"
import { endUnreadAnswers, unreadLookMs } from "./answers/unread-answers.ts"
import { UnreadableRequests } from "./answers/unreadable-requests.ts"

declare module "fastify" {
  interface FastifyInstance {
    bodyBudget: BodyBudget
    bodyWatch: BodyWatch
    requestTurns: RequestTurns
    refusedRequests: RefusedRequests
    limits: Limits
    /** {@link HttpOptions.prefix}; Fastify's own `prefix` is that of a plugin. */
    publicPrefix: string | null
  }
}

export interface HttpOptions {
  logLevel: string
  /** Whether requests are logged at level `info`; else at `debug`. */
  logsRequests?: boolean
  /** Path under which a proxy shows the server, such as `/heddle`; it is served at the root as well. */
  prefix: string | null
  /** By default those that the server ships with. */
  limits?: Limits
  /** Whose X-Forwarded headers are believed: by default nobody's. */
  trustedProxies?: string[]
}

export async function createHttpServer({
  logLevel,
  logsRequests = false,
  prefix,
  limits = defaultLimits,
  trustedProxies = [],
}: HttpOptions): Promise<FastifyInstance> {
  const paths = new RootPath(prefix)
  const unreadable = new UnreadableRequests((url) => paths.of(url))
  const server = Fastify({
    logger: logLevel === "silent" ? false : logger(logLevel),
    logController: new LogController({ disableRequestLogging: true }),
    // Bodies may be large and lines slow: `body-watch.ts` ends those that do not get on.
    requestTimeout: 0,
    connectionTimeout: unreadLookMs(limits.answer_unread_ms),
    http: { headersTimeout, requireHostHeader: false },
    keepAliveTimeout: 75_000,
    frameworkErrors: answerUnroutable,
    clientErrorHandler: unreadable.answer,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    genReqId: () => `req_${randomUUID()}`,
    rewriteUrl: ({ url = "/", method, headers }) => paths.of(url, wantsPage(method, headers.accept)),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: longestToken },
  })
  server.addHook("onRoute", ({ url }) => paths.learn(url))
  endBodiesOfHead(server)
  await compressAnswers(server)
  logRequests(server, logsRequests)
  server.decorateRequest("principal", null)
  server.decorateRequest("exactBody", null)
  server.decorateRequest("scope")
  server.decorate("bodyBudget", new BodyBudget(limits))
  endUnreadAnswers(server, limits.answer_unread_ms)
  unreadable.watch(server)
  server.decorate("bodyWatch", new BodyWatch(limits))
  server.decorate("requestTurns", new RequestTurns())
  limitConnections(server, limits.connections)
  server.decorate("refusedRequests", new RefusedRequests())
  server.decorate("limits", limits)
  server.decorate("publicPrefix", prefix)
  leaveBodiesUnread(server)
  installErrorHandlers(server)
  server.addHook("onSend", async (request, reply) => setCommonHeaders(request, reply))
  return server
}

/** Without it, Node would take `requestTimeout: 0` for the heads of requests too. */
const headersTimeout = 60_000

/** The log hears of refused connections once in this time: they come by the thousand. */
const reportEveryMs = 60_000

function limitConnections(server: FastifyInstance, most: number): void {
  server.server.maxConnections = most
  let lastReport = -Infinity
  server.server.on("drop", () => {
    if (performance.now() - lastReport < reportEveryMs) return
    lastReport = performance.now()
    server.log.warn(
      { connections: most },
      "new connections are closed: there are as many as HEDDLE_LIMIT_CONNECTIONS allows",
    )
  })
}

/** Fastify tells each address it listens on; the ready message tells it better (`main.ts`). */
const libraryAnnouncement = /^Server listening at /

function logger(level: string): NonNullable<FastifyServerOptions["logger"]> {
  return {
    level,
    stream: standardOutput(),
    hooks: {
      logMethod(this: FastifyBaseLogger, [first, ...rest]: [unknown, ...unknown[]], method) {
        if (typeof first === "string" && libraryAnnouncement.test(first)) return
        Reflect.apply(method, this, [first, ...rest])
      },
    },
  }
}

/** A line that finds no room, as in a file on a full disk, is lost; the server goes on. */
function standardOutput(): NodeJS.WriteStream {
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => undefined)
  return process.stdout
}

/** Every route reads its own (`request-body.ts`), and a path that is not there is 404 whatever the body. */
function leaveBodiesUnread(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser("*", (_request, _payload, done) => done(null))
}
