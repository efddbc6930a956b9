/**
 * Stores rows of calls. All that wait while an insert runs go into the next one, and a request is
 * answered when its rows are stored (law 1). The rows of one request are in one insert, which
 * ClickHouse stores whole or not at all.
 */
import { setImmediate, setTimeout } from "node:timers/promises"
import { HeddleError, isStoreUnavailable } from "../../../../errors.ts"
import { defaultLimits, type Limits } from "../../../../limits.ts"
import { Turns, type WaitingWork } from "../../../../work/turns.ts"
import { freeBytes } from "../../../../work/byte-memory.ts"
import { currentScope, currentTenant, outsideOfRequests, toTheEnd } from "../../../../work/work-scope.ts"
import type { TraceStore } from "../../store/trace-store.ts"
import type { CallBatch } from "./call-batch.ts"
import { CallPlacer } from "./call-placer.ts"
import { insertCalls } from "./insert-calls.ts"
import type { SeenIds } from "./seen-ids.ts"

/** An insert takes no further request once it has so much. With the largest request it is less than the 256 MiB of one part. */
const fullInsertBytes = 32 * 1024 * 1024
const retryAfterMs = 1_000
/**
 * A large insert uses one core while the other one reads the requests for the next, so two may run; what
 * is small then need not wait for what is large. What comes during a small one shares the next, as many
 * small parts would take longer.
 */
const insertsAtOnce = 2
/**
 * Whoever waited for a large insert sends its next batch at once. A wait for its share of them makes
 * larger parts, of which fewer are written and merged.
 */
const gathering = { insertBytes: 128 * 1024, milliseconds: 20 }

interface Waiter extends WaitingWork {
  batch: CallBatch
  resolve: () => void
  reject: (error: unknown) => void
}

export type CallWriterLimits = Pick<Limits, "call_waiting_bytes_per_user" | "call_waiting_bytes_total">

/** Hears of rows the moment they are stored, before their requests are answered; it must not throw. */
export type StoredBatches = (batches: readonly CallBatch[]) => void

export class CallWriter {
  readonly #traces: TraceStore
  readonly #placer: CallPlacer
  readonly #limits: CallWriterLimits
  readonly #waiting = new Turns<Waiter>()
  /** Bytes that wait for an insert or are in one. */
  #waitingBytes = 0
  /** Bytes that are not stored yet, also of rows whose place is being looked up: of all, and of each user who has any. */
  #heldBytes = 0
  readonly #userBytes = new Map<string, number>()
  /** Requests of the inserts that run. */
  #storing = 0
  #inserts = 0
  #isGathering = false
  /** How many requests make the next insert worth starting. */
  #expected = 1
  #gathered: (() => void) | null = null
  #stored: StoredBatches = () => undefined

  constructor(traces: TraceStore, seen: SeenIds, limits: CallWriterLimits = defaultLimits) {
    this.#traces = traces
    this.#placer = new CallPlacer(traces, seen)
    this.#limits = limits
  }

  /**
   * Resolves once the rows are stored and every read sees them, and gives their memory back: the batch is the writer's. They
   * are stored also when the client has left. Work that must be done (`work-scope.ts`) is never refused: there is as
   * much of it as requests and jobs in progress have begun.
   * @throws {HeddleError} 429 `rate_limit_exceeded`, 503 `store_overloaded` when too much waits; nothing was stored.
   */
  async add(batch: CallBatch): Promise<void> {
    const bytes = sizeOf(batch)
    if (bytes === 0) return
    const { userId } = currentTenant()
    if ((currentScope()?.signal ?? null) !== null) this.#refuseWhenFull(userId, bytes)
    this.#hold(userId, bytes)
    try {
      if (batch.unplaced.length === 0) await this.#enqueue(batch)
      else await toTheEnd(() => this.#placer.store(batch, (placed) => this.#enqueue(placed)))
      freeBytes(batch.rows, batch.places, ...(batch.agentSpans === undefined ? [] : [batch.agentSpans]))
    } finally {
      this.#hold(userId, -bytes)
    }
  }

  /** From now on `stored` hears of what is stored. */
  tell(stored: StoredBatches): void {
    this.#stored = stored
  }

  /** Bytes of calls that are not stored yet. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  #enqueue(batch: CallBatch): Promise<void> {
    const { userId, teamId } = currentTenant()
    return new Promise((resolve, reject) => {
      this.#waiting.add({ userId, teamId, kind: "heavy", batch, resolve, reject })
      this.#waitingBytes += sizeOf(batch)
      if (this.#waits >= this.#expected) this.#gathered?.()
      this.#startNext()
    })
  }

  get #waits(): number {
    return this.#waiting.counts.heavy
  }

  /** A user who has nothing here is let in though the whole is full, or those who fill it would shut out all others. */
  #refuseWhenFull(userId: string, bytes: number): void {
    const own = this.#userBytes.get(userId) ?? 0
    if (own === 0) return
    const { call_waiting_bytes_per_user: perUser, call_waiting_bytes_total: total } = this.#limits
    if (own + bytes > perUser) throw tooMuch(perUser)
    if (this.#heldBytes + bytes > total) throw overloaded()
  }

  #hold(userId: string, bytes: number): void {
    this.#heldBytes += bytes
    const own = (this.#userBytes.get(userId) ?? 0) + bytes
    if (own === 0) this.#userBytes.delete(userId)
    else this.#userBytes.set(userId, own)
  }

  /** The insert serves all who wait: it does not end with the request that begins it. */
  #startNext(): void {
    if (this.#waits === 0 || this.#isGathering || this.#inserts === insertsAtOnce) return
    if (this.#inserts === 0 || this.#waitingBytes >= gathering.insertBytes) {
      void outsideOfRequests(() => this.#insertNext())
    }
  }

  async #insertNext(): Promise<void> {
    this.#inserts += 1
    await this.#gather()
    const group = this.#next()
    this.#storing += group.length
    this.#startNext()
    const bytes = group.reduce((sum, { batch }) => sum + sizeOf(batch), 0)
    await this.#store(group)
    this.#waitingBytes -= bytes
    this.#expected = bytes >= gathering.insertBytes ? this.#share() : 1
    this.#storing -= group.length
    this.#inserts -= 1
    this.#startNext()
  }

  /** Number of waiting requests that one of the inserts takes. */
  #share(): number {
    return Math.ceil((this.#storing + this.#waits) / insertsAtOnce)
  }

  async #gather(): Promise<void> {
    this.#isGathering = true
    // Requests that came in the same turn of the event loop share an insert.
    await setImmediate()
    if (this.#waits < this.#expected) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#gathered = resolve
      await Promise.race([promise, setTimeout(gathering.milliseconds)])
      this.#gathered = null
    }
    this.#isGathering = false
  }

  /** In turns by tenant, so that a small request need not wait until all of a large sender is stored. */
  #next(): Waiter[] {
    const group: Waiter[] = []
    for (let bytes = 0; bytes < fullInsertBytes;) {
      const next = this.#waiting.take(() => true)
      if (next === null) break
      bytes += sizeOf(next.batch)
      group.push(next)
    }
    return group
  }

  async #store(group: readonly Waiter[]): Promise<void> {
    try {
      const batches = group.map(({ batch }) => batch)
      await insertCalls(this.#traces, batches)
      this.#stored(batches)
      for (const { resolve } of group) resolve()
    } catch (error) {
      // If the store is unavailable, retrying one by one would fail the same way for each.
      if (group.length === 1 || isStoreUnavailable(error)) return group.forEach(({ reject }) => reject(error))
      // One request that cannot be stored must not fail the others.
      for (const waiter of group) await this.#store([waiter])
    }
  }
}

const sizeOf = ({ rows, places, agentSpans }: CallBatch): number =>
  rows.length + places.length + (agentSpans?.length ?? 0)

function tooMuch(perUser: number): HeddleError {
  const message =
    `calls of yours wait to be stored, and with these they would be more than the ${Math.round(perUser / 1024 ** 2)} MiB ` +
    "of one user; none of these were stored. Send them again a little later"
  return new HeddleError("rate_limit_exceeded", message, { retryAfterMs })
}

function overloaded(): HeddleError {
  const message = "too many calls wait to be stored; none of these were. Send them again a little later"
  return new HeddleError("store_overloaded", message, { retryAfterMs })
}
