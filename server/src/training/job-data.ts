/** The data file of a job or log: from a temporary file to a blob that a row refers to, or to nothing at all. */
import { rm } from "node:fs/promises"
import type { BlobStore } from "../storage/blobs/blob-store.ts"
import { isBlobReferenced } from "../storage/catalog/blob-references.ts"
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

/** Stores the row that refers to blob `sha256`; without a row the blob goes too. */
export async function referToBlob<T>(
  database: CatalogDatabase,
  blobs: BlobStore,
  sha256: string,
  store: () => Promise<T | null>,
): Promise<T | null> {
  try {
    const stored = await store()
    if (stored === null) await removeUnreferenced(database, blobs, sha256)
    return stored
  } catch (error) {
    await removeUnreferenced(database, blobs, sha256).catch(() => undefined)
    throw error
  }
}

export async function removeUnreferenced(database: CatalogDatabase, blobs: BlobStore, sha256: string): Promise<void> {
  if (!(await isBlobReferenced(database, sha256))) await blobs.remove(sha256)
}
