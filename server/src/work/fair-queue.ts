/**
 * A number of slots for one kind of resource, such as connections of a store, given out fairly by tenant. These hold at
 * any time, and a test checks them on random histories:
 *
 * 1. No more work runs than there are slots, and of heavy work no more than leaves the slots that are for look-ups.
 * 2. One user has no more heavy work running than its share, nor more in all than that and the slots for look-ups.
 * 3. Work that may start does not wait.
 * 4. What is served next is the first of the next user of the next team (`turns.ts`).
 * 5. No more waits than is allowed, of one user and in all: the rest is refused before anything is kept of it. Beyond
 *    the limit in all, a user may still have one piece of work waiting.
 * 6. Work whose client has left never starts, and work that has waited for too long is refused. Work that must be done
 *    (`work-scope.ts`) is never refused: how much of it there is does not depend on what clients send.
 * 7. Each piece of work is counted once: as finished, cancelled or refused, or it still waits or runs.
 */
import { HeddleError } from "../errors.ts"
import { Turns, type WaitingWork, type WorkKind } from "./turns.ts"
import { background, currentScope, currentTenant } from "./work-scope.ts"

export interface FairQueueOptions {
  /** As metrics name it. */
  name: string
  /** Plural name of its work, for refusals. */
  work: string
  slots: number
  /** Slots that the heavy work of one user may have. Background work, which serves everybody, may have all. */
  slotsPerUser: number
  /** Slots that heavy work leaves free, so that a look-up need not wait for it. */
  slotsForLookups: number
  waitingPerUser: number
  waitingTotal: number
  longestWaitMs: number
}

export interface FairQueueSnapshot {
  name: string
  running: Readonly<Record<WorkKind, number>>
  waiting: Readonly<Record<WorkKind, number>>
  /** Since the server started. */
  finished: Readonly<Record<WorkKind, number>>
  /** Its client left while it waited, or while it ran and did not come to its end. */
  cancelled: { waiting: number; running: number }
  refused: Readonly<Record<RefusalReason, number>>
}

/** `user`: too much of the same user waits; `total`: too much waits in all; `late`: its turn did not come in time. */
export type RefusalReason = "user" | "total" | "late"

/** Gives the slot back. Repeatable. `isCancelled`: the client left, and the work did not come to its end. */
export type LeaveQueue = (isCancelled?: boolean) => void

interface Waiter extends WaitingWork {
  start: () => void
}

interface UserCounts {
  running: Record<WorkKind, number>
  waiting: number
}

const retryAfterMs = 2_000

/** The share of the slots that one user gets, which is never none. */
export function halfOf(slots: number): number {
  return Math.max(1, Math.floor(slots / 2))
}

export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #turns = new Turns<Waiter>()
  readonly #running: Record<WorkKind, number> = { lookup: 0, heavy: 0 }
  /** Counts of the users who have work running or waiting. */
  readonly #users = new Map<string, UserCounts>()
  readonly #cancelled = { waiting: 0, running: 0 }
  readonly #refused: Record<RefusalReason, number> = { user: 0, total: 0, late: 0 }
  readonly #finished: Record<WorkKind, number> = { lookup: 0, heavy: 0 }

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  get slots(): number {
    return this.#options.slots
  }

  /** Runs `work` when it is the turn of the scope that asks. @throws {HeddleError} as {@link enter}, and what `work` throws. */
  async run<T>(kind: WorkKind, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(kind)
    let isCancelled = false
    try {
      // It may have left since the slot was given.
      currentScope()?.signal?.throwIfAborted()
      return await work()
    } catch (error) {
      isCancelled = currentScope()?.signal?.aborted === true
      throw error
    } finally {
      leave(isCancelled)
    }
  }

  /**
   * Waits for a slot. Whoever gets it must give it back.
   * @throws {HeddleError} 429 `rate_limit_exceeded`, 503 `store_overloaded`.
   * @throws the signal's reason when the client has left.
   */
  async enter(kind: WorkKind): Promise<LeaveQueue> {
    const scope = currentScope()
    if (scope?.signal?.aborted === true) this.#cancelled.waiting += 1
    scope?.signal?.throwIfAborted()
    const { userId, teamId } = currentTenant()
    // Nothing that waits may start, so this work overtakes nobody who could use the slot.
    if (this.#mayStart(userId, kind)) this.#count(userId, kind, 1)
    else await this.#wait({ teamId, userId, kind }, scope?.signal ?? null)
    let hasLeft = false
    return (isCancelled = false) => {
      if (hasLeft) return
      hasLeft = true
      if (isCancelled) this.#cancelled.running += 1
      else this.#finished[kind] += 1
      this.#count(userId, kind, -1)
      this.#startNext()
    }
  }

  snapshot(): FairQueueSnapshot {
    return {
      name: this.#options.name,
      running: { ...this.#running },
      waiting: { ...this.#turns.counts },
      finished: { ...this.#finished },
      cancelled: { ...this.#cancelled },
      refused: { ...this.#refused },
    }
  }

  /** Resolves when the work has its slot. */
  #wait(work: WaitingWork, signal: AbortSignal | null): Promise<void> {
    if (signal !== null) this.#refuseWhenFull(work.userId)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const user = this.#countsOf(work.userId)
    const waiter: Waiter = {
      ...work,
      start: () => {
        stopWaiting()
        this.#count(work.userId, work.kind, 1)
        resolve()
      },
    }
    const stopWaiting = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", leave)
      user.waiting -= 1
    }
    const giveUp = (error: unknown) => {
      this.#turns.remove(waiter)
      stopWaiting()
      this.#forgetIdle(work.userId, user)
      reject(error)
    }
    const leave = () => {
      this.#cancelled.waiting += 1
      giveUp(signal?.reason)
    }
    const tooLate = () => {
      this.#refused.late += 1
      giveUp(this.#tooLate())
    }
    const timer = signal === null ? undefined : setTimeout(tooLate, this.#options.longestWaitMs)
    signal?.addEventListener("abort", leave)
    user.waiting += 1
    this.#turns.add(waiter)
    return promise
  }

  #startNext(): void {
    const mayStart = (userId: string, kind: WorkKind) => this.#mayStart(userId, kind)
    for (let next = this.#turns.take(mayStart); next !== null; next = this.#turns.take(mayStart)) next.start()
  }

  #mayStart(userId: string, kind: WorkKind): boolean {
    const { slots, slotsPerUser, slotsForLookups } = this.#options
    const { lookup, heavy } = this.#running
    if (lookup + heavy >= slots || (kind === "heavy" && heavy >= slots - slotsForLookups)) return false
    const own = this.#users.get(userId)?.running
    if (own === undefined || userId === background.userId) return true
    return kind === "heavy" ? own.heavy < slotsPerUser : own.heavy + own.lookup < slotsPerUser + slotsForLookups
  }

  #count(userId: string, kind: WorkKind, by: 1 | -1): void {
    const user = this.#countsOf(userId)
    this.#running[kind] += by
    user.running[kind] += by
    this.#forgetIdle(userId, user)
  }

  #countsOf(userId: string): UserCounts {
    return this.#users.getOrInsertComputed(userId, () => ({ running: { lookup: 0, heavy: 0 }, waiting: 0 }))
  }

  #forgetIdle(userId: string, { running, waiting }: UserCounts): void {
    if (running.lookup + running.heavy + waiting === 0) this.#users.delete(userId)
  }

  /** A user who has nothing waiting is let in though the whole is full, or those who fill it would shut out all others. */
  #refuseWhenFull(userId: string): void {
    const own = this.#users.get(userId)?.waiting ?? 0
    if (own === 0) return
    const { work, waitingPerUser, waitingTotal } = this.#options
    if (own >= waitingPerUser) {
      this.#refused.user += 1
      const message =
        `${own} ${work} that you asked for wait already, and no user may have more; ` +
        "wait for some of their answers, then send this again"
      throw new HeddleError("rate_limit_exceeded", message, { retryAfterMs })
    }
    const all = this.#turns.counts.lookup + this.#turns.counts.heavy
    if (all < waitingTotal) return
    this.#refused.total += 1
    const message = `${all} ${work} wait already, and this server keeps no more; send this again a little later`
    throw new HeddleError("store_overloaded", message, { retryAfterMs })
  }

  #tooLate(): HeddleError {
    const { work, longestWaitMs } = this.#options
    const message =
      `the server is busy: this waited ${longestWaitMs / 1000} s for its turn among the ${work}; ` +
      "send it again a little later, and less at a time"
    return new HeddleError("store_overloaded", message, { retryAfterMs })
  }
}
