import { HeddleError } from "../../errors.ts"

/** What a service that is busy says. */
export interface Busy {
  /** When to ask again; null: it does not say. */
  retryAfterMs: number | null
}

/** A model did not answer; the message may be shown to whoever asked it. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure"
  /** null: to ask again would not help. */
  readonly busy: Busy | null

  constructor(message: string, busy: Busy | null = null) {
    super(message)
    this.busy = busy
  }
}

/** What a call that failed is recorded with, and its client told. */
export function failureText(error: unknown): string {
  const isKnown = error instanceof HeddleError || error instanceof ModelFailure
  return isKnown ? error.message : "an unexpected error while the model was asked"
}
