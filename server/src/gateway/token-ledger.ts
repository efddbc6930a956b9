/**
 * Writes completions of trainable models into the trace store, a second's worth at a time. The
 * answer does not wait for it: it carries the same ids itself, and this copy serves clients that
 * drop them (docs/decisions/0005-token-ledger.md has the measurement). What was sampled lately is also
 * kept in memory, where a training job, which comes seconds after its rollouts, finds it.
 */
import type { ErrorLog } from "../log.ts"
import { isStoreUnavailable } from "../errors.ts"
import { outsideOfRequests } from "../work/work-scope.ts"
import type { TraceStore } from "../storage/traces/store/trace-store.ts"
import {
  findLedgerEntries,
  insertLedgerRows,
  type LedgerEntry,
  type LedgerRow,
  type LedgerSize,
  measureLedgerEntries,
} from "../storage/traces/token-ledger.ts"

const gatherMs = 1_000
/** Of the rows of one insert, in {@link sizeOf}: some 10 MB of JSON. A row may be larger. */
const sizeOfInsert = 1_000_000
/** Of the rows that are kept while the store is away, some 256 MB; beyond, the oldest go. */
const mostPending = 32_000_000

export class TokenLedger {
  readonly #traces: TraceStore
  readonly #log: ErrorLog
  readonly #recent = new RecentRows()
  readonly #pending = new PendingRows()
  #hasDropped = false
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> = Promise.resolve()

  constructor(traces: TraceStore, log: ErrorLog) {
    this.#traces = traces
    this.#log = log
  }

  add(rows: readonly LedgerRow[]): void {
    for (const row of rows) this.#recent.add(row)
    this.#pending.add(rows)
    this.#dropOldest()
    this.#flushLater()
  }

  /** Every completion answered before is found. */
  async find(projectId: string, keys: readonly string[]): Promise<LedgerEntry[]> {
    const recent = this.#recent.find(projectId, keys)
    const known = new Set(recent.map((row) => row.ledger_key))
    const others = keys.filter((key) => !known.has(key))
    if (others.length === 0) return recent
    await this.flush()
    return [...recent, ...(await findLedgerEntries(this.#traces, projectId, others))]
  }

  /** How many tokens each has; those that are not known any more are left out. */
  async measure(projectId: string, keys: readonly string[]): Promise<LedgerSize[]> {
    if (keys.length === 0) return []
    await this.flush()
    return measureLedgerEntries(this.#traces, projectId, keys)
  }

  /** Resolves when all that was added before is stored, or has been refused and logged. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#writing = this.#writing.then(() => outsideOfRequests(() => this.#write()))
    return this.#writing
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => void this.flush(), gatherMs)
  }

  /** All rows that are there now, in inserts that the store and this process have the memory for. */
  async #write(): Promise<void> {
    for (let left = this.#pending.count; left > 0 && this.#pending.count > 0;) {
      const rows = this.#pending.take(sizeOfInsert)
      left -= rows.length
      try {
        await insertLedgerRows(this.#traces, rows)
        this.#hasDropped = false
      } catch (error) {
        if (!isStoreUnavailable(error))
          this.#log.error({ err: error, rows: rows.length }, "the token ledger could not be written; trying again")
        this.#pending.putBack(rows)
        this.#dropOldest()
        this.#flushLater()
        return
      }
    }
  }

  /** Memory is bounded, however long the store is away. It is told once for each absence. */
  #dropOldest(): void {
    const dropped = this.#pending.dropBeyond(mostPending)
    if (dropped > 0 && !this.#hasDropped)
      this.#log.error({ rows: dropped }, "the trace store is away for too long: the token ledger loses its oldest rows")
    this.#hasDropped ||= dropped > 0
  }
}

/** Rows that wait for the store, the oldest first. */
class PendingRows {
  #rows: LedgerRow[] = []
  #size = 0

  get count(): number {
    return this.#rows.length
  }

  add(rows: readonly LedgerRow[]): void {
    for (const row of rows) {
      this.#rows.push(row)
      this.#size += sizeOf(row)
    }
  }

  /** The oldest that have this size together; at least one. */
  take(size: number): LedgerRow[] {
    let taken = 0
    return this.#cut((row) => {
      const isFirst = taken === 0
      taken += sizeOf(row)
      return isFirst || taken <= size
    })
  }

  /** Rows that were taken last. */
  putBack(rows: readonly LedgerRow[]): void {
    this.#rows.unshift(...rows)
    for (const row of rows) this.#size += sizeOf(row)
  }

  /** How many had to go, so that the others have no more than this size. */
  dropBeyond(size: number): number {
    let left = this.#size
    return this.#cut((row) => {
      const isBeyond = left > size
      left -= sizeOf(row)
      return isBeyond
    }).length
  }

  /** Takes the oldest, up to the first that `goes` does not want. */
  #cut(goes: (row: LedgerRow) => boolean): LedgerRow[] {
    const kept = this.#rows.findIndex((row) => !goes(row))
    const cut = this.#rows.splice(0, kept === -1 ? this.#rows.length : kept)
    for (const row of cut) this.#size -= sizeOf(row)
    return cut
  }
}

/** The numbers of a row, and what a row without numbers takes. */
function sizeOf(row: LedgerRow): number {
  return numbersIn(row) + 100
}

/** About 32 MB: 8 bytes each. */
const maximumNumbers = 4_000_000

/** The newest rows, by key, bounded by the numbers they hold. */
class RecentRows {
  readonly #rows = new Map<string, LedgerRow>()
  #numbers = 0

  add(row: LedgerRow): void {
    this.#rows.set(row.ledger_key, row)
    this.#numbers += numbersIn(row)
    for (const [key, oldest] of this.#rows) {
      if (this.#numbers <= maximumNumbers) return
      this.#rows.delete(key)
      this.#numbers -= numbersIn(oldest)
    }
  }

  find(projectId: string, keys: readonly string[]): LedgerRow[] {
    return keys.flatMap((key) => {
      const row = this.#rows.get(key)
      return row?.project_id === projectId ? [row] : []
    })
  }
}

function numbersIn({ prompt_token_ids, token_ids, logprobs }: LedgerRow): number {
  return prompt_token_ids.length + token_ids.length + logprobs.length
}
