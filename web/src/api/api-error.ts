/** Errors of the server, in whichever dialect an area writes them. */

export class ApiError extends Error {
  override readonly name = "ApiError"
  /** 0: no answer came. */
  readonly status: number
  /** As the server's list of errors names it; "offline" when no answer came. */
  readonly code: string
  /** null: no answer came. */
  readonly requestId: string | null
  /** How long to wait before the next try, where the server says so. */
  readonly retryAfterMs: number | null

  constructor(
    message: string,
    details: {
      status: number
      code: string
      requestId?: string | null
      retryAfterMs?: number | null
      cause?: unknown
    },
  ) {
    super(message, { cause: details.cause })
    this.status = details.status
    this.code = details.code
    this.requestId = details.requestId ?? null
    this.retryAfterMs = details.retryAfterMs ?? null
  }

  /** The browser has to sign in again. */
  get isSignedOut(): boolean {
    return this.status === 401
  }

  /** It is not there, or only others may see it: the server does not tell which. */
  get isNotFound(): boolean {
    return this.status === 403 || this.status === 404
  }

  /** Nobody knows whether the server did what it was asked. */
  get isUnanswered(): boolean {
    return this.status === 0 || this.status >= 500
  }

  /** The same request may be answered later. */
  get isPassing(): boolean {
    return this.isUnanswered || this.status === 429
  }
}

/** No answer: the server is away, or the connection to it. */
export function offlineError(cause: unknown): ApiError {
  return new ApiError("The server does not answer.", { status: 0, code: "offline", cause })
}

export async function errorOfResponse(response: Response): Promise<ApiError> {
  const body = parsed(await response.text().catch(() => ""))
  const { message, code } = readBody(body)
  const retryAfter = response.headers.get("retry-after-ms")
  return new ApiError(message ?? `The server answered ${response.status} ${response.statusText}.`, {
    status: response.status,
    code: code ?? `http_${response.status}`,
    requestId: response.headers.get("x-request-id"),
    retryAfterMs: retryAfter === null ? null : Number(retryAfter),
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

interface Issue {
  loc?: (string | number)[]
  msg?: string
}

interface ErrorBody {
  error?: { message?: string; code?: string }
  reason?: string
  error_type?: string
  detail?: string | Issue[]
}

/** `{error}` of chat and accounts, `{reason, error_type}` of the evaluation store, `{detail}` of training. */
function readBody(body: unknown): { message: string | undefined; code: string | undefined } {
  if (typeof body !== "object" || body === null) return { message: undefined, code: undefined }
  const { error, reason, error_type, detail } = body as ErrorBody
  if (Array.isArray(detail)) return { message: detail.map(issueText).join("; "), code: "validation_error" }
  if (error?.message !== undefined) return { message: error.message, code: error.code }
  if (reason !== undefined) return { message: reason, code: error_type }
  return { message: typeof detail === "string" ? detail : undefined, code: undefined }
}

function issueText({ loc = [], msg = "not valid" }: Issue): string {
  // The first part says where the value was: body, query or path.
  const field = loc.slice(1).join(".")
  return field === "" ? msg : `${field}: ${msg}`
}
