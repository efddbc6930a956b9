import type { Limits } from "../limits.ts"
import type { BlobStore } from "../storage/blobs/blob-store.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { CallWriter } from "../storage/traces/calls/calls-write.ts"
import type { TraceStore } from "../storage/traces/store/trace-store.ts"
import type { ThreadPool } from "../threads/thread-pool.ts"
import type { PriceList } from "./costs/price-list.ts"
import type { FileLinks } from "./project/file-links.ts"

export interface EvaluationDependencies {
  database: CatalogDatabase
  traces: TraceStore
  /** The one for all: its inserts serve every request that waits. */
  writer: CallWriter
  blobs: BlobStore
  fileLinks: FileLinks
  /** Of models for which a project has no price of its own. */
  priceList: PriceList
  /** Where large payloads are worked on. */
  threads: ThreadPool
  limits: Limits
}
