import type { StoreDependencies } from "../objects/dependencies.ts"
import type { CallWriter } from "../storage/traces/calls/insert/calls-write.ts"
import type { PriceList } from "./costs/price-list.ts"

export interface CallDependencies extends StoreDependencies {
  /** The one for all: its inserts serve every request that waits. */
  writer: CallWriter
  /** Prices of models for which a project sets none. */
  priceList: PriceList
}
