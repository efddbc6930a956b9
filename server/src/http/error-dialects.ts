/** Renders the closed error list in the dialect of the area (law 4). */
import type { ErrorCode, HeddleError } from "../errors.ts"
import { statusMembers } from "./otlp-status.ts"
import type { ErrorDialect } from "./route.ts"

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

const renderers: Record<ErrorDialect, (error: HeddleError) => object> = {
  detail: (error) => ({ detail: error.details.issues ?? error.message }),
  openai: (error) => ({
    ...openaiErrorBody(error),
    ...(error.details.issues === undefined ? {} : { detail: error.details.issues }),
  }),
  reason: reasonBody,
  otlp: (error) => ({ ...statusMembers(error), ...reasonBody(error) }),
  graphql: (error) => ({ errors: [{ message: error.message, extensions: { code: graphqlCode(error) } }] }),
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
