/** The OpenAPI 3.1 document, made from the same routes and schemas that serve the requests. */
import { setImmediate } from "node:timers/promises"
import { z } from "zod"
import { errorResponses, errorSchemas } from "./openapi-errors.ts"
import { DocumentSchemas } from "./reference/document-schemas.ts"
import { exampleNames, type ExampleRequest } from "./reference/example-names.ts"
import { operations } from "./reference/operations.ts"
import { tags } from "./reference/tags.ts"
import type { Route } from "../route.ts"

const bearer = [{ HTTPBearer: [] }]

const introduction = `Train, serve, trace, evaluate and label language models.

Every call but the health checks needs a key: \`Authorization: Bearer <key>\`.
Clients of W&B Training and of OpenAI work unchanged with this server as their base URL.

Examples are requests that the server's tests send. They name the team \`local\` and the project \`demo\`; ids and digests
in them are made up, so take your own.

Guides lie below \`docs/guide/\` on this server, and \`llms.txt\` lists them all: \`clients.md\` (each client, and how to point it here),
\`find-it-again.md\` (which traces failed, what they cost), \`agents-mcp.md\` (tools for coding agents), \`agents.md\`, \`opentelemetry.md\`,
\`training-data.md\`, \`train-from-labels.md\`, \`rollouts.md\`, \`models.md\`, \`checkpoints.md\`, \`server-runs.md\` (judges, evaluations),
\`online-scoring.md\`, \`labelling.md\`, \`export.md\`, \`accounts.md\`, \`limits.md\`, \`deploying.md\`, \`operating.md\` and \`outages.md\`.`

/** Relative to the document's own address, which a proxy may have put under a prefix. */
const servers = [{ url: "." }]

/** A quarter of a second of work; other requests have their turns between two routes. */
export async function openapiDocument(routes: readonly Route[], version: string): Promise<object> {
  const schemas = new DocumentSchemas()
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    await setImmediate()
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{path}")
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) }
  }
  return schemas.complete({
    openapi: "3.1.0",
    info: { title: "Heddle", version, description: introduction },
    servers,
    tags: tagsOf(routes),
    paths,
    components: { securitySchemes: { HTTPBearer: { type: "http", scheme: "bearer" } }, schemas: errorSchemas },
  })
}

/** In the reader's order; a heading that is not in it comes last. */
function tagsOf(routes: readonly Route[]): object[] {
  const used = new Set(routes.map(({ tag }) => tag))
  const others = [...used].filter((name) => tags[name] === undefined).map((name) => ({ name }))
  const known = Object.entries(tags).filter(([name]) => used.has(name))
  return [...known.map(([name, description]) => ({ name, description })), ...others]
}

function operation(route: Route, schemas: DocumentSchemas): object {
  const { description, example } = operations[`${route.method} ${route.path}`] ?? {}
  const request = example?.(exampleNames) ?? {}
  const body = route.schemas.body ?? route.bodyDocument
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(description === undefined ? {} : { description }),
    tags: [route.tag],
    ...(route.access === "public" ? {} : { security: bearer }),
    parameters: [
      ...parameters(schemas, route.schemas.params, "path", request.params),
      ...parameters(schemas, route.schemas.query, "query", request.query),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: bodyContent(route, schemas, body, request) } }),
    responses: {
      "200": { description: "Success", content: answerContent(schemas, route.response, route.answerTypes) },
      ...errorResponses(route),
      ...otherAnswers(route, schemas),
    },
  }
}

function bodyContent(route: Route, schemas: DocumentSchemas, body: z.ZodType, request: ExampleRequest): object {
  const schema = schemas.input(body)
  const example = request.body ?? request.text ?? request.form
  return { [route.bodyType ?? bodyType(body)]: { schema, ...(example === undefined ? {} : { example }) } }
}

function answerContent(
  schemas: DocumentSchemas,
  schema: z.ZodType,
  types: readonly string[] = ["application/json"],
): object {
  return Object.fromEntries(types.map((type) => [type, { schema: schemas.output(schema) }]))
}

function otherAnswers({ otherAnswers: others = {} }: Route, schemas: DocumentSchemas): object {
  const described = ([status, { description, schema }]: [string, { description: string; schema: z.ZodType }]) =>
    [status, { description, content: answerContent(schemas, schema) }] as const
  return Object.fromEntries(Object.entries(others).map(described))
}

/** `DELETE /v1/preview/models/:model_id` → `delete_v1_preview_models_by_model_id`. */
function operationId(route: Route): string {
  const words = route.path.replaceAll(/:(\w+)/g, "by_$1").replace("*", "by_path")
  return `${route.method.toLowerCase()}${words.replaceAll(/[^A-Za-z0-9]+/g, "_")}`
}

function parameters(
  schemas: DocumentSchemas,
  schema: z.ZodObject | undefined,
  place: "path" | "query",
  examples: Readonly<Record<string, string>> = {},
): object[] {
  if (schema === undefined) return []
  const { properties, required } = schemas.fieldsOf(schema)
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name: name === "*" ? "path" : name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: property,
    ...(examples[name] === undefined ? {} : { example: examples[name] }),
  }))
}

/** A field of bytes makes it a form. */
function bodyType(body: z.ZodType): string {
  const schema = z.toJSONSchema(body, { io: "input", unrepresentable: "any" })
  return JSON.stringify(schema).includes('"format":"binary"') ? "multipart/form-data" : "application/json"
}
