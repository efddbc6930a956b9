/**
 * How much of this process's memory the bodies of requests take, over all requests together (law 8). A body counts what it
 * takes when it takes it, so a slow client counts only what it has sent.
 *
 * There is one budget for all and, by the same rules, a share for each user: bodies that wait because of their user's
 * share hold up nobody else. What waits, waits for so long and no longer.
 */
import { getHeapStatistics } from "node:v8"
import { HeddleError } from "../../errors.ts"
import { machineMemory } from "../../work/machine-memory.ts"
import type { Limits } from "../../limits.ts"
import { currentScope } from "../../work/work-scope.ts"
import { ByteBudget, type Patience, type Taker } from "./byte-budget.ts"

/** Share of the memory limit: a body is copied once, and what is made from it takes as much again. */
const shareOfMemory = 1 / 4

const retryAfterMs = 5_000

export type BodyBudgetLimits = Pick<Limits, "body_memory_bytes" | "body_memory_bytes_per_user" | "body_wait_ms">

/** One body's share of the budget. */
export interface HeldBody {
  /**
   * null: there was room for `bytes` more, and it has them. Else it has them once the promise resolves; it never waits twice at a time.
   * @throws {HeddleError} 503, in the promise: there was no room for too long.
   */
  take: (bytes: number) => Promise<void> | null
  /** Takes what it lacks of `bytes`, for a reader that holds a part of a stream at a time. */
  atLeast: (bytes: number) => Promise<void> | null
  /** Gives all of it back, also while it waits. Repeatable; nothing may be taken afterwards. */
  release: () => void
}

/** The share of one user who has a body here. */
interface Share {
  budget: ByteBudget
  bodies: number
}

export class BodyBudget {
  readonly #bytes: number
  readonly #bytesPerUser: number
  readonly #patienceMs: number
  readonly #all: ByteBudget
  readonly #shares = new Map<string, Share>()
  #begun = 0

  constructor(limits: BodyBudgetLimits) {
    this.#bytes = Math.min(limits.body_memory_bytes, shareOfMemory * availableMemory())
    this.#bytesPerUser = limits.body_memory_bytes_per_user * (this.#bytes / limits.body_memory_bytes)
    this.#patienceMs = limits.body_wait_ms
    this.#all = new ByteBudget(this.#bytes)
  }

  /** Bytes held, without the oversized body, and the number of bodies that wait for room. */
  snapshot(): { bytes: number; bodies: number; waiting: number } {
    const shares = [...this.#shares.values()]
    return {
      bytes: this.#all.taken,
      bodies: shares.reduce((sum, { bodies }) => sum + bodies, 0),
      waiting: this.#all.waiting + shares.reduce((sum, { budget }) => sum + budget.waiting, 0),
    }
  }

  /** For a body of the user in whose scope this runs. It need not be released when nothing was taken. */
  open(): HeldBody {
    const userId = currentScope()?.userId ?? ""
    let body: Body | null = null
    let most = 0
    const take = (bytes: number) => {
      body ??= this.#begin(userId)
      return body.take(bytes)
    }
    return {
      take,
      atLeast: (bytes) => {
        const more = bytes - most
        if (more <= 0) return null
        most = bytes
        return take(more)
      },
      release: () => body?.release(),
    }
  }

  #begin(userId: string): Body {
    const share = this.#shares.getOrInsertComputed(userId, () => ({
      budget: new ByteBudget(this.#bytesPerUser),
      bodies: 0,
    }))
    share.bodies += 1
    const end = () => {
      share.bodies -= 1
      if (share.bodies === 0) this.#shares.delete(userId)
    }
    const budgets = { all: this.#all, share: share.budget }
    return new Body(budgets, this.#begun++, this.#patienceMs, this.#refusals, end)
  }

  readonly #refusals: Refusals = {
    all: () => overloaded("other requests", this.#bytes),
    share: () => overloaded("your other requests", this.#bytesPerUser),
  }
}

interface Budgets {
  all: ByteBudget
  share: ByteBudget
}

type Refusals = Readonly<Record<keyof Budgets, () => Error>>

/** One body, which takes of its user's share first and of the budget then. */
class Body {
  readonly #budgets: Budgets
  readonly #ofAll: Taker
  readonly #ofShare: Taker
  readonly #patience: Patience
  readonly #refusals: Refusals
  readonly #end: () => void
  #isReleased = false

  constructor(budgets: Budgets, order: number, patienceMs: number, refusals: Refusals, end: () => void) {
    this.#budgets = budgets
    this.#ofAll = { order, bytes: 0, isExcused: false }
    this.#ofShare = { order, bytes: 0, isExcused: false }
    this.#patience = { ms: patienceMs }
    this.#refusals = refusals
    this.#end = end
  }

  take(bytes: number): Promise<void> | null {
    const share = this.#budgets.share.take(this.#ofShare, bytes, this.#patience, this.#refusals.share)
    return share === null ? this.#takeOfAll(bytes) : this.#takeOfAllAfter(share, bytes)
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#budgets.share.release(this.#ofShare)
    this.#budgets.all.release(this.#ofAll)
    this.#end()
  }

  async #takeOfAllAfter(share: Promise<void>, bytes: number): Promise<void> {
    await share
    if (this.#isReleased) throw new Error("the request is over")
    await this.#takeOfAll(bytes)
  }

  #takeOfAll(bytes: number): Promise<void> | null {
    const all = this.#budgets.all.take(this.#ofAll, bytes, this.#patience, this.#refusals.all)
    if (all !== null) return all.then(() => this.#leaveShareBeyond())
    this.#leaveShareBeyond()
    return null
  }

  /** The body beyond the budget waits for nobody: others of its user may wait for it, and it must not wait for them. */
  #leaveShareBeyond(): void {
    const { all, share } = this.#budgets
    if (all.isBeyond(this.#ofAll) && !this.#ofShare.isExcused) share.excuse(this.#ofShare)
  }
}

function overloaded(whose: string, bytes: number): HeddleError {
  const message =
    `the bodies of ${whose} take all of the ${Math.round(bytes / 1024 ** 2)} MiB that this server has for them; ` +
    "nothing was done. Send this again a little later, or in smaller requests"
  return new HeddleError("server_overloaded", message, { retryAfterMs })
}

function availableMemory(): number {
  return Math.min(machineMemory(), getHeapStatistics().heap_size_limit)
}
