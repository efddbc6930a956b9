/**
 * Gives rows of calls their sort time where the id holds none: the one that is recorded for the id, else
 * that of its start, which is recorded with it. An end, a name or a deletion that comes ahead of the
 * start is stored apart, under `unknownSortTime`, and joins its call when that starts.
 *
 * Nothing locks the store, and another server may write rows of the same call at the same moment. Each
 * stores its record with its rows and looks at the records again afterwards: whoever comes later sees
 * both records, and gathers the rows under the earliest sort time.
 */
import { setImmediate } from "node:timers/promises"
import { outsideOfRequests } from "../../../../work/work-scope.ts"
import { removeReturnedSpans } from "../../agents/returned-spans.ts"
import type { TraceStore } from "../../store/trace-store.ts"
import { type CallBatch, placeRow, placesOfRow, rowsAlone, type UnplacedRow, unplacedRows } from "./call-batch.ts"
import { gatherRows } from "./call-gathering.ts"
import { type CallKey, recordedSortTimes } from "./call-places.ts"
import { insertCalls } from "./insert-calls.ts"
import type { SeenIds } from "./seen-ids.ts"
import { sortTimeOfStart, unknownSortTime } from "./sort-time.ts"

interface PlacedRow {
  row: UnplacedRow
  sortTime: number
}

type RowsOfCalls = Map<string, UnplacedRow[]>

interface Write {
  /** Ids that the store may have had before. */
  seen: ReadonlySet<string>
  /** Writes that have rows of the same calls, and have not ended. */
  others: ReadonlySet<Promise<void>>
  end: () => Promise<void>
}

/** Length of the pieces in which the text of places is encoded. */
const pieceLength = 256 * 1024

export class CallPlacer {
  readonly #traces: TraceStore
  readonly #seen: SeenIds
  /** Writes that have not ended, by the ids of their rows. */
  readonly #running = new Map<string, Promise<void>>()
  /** Resolves when the last write that came has been entered there. */
  #entered: Promise<void> = Promise.resolve()

  constructor(traces: TraceStore, seen: SeenIds) {
    this.#traces = traces
    this.#seen = seen
  }

  /** Places the rows of the batch and has it stored by `insert`. Resolves when every read sees its calls whole. */
  async store(batch: CallBatch, insert: (placed: CallBatch) => Promise<void>): Promise<void> {
    const ids = new Set<string>()
    const projects = new Map<string, RowsOfCalls>()
    await inSlices(unplacedRows(batch), (row) => {
      ids.add(row.id)
      const calls = projects.getOrInsertComputed(row.projectId, (): RowsOfCalls => new Map())
      calls.getOrInsertComputed(row.id, () => []).push(row)
    })
    const holdsSpans = (batch.agentSpans?.length ?? 0) > 0
    const { seen, others, end } = await this.#begin(ids)
    try {
      // Calls that others are storing right now are not recorded yet.
      await Promise.all(others)
      const placed: PlacedRow[] = []
      const places = [batch.places]
      const again = new Map<string, CallKey[]>()
      for (const [projectId, calls] of projects) {
        const own = await this.#place(projectId, calls, seen, placed)
        places.push(...own.places)
        again.set(projectId, own.known)
      }
      await inSlices(placed, ({ row, sortTime }) => placeRow(batch, row, sortTime))
      await insert({ ...batch, places: Buffer.concat(places) })
      // The rows are stored: no full queue may refuse what brings them together, or takes out what may not come back.
      if (!this.#traces.isExclusive) await outsideOfRequests(() => this.#checkPlaces(batch, placed))
      if (holdsSpans) await outsideOfRequests(() => this.#removeReturned(again))
    } finally {
      await end()
    }
  }

  /**
   * One write after the other: each waits for those that were entered before it, so no two ever wait for each other, and
   * a write that finds an id seen also finds the write that has it.
   */
  async #begin(ids: ReadonlySet<string>): Promise<Write> {
    const before = this.#entered
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
    this.#entered = entered
    await before
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const seen = new Set<string>()
    const others = new Set<Promise<void>>()
    const add = (id: string) => {
      if (this.#seen.add(id)) seen.add(id)
      const other = this.#running.get(id)
      if (other !== undefined) others.add(other)
      this.#running.set(id, ended)
    }
    await inSlices(ids, add).finally(enter)
    const end = async () => {
      resolve()
      await inSlices(ids, (id) => {
        if (this.#running.get(id) === ended) this.#running.delete(id)
      })
    }
    return { seen, others, end }
  }

  /** Adds the rows to `placed`. Returns their places, and the calls that the store had before. */
  async #place(
    projectId: string,
    calls: RowsOfCalls,
    seen: ReadonlySet<string>,
    placed: PlacedRow[],
  ): Promise<{ places: Buffer[]; known: CallKey[] }> {
    const repeated = [...calls.keys()].filter((id) => seen.has(id))
    const recorded = await recordedSortTimes(this.#traces, projectId, repeated)
    const scattered = new Map<string, number[]>()
    const stored: CallKey[] = []
    const places: Buffer[] = []
    let text = ""
    await inSlices(calls, ([id, ofCall]) => {
      const known = recorded.get(id) ?? []
      const [first = unknownSortTime] = known
      const sortTime = first === unknownSortTime ? firstStart(ofCall) : first
      const isNew = !known.includes(sortTime)
      if (known.length > 0) stored.push({ id, sort_time: sortTime })
      ofCall.forEach((row, index) => {
        placed.push({ row, sortTime })
        text += placesOfRow(row, sortTime, isNew && index === 0)
      })
      if (text.length > pieceLength) {
        places.push(Buffer.from(text))
        text = ""
      }
      const all = isNew ? [sortTime, ...known] : known
      if (all.length > 1) scattered.set(id, all)
    })
    await gatherRows(this.#traces, projectId, scattered)
    return { places: [...places, Buffer.from(text)], known: stored }
  }

  async #removeReturned(again: ReadonlyMap<string, readonly CallKey[]>): Promise<void> {
    for (const [projectId, calls] of again) await removeReturnedSpans(this.#traces, projectId, calls)
  }

  async #checkPlaces(batch: CallBatch, placed: readonly PlacedRow[]): Promise<void> {
    for (const [projectId, ofProject] of Map.groupBy(placed, ({ row }) => row.projectId)) {
      const ids = [...new Set(ofProject.map(({ row }) => row.id))]
      const recorded = await recordedSortTimes(this.#traces, projectId, ids)
      const scattered = new Map([...recorded].filter(([, sortTimes]) => sortTimes.length > 1))
      await gatherRows(this.#traces, projectId, scattered)
      // Rows of ours may have come to where another server had gathered before.
      const misplaced = ofProject.flatMap(({ row, sortTime }) => {
        const [first = sortTime] = scattered.get(row.id) ?? []
        return first === sortTime ? [] : [{ row, sortTime: first }]
      })
      if (misplaced.length === 0) continue
      for (const { row, sortTime } of misplaced) placeRow(batch, row, sortTime)
      const places = misplaced.map(({ row, sortTime }) => placesOfRow(row, sortTime, false)).join("")
      const rows = rowsAlone(
        batch,
        misplaced.map(({ row }) => row),
      )
      const again = { rows, places: Buffer.from(places), unplaced: Buffer.alloc(0), bytesOf: new Map() }
      await insertCalls(this.#traces, [again])
    }
  }
}

/** Items handled per turn of the event loop: a large request has 200,000 rows. */
const sliceLength = 5_000

async function inSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let count = 0
  for (const item of items) {
    work(item)
    count += 1
    if (count % sliceLength === 0) await setImmediate()
  }
}

function firstStart(rows: readonly UnplacedRow[]): number {
  let first = unknownSortTime
  for (const { start } of rows) if (start !== null) first = Math.min(first, sortTimeOfStart(start.started_at))
  return first
}
