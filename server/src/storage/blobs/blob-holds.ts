/**
 * Keeps a blob from being removed between the moment its file is there and the moment a row refers to
 * it. One process owns a data folder, so memory is the place for this.
 */
export class BlobHolds {
  readonly #holds = new Map<string, number>()
  /** Waited for in the same function that goes on: between the last look and the next step nothing may begin. */
  readonly #removals = new Map<string, Promise<boolean>>()

  /** Waits for a removal that has begun; none begins until {@link release}. Holds are counted. */
  async hold(sha256: string): Promise<void> {
    for (let one = this.#removals.get(sha256); one !== undefined; one = this.#removals.get(sha256)) await ended(one)
    this.#holds.set(sha256, (this.#holds.get(sha256) ?? 0) + 1)
  }

  release(sha256: string): void {
    const left = (this.#holds.get(sha256) ?? 0) - 1
    if (left < 0) throw new Error(`blob ${sha256} was released more often than held`)
    if (left === 0) this.#holds.delete(sha256)
    else this.#holds.set(sha256, left)
  }

  /** Runs `remove`, one after another and while nobody can take hold; false when somebody holds the blob. */
  async removing(sha256: string, remove: () => Promise<boolean>): Promise<boolean> {
    for (let one = this.#removals.get(sha256); one !== undefined; one = this.#removals.get(sha256)) await ended(one)
    if (this.#holds.has(sha256)) return false
    const removal = remove()
    this.#removals.set(sha256, removal)
    try {
      return await removal
    } finally {
      this.#removals.delete(sha256)
    }
  }
}

function ended(removal: Promise<boolean>): Promise<unknown> {
  return removal.catch(() => undefined)
}
