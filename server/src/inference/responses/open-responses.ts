/** Responses that are being made, which their team may cancel. */
import { HeddleError } from "../../errors.ts"
import type { ResponseFrame } from "./response-answer.ts"

interface OpenResponse {
  projectId: string
  frame: ResponseFrame
  cancelling: AbortController
  isComplete: boolean
}

export class OpenResponses {
  readonly #open = new Map<string, OpenResponse>()

  /**
   * Call `complete` before the whole answer is kept or told, which nobody can cancel from then on; it throws if somebody has.
   * Call `end` when the response is over. `signal` fires when its client leaves, or when it is cancelled.
   */
  begin(projectId: string, frame: ResponseFrame, left: AbortSignal) {
    const cancelling = new AbortController()
    const response = { projectId, frame, cancelling, isComplete: false }
    this.#open.set(frame.id, response)
    return {
      signal: AbortSignal.any([left, cancelling.signal]),
      isCancelled: () => cancelling.signal.aborted,
      complete: () => {
        if (cancelling.signal.aborted) throw cancelled(frame.id)
        response.isComplete = true
      },
      end: () => void this.#open.delete(frame.id),
    }
  }

  find(id: string): Pick<OpenResponse, "projectId" | "frame"> | null {
    return this.#open.get(id) ?? null
  }

  /** false: it is too late. */
  cancel(id: string): boolean {
    const response = this.#open.get(id)
    if (response === undefined || response.isComplete) return false
    response.cancelling.abort()
    return true
  }
}

export function cancelled(id: string): HeddleError {
  return new HeddleError("invalid_request", `the response "${id}" was cancelled; nothing of it is kept`)
}
