/** Calls: written one by one or as spans of OpenTelemetry, read, counted and priced. */
import type { Area } from "../http/area.ts"
import type { Log } from "../log.ts"
import { DailyWork } from "../storage/daily-work.ts"
import { type ExpiringStores, removeExpiredCalls } from "../storage/expired-call-removal.ts"
import { removeMaskedSpans } from "../storage/traces/agents/span-table.ts"
import { removeDeletedPayloads } from "../storage/traces/calls/removal/deleted-payloads.ts"
import type { CallDependencies } from "./dependencies.ts"
import { callReadRoutes } from "./read/call-read-routes.ts"
import { callUsageRoutes } from "./usage/call-usage-routes.ts"
import { callWriteRoutes } from "./write/call-write-routes.ts"
import { costRoutes } from "./costs/cost-routes.ts"
import { otelRoutes } from "./otel/otel-routes.ts"
import { threadRoutes } from "./read/thread-routes.ts"

export function openCalls(dependencies: CallDependencies, log: Log): Area {
  return {
    routes: [
      ...callWriteRoutes(dependencies),
      ...callReadRoutes(dependencies),
      ...threadRoutes(dependencies),
      ...callUsageRoutes(dependencies),
      ...costRoutes(dependencies),
      ...otelRoutes(dependencies),
    ],
    background: [callRemoval({ catalog: dependencies.database, traces: dependencies.traces }, log)],
  }
}

/** In this order: the payloads of what is past its limit leave the disk on the same day. */
function callRemoval(stores: ExpiringStores, log: Log): DailyWork {
  const remove = async (signal: AbortSignal) => {
    await removeExpiredCalls(stores, log, signal)
    if (signal.aborted) return
    if (await removeDeletedPayloads(stores.traces)) log.info({}, "payloads of deleted calls were removed")
    if (signal.aborted) return
    if (await removeMaskedSpans(stores.traces)) log.info({}, "spans of deleted calls were removed from the disk")
  }
  return new DailyWork(
    remove,
    log,
    "calls past their limit, or payloads or spans of deleted calls, could not be removed",
  )
}
