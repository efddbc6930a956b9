/** The reference for people and machines: `/openapi.json`, `/docs`, and a way there from `/`. */
import swaggerUi from "@fastify/swagger-ui"
import type { FastifyInstance } from "fastify"
import fastifyPlugin from "fastify-plugin"
import { readFile } from "node:fs/promises"
import { openapiDocument } from "./openapi.ts"
import type { Route } from "./route.ts"

const docsPath = "/docs"

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
      ? reply.redirect(`${docsPath}/`)
      : { name: "Heddle", docs: `${docsPath}/`, openapi: "/openapi.json" },
  )
  // swagger-ui takes the document from a plugin of this name; ours comes from the route list instead.
  const provider = fastifyPlugin(async (instance) => void instance.decorate("swagger", () => document), {
    name: "@fastify/swagger",
  })
  await server.register(provider)
  await server.register(swaggerUi, {
    routePrefix: docsPath,
    staticCSP: true,
    theme: { title: "Heddle API", css: [{ filename: "heddle.css", content: css }] },
    uiConfig: { docExpansion: "list", defaultModelsExpandDepth: -1, tryItOutEnabled: true, persistAuthorization: false },
  })
}

async function serverVersion(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8")
  return (JSON.parse(text) as { version: string }).version
}
