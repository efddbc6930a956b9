/** The values of many versions of objects, a few at a time: each may have megabytes. */
import { findVersions, type ObjectVersionRecord } from "../storage/catalog/objects/object-reads.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"

/** Limits of one batch of values. */
const batchLimits = { count: 256, bytes: 8 * 1024 * 1024 }

/** The listed versions in their order, with their values; those that were deleted since are left out. */
export async function* withValues(
  database: CatalogDatabase,
  projectId: string,
  listed: readonly ObjectVersionRecord[],
): AsyncGenerator<ObjectVersionRecord[]> {
  for (const batch of batchesOf(listed, batchLimits)) {
    const names = batch.map(({ object_id, digest }) => ({ objectId: object_id, version: digest }))
    const found = await findVersions(database, projectId, names, true)
    yield found.flatMap((record) => (record === null || record.deleted_at !== null ? [] : [record]))
  }
}

/** In order; one that is larger than `bytes` is a batch of its own. */
export function* batchesOf<T extends { size_bytes: number }>(
  listed: readonly T[],
  limits: { count: number; bytes: number },
): Generator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for (const one of listed) {
    const isFull = batch.length === limits.count || bytes + one.size_bytes > limits.bytes
    if (isFull && batch.length > 0) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(one)
    bytes += one.size_bytes
  }
  if (batch.length > 0) yield batch
}
