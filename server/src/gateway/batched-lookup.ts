/**
 * Joins lookups that wait at the same time into one query. A lookup never joins a query that has
 * already begun, so every answer is as fresh as a query of its own would be (law 1).
 */
export class BatchedLookup<K, V> {
  readonly #find: (keys: K[]) => Promise<V[]>
  #waiting: { key: K; resolve: (value: V) => void; reject: (error: unknown) => void }[] = []
  #busy = false

  /** `find` answers one value per key, in order. */
  constructor(find: (keys: K[]) => Promise<V[]>) {
    this.#find = find
  }

  get(key: K): Promise<V> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject })
      if (!this.#busy) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#busy = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        const values = await this.#find(batch.map((waiter) => waiter.key))
        batch.forEach((waiter, place) => waiter.resolve(values[place] as V))
      } catch (error) {
        for (const waiter of batch) waiter.reject(error)
      }
    }
    this.#busy = false
  }
}
