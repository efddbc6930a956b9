/**
 * The closed list of errors that may reach a client. Thrown where the rule is, rendered in one
 * place (`http/answers/error-dialects.ts`) in the dialect of the area.
 */

/** One item of the 422 body: training-api 1.4. */
export interface ValidationIssue {
  loc: (string | number)[]
  msg: string
  type: string
}

/** Code → HTTP status. A code is stable: clients may compare it. */
export const errorStatus = {
  /** The request cannot be read at all: not JSON, wrong encoding. */
  bad_request: 400,
  /** A value the engine refuses, such as a template error or an unsupported part. */
  invalid_request: 400,
  context_length_exceeded: 400,
  /** Rules of the evaluation store: evaluation-store-calls 1.3. */
  value_error: 400,
  bad_query: 400,
  invalid_external_ref: 400,
  object_type_collision: 400,
  /** A provider's key is not among the secrets, or not for this address. */
  missing_api_key: 400,
  invalid_api_key: 401,
  /** A browser's session was ended, or was not used for too long. */
  session_ended: 401,
  forbidden: 403,
  /** A project of the evaluation store that does not exist or is another team's. */
  project_not_found: 403,
  /** The team holds what it may. 403, as clients must not try the same again. */
  quota_exceeded: 403,
  not_found: 404,
  object_deleted: 404,
  refs_not_found: 404,
  model_not_found: 404,
  method_not_allowed: 405,
  /** The body of the request stopped coming. */
  request_timeout: 408,
  conflict: 409,
  digest_mismatch: 409,
  payload_too_large: 413,
  /** One row, however few are sent, is larger than a row may be. */
  insert_too_large: 413,
  unsupported_media_type: 415,
  /** The header Range begins behind the end of the file. */
  range_not_satisfiable: 416,
  validation_error: 422,
  /** A field that does not exist or cannot be used here: evaluation-store-calls 1.3. */
  invalid_field: 422,
  rate_limit_exceeded: 429,
  /** The request line and the headers have more bytes than Node reads. */
  headers_too_large: 431,
  internal_error: 500,
  /** A query of the trace store needed more memory than one may take. */
  query_memory: 502,
  /** No engine is configured, or it is starting again. */
  engine_unavailable: 503,
  engine_overloaded: 503,
  /** A store on another machine does not answer. */
  catalog_unavailable: 503,
  traces_unavailable: 503,
  /** The connection to the catalog broke while it stored a change. */
  outcome_unknown: 503,
  /** The memory for the bodies of requests is full; nothing of the request was done. */
  server_overloaded: 503,
  /** A store cannot keep up with all that waits for it. */
  store_overloaded: 503,
  query_timeout: 504,
  /** The disk is full; nothing of the request was stored. */
  insufficient_storage: 507,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof errorStatus

export interface ErrorDetails {
  /** The request field at fault, as the client names it. */
  param?: string
  /** Only with `validation_error`. */
  issues?: ValidationIssue[]
  /** Further keys of the body in the dialect of the evaluation store; `error.details` in Anthropic's. */
  extras?: Record<string, unknown>
  /** When the client may try again. */
  retryAfterMs?: number
  /** Headers such as `x-should-retry`. */
  headers?: Record<string, string>
  cause?: unknown
}

export class HeddleError extends Error {
  override readonly name = "HeddleError"
  readonly code: ErrorCode
  readonly status: number
  readonly details: ErrorDetails

  /** `message` names the bad value and the way out; it is shown to the client. */
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = errorStatus[code]
    this.details = details
  }
}

/** A 422 for a rule that no schema can state. */
export function invalid(loc: (string | number)[], msg: string, type = "value_error"): HeddleError {
  return new HeddleError("validation_error", msg, { issues: [{ loc, msg, type }] })
}

/** Whether the request was refused, and no part of the server failed: a status below 500. */
export function isRefusal(error: unknown): error is HeddleError {
  return error instanceof HeddleError && error.status < 500
}

const unavailableCodes: ReadonlySet<ErrorCode> = new Set([
  "catalog_unavailable",
  "traces_unavailable",
  "outcome_unknown",
])

/** Whether it fails since a store on another machine does not answer. The log reports that once, not for each failure. */
export function isStoreUnavailable(error: unknown): error is HeddleError {
  return error instanceof HeddleError && unavailableCodes.has(error.code)
}

const passingCodes: ReadonlySet<ErrorCode> = new Set([
  ...unavailableCodes,
  "rate_limit_exceeded",
  "server_overloaded",
  "store_overloaded",
  "insufficient_storage",
])

/** Whether the same may succeed a little later: a store is away, is full, or has too much to do. */
export function isPassing(error: unknown): error is HeddleError {
  return error instanceof HeddleError && passingCodes.has(error.code)
}

/** A full file system, a used-up quota, and PostgreSQL's word for both: SQLSTATE `disk_full`. */
const diskFullCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "53100"])

/** Whether an error with this `code` says that there is no room to write. */
export function saysDiskFull(code: unknown): boolean {
  return diskFullCodes.has(code)
}

export function diskFull(cause?: unknown): HeddleError {
  const message = "the server's disk is full; nothing was stored. Make room on it, then send this again"
  return new HeddleError("insufficient_storage", message, { cause })
}
