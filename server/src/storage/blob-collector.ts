/** Removes what nobody needs any more: the data of jobs that ended, the logs of deleted models. */
import { forgetBlob, isBlobNeeded, spentBlobs } from "./catalog/blob-references.ts"
import type { Stores } from "./open-stores.ts"

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
    await this.#running
  }

  #look(): void {
    this.#running = this.#running
      .then(() => collectBlobs(this.#stores, new Date(Date.now() - keepMs)))
      .then(
        (removed) => removed > 0 && this.#log.info({ removed }, "data of ended jobs and deleted models was removed"),
        (error: unknown) =>
          this.#log.error({ err: error }, "data of ended jobs could not be removed; the next try is tomorrow"),
      )
      .then(() => undefined)
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
