/**
 * Stores usage rows in the catalog, also when it is away or has no room for a while: what was sampled is counted once,
 * whatever its client was answered. A row may be sent twice, since one that is there stays as it is.
 */
import { randomUUID } from "node:crypto"
import type { ErrorLog } from "../log.ts"
import { diskFull, isPassing } from "../errors.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { insertUsage, type UsageRow } from "../storage/catalog/inference/completion-usage.ts"
import { retryWhile, retryWhileUnavailable } from "../storage/retry-while-unavailable.ts"
import { outsideOfRequests } from "../work/work-scope.ts"
import { GroupCommit } from "../work/group-commit.ts"

const rowsPerInsert = 1_000
/** A short restart of the catalog costs nobody the answer. */
const patienceMs = 5_000
/** Rows of requests that were answered 503 or 507, about 20 MB of them; what comes then goes to the log. */
const mostKept = 50_000

type IdentifiedRow = UsageRow & { id: string }

export class UsageWriter {
  readonly #database: CatalogDatabase
  readonly #log: ErrorLog
  readonly #group: GroupCommit<UsageRow>
  /** By id: the row, and the failure that its request was told. */
  readonly #kept = new Map<string, { row: IdentifiedRow; failure: unknown }>()
  readonly #closing = new AbortController()
  #storing: Promise<void> | null = null

  /** `left`: rows that an earlier server could not store. */
  constructor(database: CatalogDatabase, log: ErrorLog, left: readonly UsageRow[] = []) {
    this.#database = database
    this.#log = log
    for (const usage of left) this.#keep({ ...usage, id: usage.id ?? randomUUID() }, diskFull())
    const insert = (rows: UsageRow[]) =>
      retryWhileUnavailable(AbortSignal.timeout(patienceMs), () => insertUsage(database, rows))
    this.#group = new GroupCommit(insert, rowsPerInsert)
  }

  /** Resolves once the row is stored; when the catalog is away or full it rejects, and the row is stored later. */
  async add(usage: UsageRow): Promise<void> {
    // It counts for this time, however long the catalog is away.
    const row: IdentifiedRow = { created_at: new Date(), ...usage, id: usage.id ?? randomUUID() }
    const before = this.#kept.get(row.id)
    if (before !== undefined) throw before.failure
    try {
      await this.#group.add(row)
    } catch (failure) {
      if (isPassing(failure)) this.#keep(row, failure)
      throw failure
    }
  }

  /** Rows that the catalog has not taken yet. */
  get waiting(): UsageRow[] {
    return Array.from(this.#kept.values(), ({ row }) => row)
  }

  /** One last try for what is kept; what the catalog does not take even then stays in {@link waiting}. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#storing
    await this.#storeKept()
  }

  #keep(row: IdentifiedRow, failure: unknown): void {
    if (this.#kept.size >= mostKept) return this.#lose([row], failure)
    this.#kept.set(row.id, { row, failure })
    this.#storing ??= outsideOfRequests(() => this.#storeKept())
  }

  /** Ends when nothing is kept any more, or the server stops and the catalog still takes nothing. */
  async #storeKept(): Promise<void> {
    try {
      while (this.#kept.size > 0) {
        const rows = Array.from(this.#kept.values().take(rowsPerInsert), ({ row }) => row)
        try {
          await retryWhile(isPassing, this.#closing.signal, () => insertUsage(this.#database, rows))
        } catch (error) {
          if (isPassing(error)) return
          this.#lose(rows, error)
        }
        for (const { id } of rows) this.#kept.delete(id)
      }
    } finally {
      // Here, not once the promise has settled: what is kept in between would wait for the next failure.
      this.#storing = null
    }
  }

  #lose(rows: readonly UsageRow[], error: unknown): void {
    this.#log.error({ err: error, rows }, "the tokens of requests could not be stored in the usage ledger")
  }
}
