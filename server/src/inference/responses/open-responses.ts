/** Responses that are being made, which their team may cancel. */
import { HeddleError } from "../../errors.ts"
import type { ResponseFrame } from "./response-answer.ts"

interface OpenResponse {
  projectId: string
  frame: ResponseFrame
  cancelling: AbortController
}

export class OpenResponses {
  readonly #open = new Map<string, OpenResponse>()

  /** Call `end` when the response is over. `signal` fires when its client leaves, or when it is cancelled. */
  begin(projectId: string, frame: ResponseFrame, left: AbortSignal) {
    const cancelling = new AbortController()
    this.#open.set(frame.id, { projectId, frame, cancelling })
    return {
      signal: AbortSignal.any([left, cancelling.signal]),
      isCancelled: () => cancelling.signal.aborted,
      end: () => void this.#open.delete(frame.id),
    }
  }

  find(id: string): Pick<OpenResponse, "projectId" | "frame"> | null {
    return this.#open.get(id) ?? null
  }

  cancel(id: string): void {
    this.#open.get(id)?.cancelling.abort()
  }
}

export function cancelled(id: string): HeddleError {
  return new HeddleError("invalid_request", `the response "${id}" was cancelled; nothing of it is kept`)
}
