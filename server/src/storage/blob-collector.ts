/**
 * Removes what nobody needs any more: the data of jobs that ended, the logs of deleted models, and
 * blobs that a crash kept the row from naming.
 */
import type { Log } from "../log.ts"
import {
  forgetBlob,
  isBlobNeeded,
  isBlobReferenced,
  referencedBlobs,
  spentBlobs,
} from "./catalog/files/blob-references.ts"
import type { Stores } from "./open-stores.ts"
import { DailyWork } from "./daily-work.ts"

/** Data stays this long after the end, for whoever looks into what a job was trained on. */
const keepMs = 24 * 60 * 60 * 1000

/** Removing is safe at any moment: a blob that a request holds, or a row needs, stays. */
export function blobCollector(stores: Stores, log: Log): DailyWork {
  return new DailyWork(
    async (signal) => {
      const before = new Date(Date.now() - keepMs)
      const removed = await collectBlobs(stores, before)
      if (removed > 0) log.info({ removed }, "data of ended jobs and deleted models was removed")
      const orphans = await collectOrphans(stores, before, signal)
      if (orphans > 0) log.info({ removed: orphans }, "files of requests that a crash had cut off were removed")
    },
    log,
    "data that nobody needs could not be removed",
  )
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
