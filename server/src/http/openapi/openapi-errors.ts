/** Errors in the document: the statuses that a route may answer, and their bodies in each dialect. */
import type { ErrorDialect, Route } from "../route.ts"

const validationIssues = {
  type: "array",
  description: "What is wrong with the request, one entry for each fault.",
  items: {
    type: "object",
    required: ["loc", "msg", "type"],
    properties: {
      loc: {
        type: "array",
        items: { anyOf: [{ type: "string" }, { type: "integer" }] },
        description: "Where it is: `body`, `query` or `path`, then names of fields and places in lists.",
      },
      msg: text("What is wrong there, in words."),
      type: text("Kind of fault, such as `missing`."),
    },
  },
}

const detail = text("What is wrong and the way out, in words.")

export const errorSchemas = {
  ValidationError: { type: "object", required: ["detail"], properties: { detail: validationIssues } },
  DetailError: { type: "object", required: ["detail"], properties: { detail } },
  OpenAIError: {
    type: "object",
    required: ["error"],
    properties: {
      error: {
        type: "object",
        description: "The error, as OpenAI's clients read it.",
        required: ["message", "type", "param", "code"],
        properties: {
          message: detail,
          type: text("Kind of error by the status, such as `invalid_request_error`."),
          param: { type: ["string", "null"], description: "Field at fault; null: none by itself." },
          code: text("Code of the error, such as `model_not_found`."),
        },
      },
      detail: validationIssues,
    },
  },
  AnthropicError: {
    type: "object",
    required: ["type", "error"],
    properties: {
      type: { const: "error" },
      error: {
        type: "object",
        description: "The error, as Anthropic's clients read it.",
        required: ["type", "message"],
        properties: {
          type: text("Kind of error by the status, such as `invalid_request_error`."),
          message: detail,
          details: {
            type: "object",
            description: "What clients decide by, where there is more than one way on.",
            properties: { error_code: text("Code of the error, such as `thread_not_found`.") },
          },
        },
      },
    },
  },
  GraphQLError: {
    type: "object",
    properties: {
      errors: {
        type: "array",
        description: "The errors, as GraphQL's clients read them.",
        items: {
          type: "object",
          properties: {
            message: detail,
            extensions: {
              type: "object",
              description: "What else is known of the error.",
              properties: { code: text("Code of the error; `PERMISSION_ERROR`: the key may not, or is none.") },
            },
          },
        },
      },
    },
  },
  JSONRPCError: {
    type: "object",
    required: ["jsonrpc", "id", "error"],
    properties: {
      jsonrpc: { const: "2.0" },
      id: { type: ["string", "number", "null"], description: "Id of the message, or null if none could be read." },
      error: {
        type: "object",
        description: "The error, as JSON-RPC has it.",
        required: ["code", "message"],
        properties: {
          code: { type: "integer", description: "Number of the error, such as -32600 for an invalid request." },
          message: detail,
          data: {
            type: "object",
            description: "What else is known of the error.",
            required: ["code"],
            properties: { code: text("Code of the error, such as `invalid_api_key`.") },
          },
        },
      },
    },
  },
  OTLPStatus: {
    type: "object",
    required: ["code", "message"],
    properties: {
      code: { type: "integer", description: "Code of `google.rpc.Code`, such as 3 for an invalid argument." },
      message: detail,
    },
  },
  /** Schema violations, an unknown key and an unknown project have no reason of their own. */
  ReasonError: {
    type: "object",
    anyOf: [
      {
        required: ["reason", "error_type"],
        properties: {
          reason: detail,
          error_type: text("Class of the error as the Weave clients know it, such as `NotFoundError`."),
        },
      },
      {
        required: ["detail"],
        properties: {
          detail: {
            anyOf: [{ type: "string" }, validationIssues],
            description: "In words, or one entry for each fault of the request.",
          },
        },
      },
    ],
  },
}

function text(description: string): object {
  return { type: "string", description }
}

const errorOf: Record<ErrorDialect, string> = {
  detail: "DetailError",
  openai: "OpenAIError",
  anthropic: "AnthropicError",
  reason: "ReasonError",
  graphql: "GraphQLError",
  otlp: "OTLPStatus",
  jsonrpc: "JSONRPCError",
}

/** Routes of every kind, those behind a key, and those that read what a client sends. */
const meanings = {
  everyRoute: {
    "503": "Busy, or the part of the server that is needed does not run; retry later",
    "507": "The disk is full",
  },
  withKey: {
    "401": "No key, or an unknown one",
    "403": "Not for this key, no such project, or the team holds all that it may",
    "429": "Too many requests or jobs at a time; Retry-After says when to try again",
  },
  withInput: { "400": "A value that cannot be used", "404": "Not found", "422": "Validation error" },
  withBody: {
    "408": "The body stopped coming",
    "409": "In conflict with what is stored",
    "413": "Too large",
    "415": "A content type or coding that is not known",
  },
  ofStore: { "502": "The query needs too much memory", "504": "The query takes too long" },
} as const

const meaningOf = { ...meanings.withKey, ...meanings.withInput }

export function errorResponses(route: Route): Record<string, object> {
  const { params, query, body } = route.schemas
  const takesBody = body !== undefined || route.rawBody === true || route.streamsBody === true
  const statuses: Record<string, string> = {
    ...meanings.everyRoute,
    ...(route.access === "public" ? {} : meanings.withKey),
    ...(takesBody || params !== undefined || query !== undefined ? meanings.withInput : {}),
    ...(takesBody ? meanings.withBody : {}),
    ...(route.dialect === "reason" ? meanings.ofStore : {}),
    ...Object.fromEntries((route.refusals ?? []).map((status) => [status, meaningOf[status]])),
  }
  if (route.dialect === "jsonrpc") statuses["406"] = "Accept does not name both application/json and text/event-stream"
  if (route.dialect === "anthropic") {
    delete statuses["422"]
    statuses["529"] = "Too busy; retry later"
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
