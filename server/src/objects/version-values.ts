/** The values of many versions of objects, a few at a time: each may have megabytes. */
import { findVersions, type ObjectVersionRecord } from "../storage/catalog/objects/object-reads.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { batchesOf } from "./batches.ts"

/** Limits of one batch of values; its size is in bytes. */
const batchLimits = { count: 256, size: 8 * 1024 * 1024 }

/** The listed versions in their order, with their values; those that were deleted since are left out. */
export async function* withValues(
  database: CatalogDatabase,
  projectId: string,
  listed: readonly ObjectVersionRecord[],
): AsyncGenerator<ObjectVersionRecord[]> {
  for (const batch of batchesOf(listed, batchLimits, ({ size_bytes }) => size_bytes)) {
    const names = batch.map(({ object_id, digest }) => ({ objectId: object_id, version: digest }))
    const found = await findVersions(database, projectId, names, true)
    yield found.flatMap((record) => (record === null || record.deleted_at !== null ? [] : [record]))
  }
}
