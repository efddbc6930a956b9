/** The reference for people and machines: `/openapi.json`, `/docs`, and a way there from `/`. */
import swaggerUi from "@fastify/swagger-ui"
import type { FastifyInstance } from "fastify"
import fastifyPlugin from "fastify-plugin"
import { readFile } from "node:fs/promises"
import { openapiDocument } from "./openapi.ts"
import type { Route } from "./route.ts"
import { serverVersion } from "./server-version.ts"

const docsPath = "/docs"

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
    /** What @fastify/swagger-ui shows. */
    swagger?: () => object
  }
}

export async function registerDocs(server: FastifyInstance, routes: readonly Route[]): Promise<void> {
  const document = openapiDocument(routes, await serverVersion())
  const css = await readFile(new URL("./docs.css", import.meta.url), "utf8")
  server.get("/openapi.json", () => document)
  server.get("/", (request, reply) =>
    request.headers.accept?.includes("text/html") === true
      ? reply.redirect(docsFrom(request.originalUrl))
      : { name: "Heddle", docs: `${docsPath}/`, openapi: "/openapi.json" },
  )
  // swagger-ui takes the document from a plugin of this name; ours comes from the route list instead.
  const provider = fastifyPlugin(async (instance) => void instance.decorate("swagger", () => document), {
    name: "@fastify/swagger",
  })
  await server.register(provider)
  await server.register(swaggerUi, {
    routePrefix: docsPath,
    staticCSP: contentSecurityPolicy,
    theme: { title: "Heddle API", css: [{ filename: "heddle.css", content: css }] },
    uiConfig: {
      docExpansion: "list",
      defaultModelsExpandDepth: -1,
      persistAuthorization: false,
    },
  })
}

/** Relative, since a proxy may show the server under a path, of which it need not tell. */
function docsFrom(url: string): string {
  const [path = ""] = url.split("?", 1)
  const lastSegment = path.slice(path.lastIndexOf("/") + 1)
  return lastSegment === "" ? `.${docsPath}/` : `./${lastSegment}${docsPath}/`
}
