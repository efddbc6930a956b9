/**
 * Ends of recorded calls that the store does not take for now: they are stored once it does, and no answer waits for that.
 * What is left when the server stops, its next start ends (`endCutOffCalls`).
 */
import { isPassing } from "../../errors.ts"
import type { ErrorLog } from "../../log.ts"
import { retryWhile } from "../../storage/retry-while-unavailable.ts"

/** While a store takes nothing, more may be asked and answered. */
const mostKeptBytes = 64 * 1024 ** 2

export class LateEnds {
  readonly #log: ErrorLog
  readonly #closing = new AbortController()
  readonly #kept = new Set<Promise<void>>()
  #keptBytes = 0

  constructor(log: ErrorLog) {
    this.#log = log
  }

  /**
   * Resolves when the end is stored, or kept to be stored later. `store` must be repeatable.
   * @param bytes size of what it stores.
   * @throws a failure that does not pass, and any when too much is kept.
   */
  async store(bytes: number, store: () => Promise<void>): Promise<void> {
    try {
      await store()
    } catch (error) {
      if (!isPassing(error) || this.#keptBytes + bytes > mostKeptBytes) throw error
      const done: Promise<void> = this.#keep(bytes, store).finally(() => this.#kept.delete(done))
      this.#kept.add(done)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#kept)
  }

  async #keep(bytes: number, store: () => Promise<void>): Promise<void> {
    this.#keptBytes += bytes
    try {
      await retryWhile(isPassing, this.#closing.signal, store)
    } catch (error) {
      if (!isPassing(error)) this.#log.error({ err: error }, "the end of a recorded completion could not be stored")
    } finally {
      this.#keptBytes -= bytes
    }
  }
}
