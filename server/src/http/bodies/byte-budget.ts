/**
 * A number of bytes that several takers share. What does not fit waits; the taker that began first goes on first. One
 * taker at a time may go beyond the budget, until it is done: takers that each hold a part of it would else wait for each
 * other, and one that needs more than all of it would never pass. So together they never have more than the budget and
 * what one taker takes.
 */

/** One who takes, by arrival. */
export interface Taker {
  readonly order: number
  /** Bytes held within the budget. */
  bytes: number
  /** It is not counted any more, and never waits. */
  isExcused: boolean
}

/** How long a taker may still wait, over all of its waits. */
export interface Patience {
  ms: number
}

interface Waiter {
  taker: Taker
  bytes: number
  admit: () => void
  refuse: (error: Error) => void
}

export class ByteBudget {
  readonly #bytes: number
  /** Bytes taken by every holder except the oversized one. */
  #taken = 0
  #beyond: Taker | null = null
  /** By arrival; empty while nobody is beyond. */
  readonly #waiting: Waiter[] = []

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  get taken(): number {
    return this.#taken
  }

  get waiting(): number {
    return this.#waiting.length
  }

  isBeyond(taker: Taker): boolean {
    return this.#beyond === taker
  }

  /** null: `taker` has the bytes. Else it has them once the promise resolves; it rejects with `late()` when its patience is over. */
  take(taker: Taker, bytes: number, patience: Patience, late: () => Error): Promise<void> | null {
    const [first] = this.#waiting
    const isItsTurn = first === undefined || taker.order < first.taker.order
    const isFree = taker.isExcused || taker === this.#beyond
    if (!isFree && !(isItsTurn && this.#mayTake(bytes))) return this.#wait(taker, bytes, patience, late)
    this.#count(taker, bytes)
    return null
  }

  /** Gives everything back, also while it waits. */
  release(taker: Taker): void {
    this.#leave(taker)?.refuse(new Error("the request is over"))
    if (this.#beyond === taker) this.#beyond = null
    this.#give(taker)
    this.#admit()
  }

  /** From now on, what it takes is counted elsewhere. It must not wait here. */
  excuse(taker: Taker): void {
    taker.isExcused = true
    this.release(taker)
  }

  async #wait(taker: Taker, bytes: number, patience: Patience, late: () => Error): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const place = this.#waiting.findLastIndex((other) => other.taker.order < taker.order) + 1
    this.#waiting.splice(place, 0, { taker, bytes, admit: resolve, refuse: reject })
    const began = performance.now()
    const timer = setTimeout(() => reject(late()), patience.ms)
    try {
      await promise
    } finally {
      clearTimeout(timer)
      patience.ms = Math.max(0, patience.ms - (performance.now() - began))
      // A later, smaller request may fit now.
      if (this.#leave(taker) !== undefined) this.#admit()
    }
  }

  #leave(taker: Taker): Waiter | undefined {
    const place = this.#waiting.findIndex((waiter) => waiter.taker === taker)
    return place === -1 ? undefined : this.#waiting.splice(place, 1)[0]
  }

  #admit(): void {
    for (let [first] = this.#waiting; first !== undefined && this.#mayTake(first.bytes); [first] = this.#waiting) {
      this.#waiting.shift()
      this.#count(first.taker, first.bytes)
      first.admit()
    }
  }

  #mayTake(bytes: number): boolean {
    return this.#beyond === null || this.#fits(bytes)
  }

  #count(taker: Taker, bytes: number): void {
    if (taker === this.#beyond || taker.isExcused) return
    if (this.#fits(bytes)) {
      this.#taken += bytes
      taker.bytes += bytes
    } else {
      this.#give(taker)
      this.#beyond = taker
    }
  }

  #give(taker: Taker): void {
    this.#taken -= taker.bytes
    taker.bytes = 0
  }

  #fits(bytes: number): boolean {
    return this.#taken + bytes <= this.#bytes
  }
}
