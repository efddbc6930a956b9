/** Answers of models that cannot be used: they were paid for all the same. */
import { ModelFailure } from "../../gateway/providers/model-failure.ts"

export class UnusableAnswer extends ModelFailure {
  /** Of the answer, as JSON text; null: the model does not tell. */
  readonly usage: string | null

  constructor(message: string, usage: string | null) {
    super(message)
    this.usage = usage
  }
}

/** What `read` finds in an answer of that usage. @throws {UnusableAnswer} where `read` throws a {@link ModelFailure}. */
export function readPaid(usage: string | null, read: () => string): string {
  try {
    return read()
  } catch (error) {
    throw error instanceof ModelFailure ? new UnusableAnswer(error.message, usage) : error
  }
}
