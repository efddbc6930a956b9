/**
 * How much of this process's memory the bodies of requests take, over all requests together (law 8).
 *
 * A body counts what it takes when it takes it, so a slow client counts only what it has sent. What does not fit waits, for
 * so long and no longer; the body that began first goes on first. One body at a time may go beyond the budget, until its
 * request is over: bodies that each hold a part of it would else wait for each other, and one that is larger would never
 * pass. Hence all of them together never take more than the budget and one body.
 */
import { totalmem } from "node:os"
import { constrainedMemory } from "node:process"
import { getHeapStatistics } from "node:v8"
import { HeddleError } from "../errors.ts"

/** Of the memory there is: a body is copied on its way, and what is made of it takes as much again. */
const share = 1 / 4

/** Shorter than any client waits for an answer. */
const defaultPatienceMs = 10_000
const retryAfterMs = 5_000

export interface BodyBudgetOptions {
  bytes?: number
  /** How long one body may wait, in all, until it is refused. */
  patienceMs?: number
}

/** What one body has of the budget. */
export interface HeldBody {
  /**
   * null: there was room for `bytes` more, and it has them. Else it has them once the promise resolves; it never waits twice at a time.
   * @throws {HeddleError} 503, in the promise: there was no room for too long.
   */
  take: (bytes: number) => Promise<void> | null
  /** Takes what it lacks of `bytes`, for who reads a stream and holds a part of it at a time. */
  atLeast: (bytes: number) => Promise<void> | null
  /** Gives all of it back, also while it waits. Repeatable; nothing may be taken afterwards. */
  release: () => void
}

interface Taker {
  /** Of when it began, among all. */
  order: number
  /** Within the budget. */
  bytes: number
  patienceMs: number
}

interface Waiter {
  taker: Taker
  bytes: number
  admit: () => void
  refuse: (error: Error) => void
}

export class BodyBudget {
  readonly #bytes: number
  readonly #patienceMs: number
  /** Of all bodies but the one beyond. */
  #taken = 0
  #beyond: Taker | null = null
  /** In the order in which the bodies began; empty while nobody is beyond. */
  readonly #waiting: Waiter[] = []
  #opened = 0

  constructor({ bytes = defaultBytes(), patienceMs = defaultPatienceMs }: BodyBudgetOptions = {}) {
    this.#bytes = bytes
    this.#patienceMs = patienceMs
  }

  open(): HeldBody {
    const taker = { order: this.#opened++, bytes: 0, patienceMs: this.#patienceMs }
    let most = 0
    return {
      take: (bytes) => this.#take(taker, bytes),
      atLeast: (bytes) => {
        const more = bytes - most
        if (more <= 0) return null
        most = bytes
        return this.#take(taker, more)
      },
      release: () => this.#release(taker),
    }
  }

  #take(taker: Taker, bytes: number): Promise<void> | null {
    const [first] = this.#waiting
    const isItsTurn = first === undefined || taker.order < first.taker.order
    if (taker !== this.#beyond && !(isItsTurn && this.#mayTake(bytes))) return this.#wait(taker, bytes)
    this.#count(taker, bytes)
    return null
  }

  #release(taker: Taker): void {
    this.#leave(taker)?.refuse(new Error("the request is over"))
    if (this.#beyond === taker) this.#beyond = null
    this.#give(taker)
    this.#admit()
  }

  async #wait(taker: Taker, bytes: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const place = this.#waiting.findLastIndex((other) => other.taker.order < taker.order) + 1
    this.#waiting.splice(place, 0, { taker, bytes, admit: resolve, refuse: reject })
    const began = performance.now()
    const timer = setTimeout(() => reject(overloaded(this.#bytes)), taker.patienceMs)
    try {
      await promise
    } finally {
      clearTimeout(timer)
      taker.patienceMs = Math.max(0, taker.patienceMs - (performance.now() - began))
      // Who came later may need less.
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
    if (taker === this.#beyond) return
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

function overloaded(budget: number): HeddleError {
  const message =
    `the bodies of other requests take all of the ${Math.round(budget / 1024 ** 2)} MiB that this server has for them; ` +
    "nothing was done. Send this again a little later, or in smaller requests"
  return new HeddleError("server_overloaded", message, { retryAfterMs })
}

function defaultBytes(): number {
  // 0 or beyond what there is: nobody has set a limit.
  const limit = constrainedMemory() || Infinity
  return share * Math.min(limit, totalmem(), getHeapStatistics().heap_size_limit)
}
