/**
 * When each key was used last: kept in memory, stored once a minute. A server that is killed forgets the last minute.
 * The first use of a key is stored within a second, as whoever has made the key waits for it.
 */
import type { ErrorLog } from "../../log.ts"
import { storeKeyUse } from "../../storage/catalog/accounts/api-keys.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { isStoreUnavailable } from "../../errors.ts"
import { outsideOfRequests } from "../../work/work-scope.ts"

const intervalMs = 60_000
const firstUseMs = 1_000

export class KeyUse {
  readonly #database: CatalogDatabase
  readonly #log: ErrorLog
  /** Since the last time was stored. */
  #used = new Map<string, Date>()
  /** Since the server started. */
  readonly #seen = new Set<string>()
  /** The stores that have begun, one after another: a close waits for them, else the catalog would be closed under one. */
  #storing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #first: NodeJS.Timeout | undefined

  constructor(database: CatalogDatabase, log: ErrorLog) {
    this.#database = database
    this.#log = log
  }

  start(): void {
    this.#timer = setInterval(() => void this.#store(), intervalMs).unref()
  }

  saw(apiKeyId: string): void {
    this.#used.set(apiKeyId, new Date())
    if (this.#seen.has(apiKeyId)) return
    this.#seen.add(apiKeyId)
    this.#first ??= setTimeout(() => void this.#store(), firstUseMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#store()
  }

  #store(): Promise<void> {
    clearTimeout(this.#first)
    this.#first = undefined
    // A timer keeps the scope of the request that set it.
    this.#storing = this.#storing.then(() => outsideOfRequests(() => this.#storeUsed()))
    return this.#storing
  }

  async #storeUsed(): Promise<void> {
    if (this.#used.size === 0) return
    const used = this.#used
    this.#used = new Map()
    await storeKeyUse(this.#database, used).catch((error: unknown) => {
      // Nothing depends on it, and the next minute tells more.
      if (!isStoreUnavailable(error)) this.#log.error({ err: error }, "when keys were used could not be stored")
    })
  }
}
