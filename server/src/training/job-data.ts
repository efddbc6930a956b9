/** The data file of a job or log: from a temporary file to a blob that a row refers to, or to nothing at all. */
import { rm } from "node:fs/promises"
import type { BlobStore } from "../storage/blobs/blob-store.ts"
import { isBlobReferenced } from "../storage/catalog/files/blob-references.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"

/**
 * Gives `work` a temporary path and removes what it leaves there. `work` makes the file a blob
 * with `blobs.adopt` when the request is known to be good.
 */
export async function withTemporaryFile<T>(blobs: BlobStore, work: (file: string) => Promise<T>): Promise<T> {
  const file = blobs.temporaryPath()
  try {
    return await work(file)
  } finally {
    await rm(file, { force: true })
  }
}

/** Stores the row that refers to the held blob `sha256`, and lets go of it; without a row the blob goes too. */
export async function referToBlob<T>(
  database: CatalogDatabase,
  blobs: BlobStore,
  sha256: string,
  store: () => Promise<T | null>,
): Promise<T | null> {
  let stored: T | null = null
  try {
    stored = await store()
    return stored
  } finally {
    blobs.release(sha256)
    if (stored === null) {
      await blobs.removeUnless(sha256, () => isBlobReferenced(database, sha256)).catch(() => undefined)
    }
  }
}
