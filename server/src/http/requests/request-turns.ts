/**
 * Whose request is begun next. One thread serves everybody, so requests that come faster than it can begin them would
 * delay those of all other users. Within one turn of the event loop they are begun as they come, for a few milliseconds;
 * the rest waits for the next turns of the loop, in turns by tenant. Whoever has left by then costs nothing more.
 */
import { Turns, type WaitingWork } from "../../work/turns.ts"
import type { WorkScope } from "../../work/work-scope.ts"

/** How long, and how many, requests are begun as they come in one turn of the event loop. */
const openMs = 5
const openRequests = 16
/** While requests wait, as many are begun in a turn of the event loop as keep it shorter than this. */
const longTurnMs = 10

/**
 * After a turn in which waiting requests were begun come so many in which none is. libuv accepts one connection in a turn (since
 * 1.45): if every turn were long, new connections of other users would wait in the system's queue, in order of arrival.
 */
const turnsBetween = 8

interface Waiter extends WaitingWork {
  start: () => void
}

export class RequestTurns {
  readonly #waiting = new Turns<Waiter>()
  /** Start of the current turn of the event loop, or null if it has started no request and none waits. */
  #turnBegan: number | null = null
  /** Requests that were begun in it as they came. */
  #begun = 0
  /** How many of those that wait are begun in one turn. */
  #startsAtOnce = 1
  /** Turns until the next are begun. */
  #turnsToSpare = 0

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.counts.heavy
  }

  /** Resolves when the request may begin. @throws the signal's reason when its client has left. */
  async begin({ userId, teamId, signal }: WorkScope): Promise<void> {
    signal?.throwIfAborted()
    if (!this.#mayBegin()) await this.#wait(userId, teamId, signal)
  }

  #mayBegin(): boolean {
    if (this.#turnBegan === null) this.#openTurn()
    else if (this.waiting > 0 || this.#begun === openRequests || performance.now() - this.#turnBegan > openMs)
      return false
    this.#begun += 1
    return true
  }

  async #wait(userId: string, teamId: string, signal: AbortSignal | null): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { userId, teamId, kind: "heavy", start: resolve }
    const leave = () => {
      this.#waiting.remove(waiter)
      reject(signal?.reason)
    }
    signal?.addEventListener("abort", leave)
    this.#waiting.add(waiter)
    await promise
    signal?.removeEventListener("abort", leave)
  }

  #openTurn(): void {
    this.#begun = 0
    this.#turnBegan = performance.now()
    setImmediate(() => this.#nextTurn(performance.now() - (this.#turnBegan ?? 0)))
  }

  #nextTurn(lastTurnMs: number): void {
    if (this.waiting === 0) {
      this.#turnBegan = null
      this.#startsAtOnce = 1
      this.#turnsToSpare = 0
      return
    }
    this.#openTurn()
    if (this.#turnsToSpare === 0) this.#startNext()
    else {
      const hasStartedSome = this.#turnsToSpare === turnsBetween
      if (hasStartedSome) this.#startsAtOnce = lastTurnMs > longTurnMs ? 1 : Math.min(64, this.#startsAtOnce * 2)
      this.#turnsToSpare -= 1
    }
  }

  #startNext(): void {
    for (let started = 0; started < this.#startsAtOnce; started++) this.#waiting.take(() => true)?.start()
    this.#turnsToSpare = turnsBetween
  }
}
