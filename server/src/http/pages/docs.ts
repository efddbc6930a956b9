/** The reference for people and machines: `/openapi.json` and `/docs`. */
import swaggerUi from "@fastify/swagger-ui"
import type { FastifyInstance } from "fastify"
import fastifyPlugin from "fastify-plugin"
import { readFile } from "node:fs/promises"
import { openapiDocument } from "../openapi/openapi.ts"
import { PreparedDocument } from "../openapi/prepared-document.ts"
import type { Route } from "../route.ts"
import { serverVersion } from "../server-version.ts"

/** Nothing from another host, no inline script; plain http must do, since the server has no certificate of its own. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

declare module "fastify" {
  interface FastifyInstance {
    /** Only there: @fastify/swagger-ui does not register without. */
    swagger?: () => object
  }
}

export async function registerDocs(server: FastifyInstance, routes: readonly Route[]): Promise<void> {
  const version = await serverVersion()
  let made: Promise<PreparedDocument> | null = null
  // Made when somebody reads it: most servers are never asked for it.
  const reference = () => (made ??= openapiDocument(routes, version).then((document) => new PreparedDocument(document)))
  const [css, script] = await Promise.all(
    ["./docs.css", "./docs-page.js"].map((file) => readFile(new URL(file, import.meta.url), "utf8")),
  )
  server.get("/openapi.json", async (request, reply) => (await reference()).send(request, reply))
  // swagger-ui takes the document of its own addresses from a plugin of this name; ours has one address.
  const provider = fastifyPlugin(async (instance) => void instance.decorate("swagger", () => ({})), {
    name: "@fastify/swagger",
  })
  await server.register(provider)
  server.addHook("onRoute", (options) => {
    // The one address of the document is `/openapi.json`: its relative server address would be wrong at another.
    if (options.url === "/docs/json" || options.url === "/docs/yaml") {
      options.handler = (_request, reply) => reply.callNotFound()
    }
    if (options.url === "/docs/static/swagger-initializer.js") {
      options.handler = (_request, reply) => reply.type("text/javascript; charset=utf-8").send(script)
    }
  })
  await server.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: contentSecurityPolicy,
    theme: { title: "Heddle API", css: [{ filename: "heddle.css", content: css ?? "" }] },
  })
}
