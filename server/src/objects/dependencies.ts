import type { Limits } from "../limits.ts"
import type { BlobStore } from "../storage/blobs/blob-store.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { TraceStore } from "../storage/traces/store/trace-store.ts"
import type { ThreadPool } from "../threads/thread-pool.ts"
import type { FileLinks } from "./project/file-links.ts"

/** Objects that every area of the evaluation store works with. */
export interface StoreDependencies {
  database: CatalogDatabase
  traces: TraceStore
  blobs: BlobStore
  fileLinks: FileLinks
  /** Threads that work on large payloads. */
  threads: ThreadPool
  limits: Limits
}
