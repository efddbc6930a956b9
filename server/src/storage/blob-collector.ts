/**
 * Removes what nobody needs any more: the data of jobs that ended, the logs of deleted models, and
 * blobs that a crash kept the row from naming.
 */
import { isStoreAway } from "../errors.ts"
import { forgetBlob, isBlobNeeded, isBlobReferenced, referencedBlobs, spentBlobs } from "./catalog/blob-references.ts"
import type { Stores } from "./open-stores.ts"
import { whileAway } from "./while-away.ts"

export interface CollectorLog {
  info(object: object, message: string): void
  error(object: object, message: string): void
}

const dayMs = 24 * 60 * 60 * 1000
/** Data stays this long after the end, for whoever looks into what a job was trained on. */
const keepMs = dayMs

/** Looks now and once a day. Removing is safe at any moment: a blob that a request holds, or a row needs, stays. */
export class BlobCollector {
  readonly #stores: Stores
  readonly #log: CollectorLog
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  readonly #closing = new AbortController()

  constructor(stores: Stores, log: CollectorLog) {
    this.#stores = stores
    this.#log = log
  }

  start(): void {
    this.#look()
    this.#timer = setInterval(() => this.#look(), dayMs).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#running
  }

  #look(): void {
    this.#running = this.#running
      .then(() => whileAway(this.#closing.signal, () => this.#collect(new Date(Date.now() - keepMs))))
      .catch((error: unknown) => {
        // The server stops while the catalog is away.
        if (isStoreAway(error)) return
        this.#log.error({ err: error }, "data that nobody needs could not be removed; the next try is tomorrow")
      })
  }

  async #collect(before: Date): Promise<void> {
    const removed = await collectBlobs(this.#stores, before)
    if (removed > 0) this.#log.info({ removed }, "data of ended jobs and deleted models was removed")
    const orphans = await collectOrphans(this.#stores, before, this.#closing.signal)
    if (orphans > 0) this.#log.info({ removed: orphans }, "files of requests that a crash had cut off were removed")
  }
}

/** Removes blobs that only jobs which ended, and models which were deleted, before `before` name. Returns how many. */
export async function collectBlobs({ catalog, blobs }: Stores, before: Date): Promise<number> {
  let removed = 0
  for (const sha256 of await spentBlobs(catalog, before)) {
    if (!(await blobs.removeUnless(sha256, () => isBlobNeeded(catalog, sha256, before)))) continue
    await forgetBlob(catalog, sha256, before)
    removed += 1
  }
  return removed
}

/**
 * Removes blobs that no row names and that were written before `before`; younger ones may be of a
 * request in progress. Few of them are in memory at a time. Returns how many.
 */
export async function collectOrphans({ catalog, blobs }: Stores, before: Date, signal?: AbortSignal): Promise<number> {
  let removed = 0
  for await (const batch of blobs.list()) {
    const referenced = await referencedBlobs(catalog, batch)
    for (const sha256 of batch) {
      if (signal?.aborted === true) return removed
      if (referenced.has(sha256) || !(await blobs.isOlder(sha256, before))) continue
      if (await blobs.removeUnless(sha256, () => isBlobReferenced(catalog, sha256))) removed += 1
    }
  }
  return removed
}
