import { isStoreAway } from "../errors.ts"
import { whileAway } from "./while-away.ts"

export interface WorkLog {
  info(object: object, message: string): void
  error(object: object, message: string): void
}

const dayMs = 24 * 60 * 60 * 1000

/** Work that is done at the start and then once a day, in the background; a store that is away is waited for. */
export class DailyWork {
  readonly #work: (signal: AbortSignal) => Promise<void>
  readonly #log: WorkLog
  readonly #failure: string
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  readonly #closing = new AbortController()

  /** `failure`: what the log says when `work` rejects; the next try is tomorrow. */
  constructor(work: (signal: AbortSignal) => Promise<void>, log: WorkLog, failure: string) {
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
      .then(() => whileAway(signal, () => this.#work(signal)))
      .catch((error: unknown) => {
        // The server stops while a store is away.
        if (isStoreAway(error)) return
        this.#log.error({ err: error }, `${this.#failure}; the next try is tomorrow`)
      })
  }
}
