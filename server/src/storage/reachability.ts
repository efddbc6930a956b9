/**
 * Whether a store on another machine can be reached. The log hears of it when that changes, not from
 * each of the thousand queries that fail meanwhile, and not of a store that never was: the start fails and says so.
 */
import type { Log } from "../log.ts"

/** An answer so soon after a failure does not end an outage: a server that starts refuses some and serves others. */
const settledMs = 2_000

export class Reachability {
  readonly #store: string
  readonly #log: Log | null
  #wasReached = false
  /** `performance.now()` of the first and the last failure; null: it is reached. */
  #away: { since: number; last: number } | null = null

  /** `store`: as the log names it. `log` null: nobody is told. */
  constructor(store: string, log: Log | null) {
    this.#store = store
    this.#log = log
  }

  failed(cause: unknown): void {
    if (!this.#wasReached) return
    const now = performance.now()
    if (this.#away === null) {
      this.#away = { since: now, last: now }
      this.#log?.error({ err: cause }, `${this.#store} cannot be reached; what needs it answers 503 or waits`)
    }
    this.#away.last = now
  }

  answered(): void {
    this.#wasReached = true
    if (this.#away === null) return
    const now = performance.now()
    if (now - this.#away.last < settledMs) return
    const seconds = Math.round((now - this.#away.since) / 1000)
    this.#away = null
    this.#log?.info({ seconds }, `${this.#store} is reached again`)
  }
}
