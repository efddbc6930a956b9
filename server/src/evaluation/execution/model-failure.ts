import { HeddleError } from "../../errors.ts"

/** A model did not answer; the message may be shown to whoever asked it. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure"
}

/** What a call that failed is recorded with, and its client told. */
export function failureText(error: unknown): string {
  const isKnown = error instanceof HeddleError || error instanceof ModelFailure
  return isKnown ? error.message : "an unexpected error while the model was asked"
}
