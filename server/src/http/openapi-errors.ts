/** What the document says of errors: which statuses a route may answer, and their bodies in each dialect. */
import type { ErrorDialect, Route } from "./route.ts"

const validationIssues = {
  type: "array",
  items: {
    type: "object",
    required: ["loc", "msg", "type"],
    properties: {
      loc: { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] } },
      msg: { type: "string" },
      type: { type: "string" },
    },
  },
}

export const errorSchemas = {
  ValidationError: { type: "object", required: ["detail"], properties: { detail: validationIssues } },
  DetailError: { type: "object", required: ["detail"], properties: { detail: { type: "string" } } },
  OpenAIError: {
    type: "object",
    required: ["error"],
    properties: {
      error: {
        type: "object",
        required: ["message", "type", "param", "code"],
        properties: {
          message: { type: "string" },
          type: { type: "string" },
          param: { type: ["string", "null"] },
          code: { type: "string" },
        },
      },
      detail: validationIssues,
    },
  },
  GraphQLError: {
    type: "object",
    properties: {
      errors: {
        type: "array",
        items: {
          type: "object",
          properties: {
            message: { type: "string" },
            extensions: { type: "object", properties: { code: { type: "string" } } },
          },
        },
      },
    },
  },
  OTLPStatus: {
    type: "object",
    required: ["code", "message"],
    properties: { code: { type: "integer" }, message: { type: "string" } },
  },
  /** What the schema of a body finds, an unknown key and an unknown project have no reason of their own. */
  ReasonError: {
    type: "object",
    anyOf: [
      {
        required: ["reason", "error_type"],
        properties: { reason: { type: "string" }, error_type: { type: "string" } },
      },
      { required: ["detail"], properties: { detail: { anyOf: [{ type: "string" }, validationIssues] } } },
    ],
  },
}

const errorOf: Record<ErrorDialect, string> = {
  detail: "DetailError",
  openai: "OpenAIError",
  reason: "ReasonError",
  graphql: "GraphQLError",
  otlp: "OTLPStatus",
}

/** Routes of every kind, those behind a key, and those that read what a client sends. */
const meanings = {
  everyRoute: {
    "503": "Busy, or the part of the server that is needed does not run; retry later",
    "507": "The disk is full",
  },
  withKey: {
    "401": "No key, or an unknown one",
    "403": "Not for this key, or no such project",
  },
  withInput: { "400": "A value that cannot be used", "404": "Not found", "422": "Validation error" },
  withBody: {
    "409": "In conflict with what is stored",
    "413": "Too large",
    "415": "A content type or coding that is not known",
  },
  ofStore: { "502": "The query needs too much memory", "504": "The query takes too long" },
} as const

export function errorResponses(route: Route): Record<string, object> {
  const { params, query, body } = route.schemas
  const takesBody = body !== undefined || route.rawBody === true || route.streamsBody === true
  const statuses: Record<string, string> = {
    ...meanings.everyRoute,
    ...(route.access === "public" ? {} : meanings.withKey),
    ...(takesBody || params !== undefined || query !== undefined ? meanings.withInput : {}),
    ...(takesBody ? meanings.withBody : {}),
    ...(route.dialect === "reason" ? meanings.ofStore : {}),
  }
  return Object.fromEntries(
    Object.entries(statuses).map(([status, description]) => [
      status,
      { description, content: reference(bodyOf(route.dialect, status)) },
    ]),
  )
}

function bodyOf(dialect: ErrorDialect, status: string): string {
  return dialect === "detail" && status === "422" ? "ValidationError" : errorOf[dialect]
}

function reference(name: string): object {
  return { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } }
}
