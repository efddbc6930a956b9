import type { Gateway } from "../gateway/gateway.ts"
import type { Limits } from "../limits.ts"
import type { Log } from "../log.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { Health } from "../wire/training/health.ts"

/** Objects that `app.ts` hands to the inference area. */
export interface InferenceDependencies {
  database: CatalogDatabase
  gateway: Gateway
  limits: Limits
  log: Log
  /** @throws {HeddleError} while a store on another machine does not answer. */
  checkHealth: () => Promise<Health>
}
