/** Uploads of files that have begun and not ended, on this server. */
import { setTimeout as delay } from "node:timers/promises"

/** A file of 1 GiB may take minutes; a request for another one must not wait that long. */
const patienceMs = 5000
/** An upload that was sent first may arrive a little later, over another connection. */
const pausesMs = [0, 50, 200]

export class RunningUploads {
  readonly #ofUser = new Map<string, Set<Promise<unknown>>>()

  async track<T>(userId: string, upload: Promise<T>): Promise<T> {
    const running = this.#ofUser.get(userId) ?? new Set()
    this.#ofUser.set(userId, running.add(upload))
    try {
      return await upload
    } finally {
      running.delete(upload)
      if (running.size === 0 && this.#ofUser.get(userId) === running) this.#ofUser.delete(userId)
    }
  }

  /** The result of `find`, tried again once the user's running uploads have ended; null if it still finds nothing. */
  async find<T>(userId: string, find: () => Promise<T | null>): Promise<T | null> {
    for (const pause of pausesMs) {
      const found = await find()
      if (found !== null) return found
      await delay(pause)
      await this.#ended(userId)
    }
    return find()
  }

  async #ended(userId: string): Promise<void> {
    const running = this.#ofUser.get(userId)
    if (running === undefined) return
    const stop = new AbortController()
    try {
      await Promise.race([Promise.allSettled(running), delay(patienceMs, undefined, { signal: stop.signal })])
    } finally {
      stop.abort()
    }
  }
}
