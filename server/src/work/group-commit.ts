/** Shares one durable write among all who wait for one (law 1): while a write runs, the next one gathers. */
import { setImmediate } from "node:timers/promises"
import { outsideOfRequests } from "./work-scope.ts"

export class GroupCommit<T, R = void> {
  readonly #write: (items: T[]) => Promise<R[] | void>
  readonly #maximum: number
  #waiting: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = []
  #busy = false

  /** `write` may give a result for each item, in order. `maximum`: most items of one write. */
  constructor(write: (items: T[]) => Promise<R[] | void>, maximum: number) {
    this.#write = write
    this.#maximum = maximum
  }

  /** Resolves once the item is stored. */
  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#busy) void outsideOfRequests(() => this.#drain())
    })
  }

  async #drain(): Promise<void> {
    this.#busy = true
    while (this.#waiting.length > 0) {
      // The embedded catalog answers without leaving this turn of the event loop; let more of them gather.
      await setImmediate()
      const batch = this.#waiting.splice(0, this.#maximum)
      try {
        const results = await this.#write(batch.map((waiter) => waiter.item))
        batch.forEach((waiter, place) => waiter.resolve(results?.[place] as R))
      } catch (error) {
        for (const waiter of batch) waiter.reject(error)
      }
    }
    this.#busy = false
  }
}
