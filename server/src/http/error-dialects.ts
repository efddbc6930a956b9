/** Renders the closed error list in the dialect of the area (law 4). */
import type { HeddleError } from "../errors.ts"
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
  reason: (error) =>
    error.details.issues === undefined
      ? { reason: error.message, error_type: error.code }
      : { detail: error.details.issues },
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
