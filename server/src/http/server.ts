/** The HTTP edge: one Fastify server with what every area shares. */
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from "fastify"
import { randomUUID } from "node:crypto"
import { BodyBudget, type BodyBudgetOptions } from "./body-budget.ts"
import { compressAnswers } from "./compressed-answers.ts"
import { answerUnroutable, installErrorHandlers } from "./register-routes.ts"
import { RootPath } from "./root-path.ts"

declare module "fastify" {
  interface FastifyInstance {
    bodyBudget: BodyBudget
  }
}

export interface HttpOptions {
  logLevel: string
  /** Path under which a proxy shows the server, such as `/heddle`; it is served at the root as well. */
  prefix: string | null
  /** For the bodies that are held in memory, all together; by default a part of what there is. */
  bodyBudget?: BodyBudgetOptions
}

export async function createHttpServer({ logLevel, prefix, bodyBudget }: HttpOptions): Promise<FastifyInstance> {
  const paths = new RootPath(prefix)
  const server = Fastify({
    logger: logLevel === "silent" ? false : logger(logLevel),
    logController: new LogController({ disableRequestLogging: true }),
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
  server.decorateRequest("exactBody", null)
  server.decorate("bodyBudget", new BodyBudget(bodyBudget))
  leaveBodiesUnread(server)
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

/** Every route reads its own (`request-body.ts`), and a path that is not there is 404 whatever the body. */
function leaveBodiesUnread(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser("*", (_request, _payload, done) => done(null))
}
