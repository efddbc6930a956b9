/**
 * Connections to a PostgreSQL server that may go away: restart, failover, network cut, too many
 * connections. What fails for such a reason leaves here as one error of the closed list, and a
 * connection that saw one is lent to nobody again. A query is never sent twice.
 */
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely"
import pg from "pg"
import type { HeddleError } from "../../errors.ts"
import type { FairQueue, LeaveQueue } from "../../work/fair-queue.ts"
import type { Reachability } from "../reachability.ts"
import { catalogAway, outcomeUnknown, saysAway, withFullDisk } from "./postgres-failure.ts"

/** For a new connection, and for one that another request gives back. */
const connectMs = 10_000
/** A peer that is cut off says nothing: keep-alive finds it when a connection is idle, this limit in a query. */
const longestQueryMs = 60_000
const keepAliveMs = 10_000

export class PostgresConnections implements PostgresPool {
  readonly options: object
  readonly #pool: pg.Pool
  readonly #reachability: Reachability
  readonly #queue: FairQueue
  #queryMs: number | null = null

  /** `queue` has as many slots as the pool has connections. */
  constructor(config: pg.PoolConfig, reachability: Reachability, queue: FairQueue) {
    this.#reachability = reachability
    this.#queue = queue
    this.#pool = new pg.Pool({
      ...config,
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    })
    this.options = this.#pool.options
    // Without a listener the events of a connection that breaks would end the process: the pool's for one that
    // nobody uses, the connection's own between two queries of a transaction.
    this.#pool.on("error", () => undefined)
    this.#pool.on("connect", (client) => client.on("error", () => undefined))
  }

  /** From now on; migrations, which come before, may take as long as they need. */
  limitQueries(longestMs = longestQueryMs): void {
    this.#queryMs = longestMs
  }

  /** @throws {HeddleError} `catalog_unavailable`, for whatever reason there is no connection; and as the queue does. */
  async connect(): Promise<PostgresPoolClient> {
    const leave = await this.#queue.enter("heavy")
    const client = await this.#pool.connect().catch((cause: unknown) => {
      leave()
      this.#reachability.failed(cause)
      throw catalogAway(cause)
    })
    return new LentConnection(client, this.#reachability, this.#queryMs, leave)
  }

  end(): Promise<void> {
    return this.#pool.end()
  }
}

/** One loan of a connection: some queries, or one transaction. */
class LentConnection {
  readonly #client: pg.PoolClient
  readonly #reachability: Reachability
  readonly #queryMs: number | null
  readonly #leave: LeaveQueue
  #inTransaction = false
  #isReturned = false
  #lost: HeddleError | null = null

  constructor(client: pg.PoolClient, reachability: Reachability, queryMs: number | null, leave: LeaveQueue) {
    this.#client = client
    this.#reachability = reachability
    this.#queryMs = queryMs
    this.#leave = leave
  }

  /** @throws {HeddleError} `catalog_unavailable`, `outcome_unknown` when a change may have been stored, `insufficient_storage`. */
  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query(): never
  async query<R>(sql = "", parameters: readonly unknown[] = []): Promise<PostgresQueryResult<R>> {
    // A rollback that comes after the end must not hide what the end was.
    if (this.#lost !== null) throw this.#lost
    const stalled = this.#queryMs === null ? undefined : setTimeout(() => this.#drop(), this.#queryMs)
    try {
      const result = await this.#client.query(sql, [...parameters])
      this.#reachability.answered()
      if (/^(begin|start transaction)\b/.test(sql)) this.#inTransaction = true
      if (sql === "commit" || sql === "rollback") this.#inTransaction = false
      return result as unknown as PostgresQueryResult<R>
    } catch (error) {
      if (!saysAway(error)) throw withFullDisk(error)
      this.#reachability.failed(error)
      this.#lost = this.#isInDoubt(sql, error) ? outcomeUnknown(error) : catalogAway(error)
      this.#drop()
      throw this.#lost
    } finally {
      clearTimeout(stalled)
    }
  }

  release(destroy = false): void {
    if (this.#isReturned) return
    this.#isReturned = true
    this.#client.release(destroy)
    this.#leave()
  }

  /** Ends the connection, with the query that may still wait on it. */
  #drop(): void {
    this.release(true)
  }

  /** True if a failed statement may have taken effect: a commit, or a single change that the server did not refuse. */
  #isInDoubt(sql: string, error: unknown): boolean {
    if (this.#inTransaction) return sql === "commit"
    return changesRows.test(sql) && !(error instanceof pg.DatabaseError)
  }
}

const changesRows = /\b(insert|update|delete|merge)\b/i
