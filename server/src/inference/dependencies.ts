import type { Gateway } from "../gateway/gateway.ts"
import type { Limits } from "../limits.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { Health } from "../wire/training/health.ts"

/** What `app.ts` hands to the inference area. */
export interface InferenceDependencies {
  database: CatalogDatabase
  gateway: Gateway
  limits: Limits
  /** @throws {HeddleError} while a store on another machine does not answer. */
  checkHealth: () => Promise<Health>
}
