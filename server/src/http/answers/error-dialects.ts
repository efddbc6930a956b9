/** Renders the closed error list in the dialect of the area (law 4). */
import type { ErrorCode, HeddleError } from "../../errors.ts"
import { statusMembers } from "./otlp-status.ts"
import type { ErrorDialect } from "../route.ts"

/** OpenAI's `error.type` for a status: inference-api 7. */
function openaiType(status: number): string {
  if (status === 401) return "authentication_error"
  if (status === 403) return "permission_error"
  if (status === 404) return "not_found_error"
  if (status === 429) return "rate_limit_error"
  return status >= 500 ? "server_error" : "invalid_request_error"
}

export function openaiErrorBody(error: HeddleError): { error: Record<string, unknown> } {
  return {
    error: {
      message: error.message,
      type: openaiType(error.status),
      param: error.details.param ?? null,
      code: error.code,
    },
  }
}

/** Anthropic's `error.type` for a status: art-0.5.23 7. */
const anthropicTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
}

export function anthropicErrorBody(error: HeddleError): object {
  const status = statusIn("anthropic", error)
  const type = anthropicTypes[status] ?? (status >= 500 ? "api_error" : "invalid_request_error")
  const { issues, extras } = error.details
  const message = issues?.map(({ loc, msg }) => `${loc.slice(1).join(".") || loc.join(".")}: ${msg}`).join("; ")
  const details = extras === undefined ? {} : { details: extras }
  return { type: "error", error: { type, message: message ?? error.message, ...details } }
}

const overloaded: ReadonlySet<ErrorCode> = new Set(["engine_overloaded", "server_overloaded", "store_overloaded"])

/** The status that an error has in a dialect: Anthropic's knows no 422, and has one of its own for what is too busy. */
export function statusIn(dialect: ErrorDialect, { status, code }: HeddleError): number {
  if (dialect !== "anthropic") return status
  if (overloaded.has(code)) return 529
  return status === 422 ? 400 : status
}

const renderers: Record<ErrorDialect, (error: HeddleError) => object> = {
  detail: (error) => ({ detail: error.details.issues ?? error.message }),
  openai: (error) => ({
    ...openaiErrorBody(error),
    ...(error.details.issues === undefined ? {} : { detail: error.details.issues }),
  }),
  anthropic: anthropicErrorBody,
  reason: reasonBody,
  otlp: (error) => ({ ...statusMembers(error), ...reasonBody(error) }),
  graphql: (error) => ({ errors: [{ message: error.message, extensions: { code: graphqlCode(error) } }] }),
  jsonrpc: (error) => ({
    jsonrpc: "2.0",
    id: null,
    error: { code: jsonrpcCode(error), message: error.message, data: { code: error.code } },
  }),
}

/** What JSON-RPC has no number for is an error of the server's own. */
const jsonrpcCodes: Readonly<Record<number, number>> = { 400: -32_700, 404: -32_601, 422: -32_600, 500: -32_603 }

function jsonrpcCode({ status }: HeddleError): number {
  return jsonrpcCodes[status] ?? -32_000
}

/**
 * weave 0.54.0 shows a refusal of this code as a clear sentence; without it, it retries a wrong key
 * (`wandb_interface/project_creator.py`).
 */
export function graphqlCode({ status, code }: HeddleError): string {
  return status === 401 || status === 403 ? "PERMISSION_ERROR" : code.toUpperCase()
}

/** `error_type` of the evaluation store: the class names of evaluation-store-calls 1.3. */
const reasonTypes: Partial<Record<ErrorCode, string>> = {
  bad_request: "InvalidRequest",
  invalid_request: "InvalidRequest",
  value_error: "ValueError",
  bad_query: "BadQueryParameterError",
  invalid_external_ref: "InvalidExternalRef",
  object_type_collision: "ObjectNameTypeCollision",
  missing_api_key: "MissingLLMApiKeyError",
  not_found: "NotFoundError",
  object_deleted: "ObjectDeletedError",
  refs_not_found: "RefObjectsNotFoundError",
  digest_mismatch: "DigestMismatchError",
  payload_too_large: "RequestTooLarge",
  insert_too_large: "InsertTooLarge",
  invalid_field: "InvalidFieldError",
}

function reasonBody(error: HeddleError): object {
  if (error.details.issues !== undefined) return { detail: error.details.issues }
  if (error.code === "project_not_found" || error.code === "invalid_api_key") return { detail: error.message }
  return { reason: error.message, error_type: reasonTypes[error.code] ?? error.code, ...error.details.extras }
}

export function errorBody(error: HeddleError, dialect: ErrorDialect): object {
  return renderers[dialect](error)
}

export function errorHeaders(error: HeddleError): Record<string, string> {
  const headers: Record<string, string> = { ...error.details.headers }
  const { retryAfterMs } = error.details
  if (retryAfterMs !== undefined) {
    headers["retry-after-ms"] = String(retryAfterMs)
    headers["retry-after"] = String(Math.ceil(retryAfterMs / 1000))
  }
  return headers
}
