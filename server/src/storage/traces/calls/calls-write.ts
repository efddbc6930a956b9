/**
 * Stores rows of calls. All that wait while an insert runs go into the next one, and a request is
 * answered when its rows are stored (law 1). The rows of one request are in one insert, which
 * ClickHouse stores whole or not at all.
 */
import { setImmediate, setTimeout } from "node:timers/promises"
import { HeddleError, isStoreAway } from "../../../errors.ts"
import type { TraceStore } from "../store/trace-store.ts"

/** Bytes of one insert, unless a single request has more. ClickHouse writes less than 256 MiB as one part. */
const maximumInsertBytes = 32 * 1024 * 1024
/** Bytes that may wait; what comes then is refused, so that memory stays bounded. */
const maximumWaitingBytes = 128 * 1024 * 1024
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

/** JSON Lines. */
export interface CallBatch {
  /** Of the table `calls`. */
  rows: Buffer
  /** Of each start among them; see `placeLines`. */
  places: Buffer
}

interface Waiter {
  batch: CallBatch
  resolve: () => void
  reject: (error: unknown) => void
}

export class CallWriter {
  readonly #traces: TraceStore
  #waiting: Waiter[] = []
  /** Of what waits and of what is being stored. */
  #waitingBytes = 0
  /** Requests of the inserts that run. */
  #storing = 0
  #inserts = 0
  #isGathering = false
  /** How many requests make the next insert worth starting. */
  #expected = 1
  #gathered: (() => void) | null = null

  constructor(traces: TraceStore) {
    this.#traces = traces
  }

  /**
   * Resolves once the rows are stored and every read sees them.
   * @throws {HeddleError} `store_overloaded` when too much waits; nothing was stored.
   */
  add(batch: CallBatch): Promise<void> {
    const bytes = sizeOf(batch)
    if (bytes === 0) return Promise.resolve()
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes > maximumWaitingBytes) throw overloaded()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject })
      this.#waitingBytes += bytes
      if (this.#waiting.length >= this.#expected) this.#gathered?.()
      this.#startNext()
    })
  }

  #startNext(): void {
    if (this.#waiting.length === 0 || this.#isGathering || this.#inserts === insertsAtOnce) return
    if (this.#inserts === 0 || this.#waitingBytes >= gathering.insertBytes) void this.#insertNext()
  }

  async #insertNext(): Promise<void> {
    this.#inserts += 1
    await this.#gather()
    const group = this.#next()
    this.#storing += group.length
    this.#startNext()
    await this.#store(group)
    const bytes = group.reduce((sum, { batch }) => sum + sizeOf(batch), 0)
    this.#waitingBytes -= bytes
    this.#expected = bytes >= gathering.insertBytes ? this.#share() : 1
    this.#storing -= group.length
    this.#inserts -= 1
    this.#startNext()
  }

  /** Of all who send now, how many make one of the inserts. */
  #share(): number {
    return Math.ceil((this.#storing + this.#waiting.length) / insertsAtOnce)
  }

  async #gather(): Promise<void> {
    this.#isGathering = true
    // Requests that came in the same turn of the event loop share an insert.
    await setImmediate()
    if (this.#waiting.length < this.#expected) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#gathered = resolve
      await Promise.race([promise, setTimeout(gathering.milliseconds)])
      this.#gathered = null
    }
    this.#isGathering = false
  }

  #next(): Waiter[] {
    let bytes = 0
    const full = this.#waiting.findIndex(
      ({ batch }, index) => (bytes += sizeOf(batch)) > maximumInsertBytes && index > 0,
    )
    return this.#waiting.splice(0, full === -1 ? this.#waiting.length : full)
  }

  async #store(group: readonly Waiter[]): Promise<void> {
    try {
      await insertCalls(
        this.#traces,
        group.map(({ batch }) => batch),
      )
      for (const { resolve } of group) resolve()
    } catch (error) {
      // Of a store that is away each would hear the same, one after the other.
      if (group.length === 1 || isStoreAway(error)) return group.forEach(({ reject }) => reject(error))
      // One request that cannot be stored must not fail the others.
      for (const waiter of group) await this.#store([waiter])
    }
  }
}

export async function insertCalls(traces: TraceStore, batches: readonly CallBatch[]): Promise<void> {
  const places = Buffer.concat(batches.map((batch) => batch.places))
  const rows = Buffer.concat(batches.map((batch) => batch.rows))
  await Promise.all([traces.insert("call_places", places), traces.insert("calls", rows)])
}

const sizeOf = ({ rows, places }: CallBatch): number => rows.length + places.length

function overloaded(): HeddleError {
  const message = "too many calls wait to be stored; none of these were. Send them again a little later"
  return new HeddleError("store_overloaded", message, { retryAfterMs })
}
