/**
 * Stores rows of calls. All that wait while an insert runs go into the next one, and a request is
 * answered when its rows are stored (law 1). The rows of one request are in one insert, which
 * ClickHouse stores whole or not at all.
 */
import { setImmediate, setTimeout } from "node:timers/promises"
import { HeddleError } from "../../../errors.ts"
import type { TraceStore } from "../store/trace-store.ts"

/** Bytes of one insert, unless a single request has more. ClickHouse writes less than 256 MiB as one part. */
const maximumInsertBytes = 32 * 1024 * 1024
/** Bytes that may wait; what comes then is refused, so that memory stays bounded. */
const maximumWaitingBytes = 128 * 1024 * 1024
const retryAfterMs = 1_000
/**
 * Whoever waited for a large insert sends its next batch at once. A wait for all of them makes larger
 * parts, of which fewer are written and merged: a sixth less processor time for each call.
 */
const gathering = { insertBytes: 128 * 1024, milliseconds: 20 }

/** JSON Lines. */
export interface CallBatch {
  /** Of the table `calls`. */
  rows: Buffer
  /** Of each start among them; see {@link placeLines}. */
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
  #waitingBytes = 0
  #busy = false
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
      if (!this.#busy) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#busy = true
    while (this.#waiting.length > 0) {
      await this.#gather()
      const group = this.#next()
      await this.#store(group)
      const bytes = group.reduce((sum, { batch }) => sum + sizeOf(batch), 0)
      this.#waitingBytes -= bytes
      this.#expected = bytes >= gathering.insertBytes ? group.length : 1
    }
    this.#busy = false
  }

  async #gather(): Promise<void> {
    // Requests that came in the same turn of the event loop share an insert.
    await setImmediate()
    if (this.#waiting.length >= this.#expected) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gathered = resolve
    await Promise.race([promise, setTimeout(gathering.milliseconds)])
    this.#gathered = null
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
      await insertCalls(this.#traces, joined(group.map(({ batch }) => batch)))
      for (const { resolve } of group) resolve()
    } catch (error) {
      if (group.length === 1) return group[0]?.reject(error)
      // One request that cannot be stored must not fail the others.
      for (const waiter of group) await this.#store([waiter])
    }
  }
}

/**
 * Rows of `call_places`: of all calls by time, and of those of its trace.
 * @param start none of its values holds anything that JSON escapes.
 */
export function placeLines(start: { project_id: string; trace_id: string; started_at: string; id: string }): string {
  const place = `"project_id":"${start.project_id}","started_at":"${start.started_at}","id":"${start.id}"}\n`
  return `{${place}{"trace_id":"${start.trace_id}",${place}`
}

/** The places come first: one that names nothing does no harm, a call without one would not be found. */
export async function insertCalls(traces: TraceStore, { rows, places }: CallBatch): Promise<void> {
  await traces.insert("call_places", places)
  await traces.insert("calls", rows)
}

const sizeOf = ({ rows, places }: CallBatch): number => rows.length + places.length

function joined(batches: readonly CallBatch[]): CallBatch {
  const [only] = batches
  if (only !== undefined && batches.length === 1) return only
  return {
    rows: Buffer.concat(batches.map(({ rows }) => rows)),
    places: Buffer.concat(batches.map(({ places }) => places)),
  }
}

function overloaded(): HeddleError {
  const message = "too many calls wait to be stored; none of these were. Send them again a little later"
  return new HeddleError("store_overloaded", message, { retryAfterMs })
}
