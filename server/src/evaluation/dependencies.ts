import type { BlobStore } from "../storage/blobs/blob-store.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { TraceStore } from "../storage/traces/trace-store.ts"

export interface EvaluationDependencies {
  database: CatalogDatabase
  traces: TraceStore
  blobs: BlobStore
}
