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
    /** Returns the document that @fastify/swagger-ui shows. */
    swagger?: () => object
  }
}

export async function registerDocs(server: FastifyInstance, routes: readonly Route[]): Promise<void> {
  const version = await serverVersion()
  let made: { description: object; document: PreparedDocument } | null = null
  // A quarter of a second of work; a server that does not listen, as in most tests, is seldom asked for it.
  const reference = () => {
    if (made === null) {
      const description = openapiDocument(routes, version)
      made = { description, document: new PreparedDocument(description) }
    }
    return made
  }
  server.addHook("onListen", () => void reference())
  const [css, script] = await Promise.all(
    ["./docs.css", "./docs-page.js"].map((file) => readFile(new URL(file, import.meta.url), "utf8")),
  )
  server.get("/openapi.json", (request, reply) => reference().document.send(request, reply))
  // swagger-ui takes the document from a plugin of this name; ours comes from the route list instead.
  const provider = fastifyPlugin(async (instance) => void instance.decorate("swagger", () => reference().description), {
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
