/** Requests that are not over, so that a server that stops can wait for what they still have to store. */
import { setTimeout as sleep } from "node:timers/promises"

export class OpenRequests {
  readonly #open = new Set<Promise<void>>()

  /** Returns the end of the request, which runs `end` the first time it is called, and must not reject. */
  begin(end: () => Promise<void>): () => Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#open.add(promise)
    let ending: Promise<void> | null = null
    const run = async () => {
      await end()
      this.#open.delete(promise)
      resolve()
    }
    return () => (ending ??= run())
  }

  /** Resolves when every request is over, or after `ms`. */
  async ended(ms: number): Promise<void> {
    const all = async () => {
      while (this.#open.size > 0) await Promise.all(this.#open)
    }
    await Promise.race([all(), sleep(ms, undefined, { ref: false })])
  }
}
