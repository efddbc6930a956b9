import type { Gateway } from "../gateway/gateway.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"

/** What `app.ts` hands to the inference area. */
export interface InferenceDependencies {
  database: CatalogDatabase
  gateway: Gateway
  /** @throws {HeddleError} while a store on another machine does not answer. */
  checkStores: () => Promise<void>
}
