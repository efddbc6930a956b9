/**
 * How many requests each key makes: a bucket that holds the requests of a minute and fills up evenly, in the memory of
 * this server.
 */
interface Bucket {
  left: number
  /** When `left` was computed, in milliseconds. */
  at: number
}

const minuteMs = 60_000
const maximumBuckets = 10_000

export class RequestRates {
  readonly #buckets = new Map<string, Bucket>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Takes one request; null: there is room. Else in how many milliseconds there is. */
  take(key: string, perMinute: number): number | null {
    const bucket = this.#filled(key, perMinute)
    if (bucket.left < 1) return perMinute === 0 ? minuteMs : Math.ceil(((1 - bucket.left) * minuteMs) / perMinute)
    bucket.left -= 1
    return null
  }

  /** Requests of the last minute, as far as they have not been given back. */
  used(key: string, perMinute: number): number {
    return Math.ceil(perMinute - this.#filled(key, perMinute).left)
  }

  #filled(key: string, perMinute: number): Bucket {
    const now = this.#now()
    const known = this.#buckets.get(key)
    if (known === undefined) {
      if (this.#buckets.size >= maximumBuckets) this.#forgetIdle(now)
      const bucket = { left: perMinute, at: now }
      this.#buckets.set(key, bucket)
      return bucket
    }
    known.left = Math.min(perMinute, known.left + ((now - known.at) * perMinute) / minuteMs)
    known.at = now
    return known
  }

  /** A bucket that was left alone for a minute is full. */
  #forgetIdle(now: number): void {
    for (const [key, { at }] of this.#buckets) if (now - at >= minuteMs) this.#buckets.delete(key)
  }
}
