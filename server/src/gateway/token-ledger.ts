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
/** Rows kept for another try while the store refuses them; beyond, the oldest go. */
const maximumPending = 50_000

export class TokenLedger {
  readonly #traces: TraceStore
  readonly #log: ErrorLog
  readonly #recent = new RecentRows()
  #pending: LedgerRow[] = []
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> = Promise.resolve()

  constructor(traces: TraceStore, log: ErrorLog) {
    this.#traces = traces
    this.#log = log
  }

  add(rows: readonly LedgerRow[]): void {
    for (const row of rows) this.#recent.add(row)
    this.#pending.push(...rows)
    if (this.#pending.length > maximumPending) this.#pending.splice(0, this.#pending.length - maximumPending)
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

  async #write(): Promise<void> {
    const rows = this.#pending
    if (rows.length === 0) return
    this.#pending = []
    try {
      await insertLedgerRows(this.#traces, rows)
    } catch (error) {
      if (!isStoreUnavailable(error))
        this.#log.error({ err: error, rows: rows.length }, "the token ledger could not be written; trying again")
      this.#pending.unshift(...rows)
      this.#flushLater()
    }
  }
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
