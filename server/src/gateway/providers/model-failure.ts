import { type ErrorCode, HeddleError } from "../../errors.ts"

/** How a busy service says when to come back. */
export interface Busy {
  /** When to ask again; null: it does not say. */
  retryAfterMs: number | null
}

/** A model did not answer; the message may be shown to whoever asked it. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure"
  /** null: to ask again would not help. */
  readonly busy: Busy | null
  /** false: no answer came, so another time one may. */
  readonly hasAnswered: boolean

  constructor(message: string, busy: Busy | null = null, hasAnswered = true) {
    super(message)
    this.busy = busy
    this.hasAnswered = hasAnswered
  }
}

/** The text that is recorded for a failed call and sent to its client. */
export function failureText(error: unknown): string {
  const isKnown = error instanceof HeddleError || error instanceof ModelFailure
  return isKnown ? error.message : "an unexpected error while the model was asked"
}

interface FailureKind {
  code: ErrorCode | "model_failed"
  /** Only where whoever serves the model says so. */
  retry_after_ms?: number
}

/** The kind of failure, and when to retry: once a stream has started no status can say it. */
export function failureKind(error: unknown): FailureKind {
  if (error instanceof HeddleError) return kindOf(error.code, error.details.retryAfterMs)
  if (error instanceof ModelFailure) return kindOf("model_failed", error.busy?.retryAfterMs)
  return { code: "internal_error" }
}

function kindOf(code: FailureKind["code"], retryAfterMs: number | null | undefined): FailureKind {
  return retryAfterMs == null ? { code } : { code, retry_after_ms: retryAfterMs }
}
