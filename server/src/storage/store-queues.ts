/** The queues in front of the stores: how much of each may run at a time, and whose turn it is (law 8). */
import type { Limits } from "../limits.ts"
import { FairQueue, halfOf } from "../work/fair-queue.ts"

/** The embedded catalog has one session. */
export function catalogQueue(limits: Limits, isEmbedded: boolean): FairQueue {
  const slots = isEmbedded ? 1 : limits.catalog_connections
  return new FairQueue({
    name: "catalog",
    work: "statements of the catalog",
    slots,
    slotsPerUser: halfOf(slots),
    slotsForLookups: 0,
    waitingPerUser: limits.catalog_waiting_per_user,
    waitingTotal: limits.catalog_waiting_total,
    longestWaitMs: limits.catalog_wait_ms,
  })
}

export interface TraceQueues {
  queries: FairQueue
  inserts: FairQueue
  exports: FairQueue
}

/** `at`: how many of each run at a time. */
export function traceQueues(limits: Limits, at: Readonly<Record<keyof TraceQueues, number>>): TraceQueues {
  const queue = (name: string, work: string, slots: number, longestWaitMs: number, slotsForLookups = 0) =>
    new FairQueue({
      name,
      work,
      slots,
      slotsPerUser: halfOf(slots),
      slotsForLookups,
      waitingPerUser: limits.trace_waiting_per_user,
      waitingTotal: limits.trace_waiting_total,
      longestWaitMs,
    })
  return {
    queries: queue(
      "trace_queries",
      "queries of the trace store",
      at.queries,
      limits.trace_wait_ms,
      at.queries > 1 ? 1 : 0,
    ),
    inserts: queue("trace_inserts", "inserts of the trace store", at.inserts, limits.trace_wait_ms),
    exports: queue("trace_exports", "exports", at.exports, limits.trace_export_wait_ms),
  }
}
