/**
 * Joins lookups that wait at the same time into one query, equal ones into one key of it. A lookup never joins a query that has
 * already begun, so every answer is as fresh as a query of its own would be (law 1).
 */
import { setImmediate } from "node:timers/promises"
import { outsideOfRequests } from "./work-scope.ts"

interface Waiting<K, V> {
  key: K
  answer: PromiseWithResolvers<V>
}

export class BatchedLookup<K, V> {
  readonly #find: (keys: K[]) => Promise<V[]>
  #waiting = new Map<string, Waiting<K, V>>()
  #busy = false

  /** `find` answers one value per key, in order. */
  constructor(find: (keys: K[]) => Promise<V[]>) {
    this.#find = find
  }

  /** `identity` is equal for equal keys. */
  get(identity: string, key: K): Promise<V> {
    const found = this.#waiting.get(identity)
    if (found !== undefined) return found.answer.promise
    const answer = Promise.withResolvers<V>()
    this.#waiting.set(identity, { key, answer })
    if (!this.#busy) void outsideOfRequests(() => this.#drain())
    return answer.promise
  }

  async #drain(): Promise<void> {
    this.#busy = true
    while (this.#waiting.size > 0) {
      // The embedded catalog answers without leaving this turn of the event loop; give the other sockets theirs.
      await setImmediate()
      const batch = [...this.#waiting.values()]
      this.#waiting = new Map()
      try {
        const values = await this.#find(batch.map((waiter) => waiter.key))
        batch.forEach((waiter, place) => waiter.answer.resolve(values[place] as V))
      } catch (error) {
        for (const waiter of batch) waiter.answer.reject(error)
      }
    }
    this.#busy = false
  }
}
