/** The OpenAPI 3.1 document, made from the same routes and schemas that serve the requests. */
import { z } from "zod"
import { errorResponses, errorSchemas } from "./openapi-errors.ts"
import type { Route } from "./route.ts"

const bearer = [{ HTTPBearer: [] }]

const introduction = `Train, serve, trace, evaluate and label language models.

Every call but the health checks needs a key: \`Authorization: Bearer <key>\`.
Clients of W&B Training and of OpenAI work unchanged with this server as their base URL.`

export function openapiDocument(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{path}")
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Heddle", version, description: introduction },
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { HTTPBearer: { type: "http", scheme: "bearer" } },
      schemas: errorSchemas,
    },
  }
}

function operation(route: Route): object {
  const body = route.schemas.body ?? route.bodyDocument
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.tag],
    ...(route.access === "public" ? {} : { security: bearer }),
    parameters: [...parameters(route.schemas.params, "path"), ...parameters(route.schemas.query, "query")],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [route.bodyType ?? bodyType(body)]: { schema: input(body) } } } }),
    responses: {
      "200": { description: "Success", content: content(route.response, route.answerTypes) },
      ...errorResponses(route),
      ...otherAnswers(route),
    },
  }
}

function content(schema: z.ZodType, types: readonly string[] = ["application/json"]): object {
  return Object.fromEntries(types.map((type) => [type, { schema: output(schema) }]))
}

function otherAnswers({ otherAnswers: others = {} }: Route): object {
  const described = ([status, { description, schema }]: [string, { description: string; schema: z.ZodType }]) =>
    [status, { description, content: content(schema) }] as const
  return Object.fromEntries(Object.entries(others).map(described))
}

/** `DELETE /v1/preview/models/:model_id` → `delete_v1_preview_models_by_model_id`. */
function operationId(route: Route): string {
  const words = route.path.replaceAll(/:(\w+)/g, "by_$1").replace("*", "by_path")
  return `${route.method.toLowerCase()}${words.replaceAll(/[^A-Za-z0-9]+/g, "_")}`
}

function parameters(schema: z.ZodObject | undefined, place: "path" | "query"): object[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = input(schema) as {
    properties?: Record<string, object>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => ({
    name: name === "*" ? "path" : name,
    in: place,
    required: place === "path" || required.includes(name),
    schema: property,
  }))
}

/** A field of bytes makes it a form. */
function bodyType(body: z.ZodType): string {
  return JSON.stringify(input(body)).includes('"format":"binary"') ? "multipart/form-data" : "application/json"
}

function input(schema: z.ZodType): object {
  return plain(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }))
}

function output(schema: z.ZodType): object {
  return plain(z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }))
}

const implied: Record<string, (value: unknown, schema: Record<string, unknown>) => boolean> = {
  // OpenAPI 3.1 schemas are JSON Schema 2020-12 already.
  $schema: () => true,
  // The bounds of a JavaScript integer, and the pattern behind a named format, tell a reader nothing.
  minimum: (value) => value === Number.MIN_SAFE_INTEGER,
  maximum: (value) => value === Number.MAX_SAFE_INTEGER,
  pattern: (_, schema) => schema["format"] !== undefined,
}

/** Python's expressions, with which many tools check patterns, do not know Unicode's names of classes. */
function withoutClassNames(pattern: string): string {
  const control = "\\x00-\\x1f\\x7f-\\x9f"
  return pattern.replaceAll("\\p{Cc}", control).replaceAll("\\P{Cc}", `[^${control}]`)
}

/** Leaves out what goes without saying. */
function plain(schema: unknown): object {
  const text = JSON.stringify(schema, function (this: Record<string, unknown>, key, value: unknown) {
    if (implied[key]?.(value, this) === true) return undefined
    return key === "pattern" && typeof value === "string" ? withoutClassNames(value) : value
  })
  return JSON.parse(text) as object
}
