/**
 * PGlite has one session, which one caller has at a time: a query made while another caller's transaction is open would
 * run inside it and vanish with its rollback. Kysely lends the session in order of arrival; this dialect lends it in
 * turns by tenant.
 *
 * PGlite answers without leaving the turn of the event loop. Were the session lent on at once, those who wait already
 * would have all of it, and no request that came meanwhile would even be read; so now and then the loop gets its turn.
 * So it does between the statements of a long transaction: those who want the session wait for its end, others do not.
 */
import { setImmediate as nextTurn } from "node:timers/promises"
import {
  type AbortableOperationOptions,
  type DatabaseConnection,
  PGliteAdapter,
  PGliteDialect,
  PGliteDriver,
  type PGliteDialectConfig,
} from "kysely"
import type { FairQueue, LeaveQueue } from "../../work/fair-queue.ts"
import { withFullDisk } from "./postgres-failure.ts"

export class SerialPGliteDialect extends PGliteDialect {
  readonly #config: PGliteDialectConfig
  readonly #queue: FairQueue

  /** `queue` has one slot. */
  constructor(config: PGliteDialectConfig, queue: FairQueue) {
    super(config)
    this.#config = config
    this.#queue = queue
  }

  override createAdapter(): PGliteAdapter {
    return new UnlockedAdapter()
  }

  override createDriver(): PGliteDriver {
    return new SerialPGliteDriver(this.#config, this.#queue)
  }
}

/** Kysely keeps no queue of its own in front of the driver, which has one. */
class UnlockedAdapter extends PGliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** A few statements take less, and are not held up. */
const longestTurnMs = 10

class SerialPGliteDriver extends PGliteDriver {
  readonly #queue: FairQueue
  #endLoan: LeaveQueue = () => {}
  /** When the first statement of this turn of the event loop began; null: none has. */
  #turnBegan: number | null = null

  constructor(config: PGliteDialectConfig, queue: FairQueue) {
    super(config)
    this.#queue = queue
  }

  override async init(options?: AbortableOperationOptions): Promise<void> {
    await super.init(options)
    // It keeps the state of its transaction, so it cannot be wrapped in another.
    const connection = await super.acquireConnection()
    const execute = connection.executeQuery.bind(connection)
    connection.executeQuery = async (query, ...rest) => {
      await this.#shareTurn()
      try {
        return await execute(query, ...rest)
      } catch (error) {
        throw withFullDisk(error)
      }
    }
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#endLoan = await this.#queue.enter("heavy")
    return super.acquireConnection()
  }

  override async releaseConnection(): Promise<void> {
    await this.#shareTurn()
    this.#endLoan()
  }

  /** Lets the event loop have its turn where statements have had it for long. */
  async #shareTurn(): Promise<void> {
    if (this.#turnBegan !== null && performance.now() - this.#turnBegan > longestTurnMs) await nextTurn()
    if (this.#turnBegan !== null) return
    this.#turnBegan = performance.now()
    setImmediate(() => (this.#turnBegan = null))
  }
}
