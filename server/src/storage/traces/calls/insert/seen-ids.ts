/**
 * Which ids without a time the store may have rows of. Nearly all that a client sends are new, and to look
 * each of them up would take as long as storing its call. So a store that no other process writes to is
 * read once, and remembered as a filter.
 */
import type { ErrorLog } from "../../../../log.ts"
import { outsideOfRequests } from "../../../../work/work-scope.ts"
import type { TraceStore } from "../../store/trace-store.ts"
import { readRecordedIds, type RecordedPlace } from "./call-places.ts"
import { IdFilter } from "../id-filter.ts"

const readAtOnce = 100_000

export class SeenIds {
  readonly #traces: TraceStore
  /** Ids that are remembered at most; beyond it every id may be known. */
  readonly #most: number
  readonly #log: ErrorLog
  #filter: IdFilter | null
  /** Whether the filter has all ids of the store. */
  #isWhole = false
  #isReading = false

  constructor(traces: TraceStore, { most, log }: { most: number; log: ErrorLog }) {
    this.#traces = traces
    this.#most = most
    this.#log = log
    this.#filter = traces.isExclusive ? new IdFilter() : null
  }

  /** From now on the store may have this one. Returns whether it may have had it before. */
  add(id: string): boolean {
    const filter = this.#filter
    if (filter === null) return true
    const isSeen = filter.add(id)
    if (filter.count > this.#most) this.#filter = null
    if (this.#isWhole) return isSeen
    // It serves all requests: it must not stop with the one that begins it.
    if (!this.#isReading) void outsideOfRequests(() => this.#read(filter))
    return true
  }

  /** Until it has ended, every id may be known. One that fails is tried again with the next write. */
  async #read(filter: IdFilter): Promise<void> {
    this.#isReading = true
    try {
      let after: RecordedPlace | null = null
      do {
        const { ids, next } = await readRecordedIds(this.#traces, after, readAtOnce)
        for (const id of ids) filter.add(id)
        after = next
      } while (after !== null && filter.count <= this.#most)
      this.#isWhole = after === null
    } catch (error) {
      this.#log.error(
        { err: error },
        "the ids of stored calls cannot be read; until they are, each new one is looked up",
      )
    } finally {
      this.#isReading = false
    }
  }
}
