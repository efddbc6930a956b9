/** Calls: written one by one or as spans of OpenTelemetry, read, counted and priced. */
import type { Area } from "../http/area.ts"
import type { Log } from "../log.ts"
import { DailyWork } from "../storage/daily-work.ts"
import { removeDeletedPayloads } from "../storage/traces/calls/removal/deleted-payloads.ts"
import type { TraceStore } from "../storage/traces/store/trace-store.ts"
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
    background: [deletedPayloads(dependencies.traces, log)],
  }
}

function deletedPayloads(traces: TraceStore, log: Log): DailyWork {
  const remove = async () => {
    if (await removeDeletedPayloads(traces)) log.info({}, "payloads of deleted calls were removed")
  }
  return new DailyWork(remove, log, "payloads of deleted calls could not be removed")
}
