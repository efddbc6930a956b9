import type { Log } from "../log.ts"
import { isStoreUnavailable } from "../errors.ts"
import { retryWhileUnavailable } from "./retry-while-unavailable.ts"

const dayMs = 24 * 60 * 60 * 1000

/** Work that is done at the start and then once a day, in the background; a store that is away is waited for. */
export class DailyWork {
  readonly #work: (signal: AbortSignal) => Promise<void>
  readonly #log: Log
  readonly #failure: string
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  readonly #closing = new AbortController()

  /** `failure`: what the log says when `work` rejects; the next try is tomorrow. */
  constructor(work: (signal: AbortSignal) => Promise<void>, log: Log, failure: string) {
    this.#work = work
    this.#log = log
    this.#failure = failure
  }

  start(): void {
    this.#begin()
    this.#timer = setInterval(() => this.#begin(), dayMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#running
  }

  #begin(): void {
    const { signal } = this.#closing
    this.#running = this.#running
      .then(() => retryWhileUnavailable(signal, () => this.#work(signal)))
      .catch((error: unknown) => {
        // The server stops while a store is away.
        if (isStoreUnavailable(error)) return
        this.#log.error({ err: error }, `${this.#failure}; the next try is tomorrow`)
      })
  }
}
