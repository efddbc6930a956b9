/** Which checkpoints answer requests right now, so that a deleted one's files stay until they are done (training-api 4.3). */
export class AdapterLeases {
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Map<string, (() => void)[]>()

  /** Call the returned function once, when the request is over. */
  take(key: string): () => void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    return () => this.#give(key)
  }

  /** Resolves when no request uses the adapter `key` (`<model id>@<step>`). */
  whenUnused(key: string): Promise<void> {
    if (!this.#counts.has(key)) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), resolve]))
  }

  #give(key: string): void {
    const count = (this.#counts.get(key) ?? 1) - 1
    if (count > 0) {
      this.#counts.set(key, count)
      return
    }
    this.#counts.delete(key)
    for (const resolve of this.#waiting.get(key) ?? []) resolve()
    this.#waiting.delete(key)
  }
}
