/** Removes what deleted runs have logged. Until then no name and no list leads to it, but it takes the disk and the team's quota. */
import type { Log } from "../log.ts"
import { deletedRuns, forgetDeletedRuns } from "./catalog/runs/deleted-runs.ts"
import { DailyWork } from "./daily-work.ts"
import type { Stores } from "./open-stores.ts"
import { usageOf } from "./team-usage.ts"
import { removeRunRows } from "./traces/runs/removed-runs.ts"

/** A request that had found the run may store something after it was deleted; no request takes longer. */
const lateMs = 24 * 60 * 60 * 1000
/** Their ids stand in one statement. */
const runsAtOnce = 500

export function runCollector(stores: Pick<Stores, "catalog" | "traces">, log: Log): DailyWork {
  return new DailyWork(
    async (signal) => {
      if (await collectRuns(stores, new Date(Date.now() - lateMs), signal))
        log.info({}, "what deleted runs had logged was removed")
    },
    log,
    "what deleted runs have logged could not be removed",
  )
}

/** Of runs that were deleted before `before` nothing comes any more. Returns whether there was anything to remove. */
export async function collectRuns(
  { catalog, traces }: Pick<Stores, "catalog" | "traces">,
  before: Date,
  signal?: AbortSignal,
): Promise<boolean> {
  const runs = await deletedRuns(catalog)
  let isFound = false
  for (let first = 0; first < runs.length && signal?.aborted !== true; first += runsAtOnce) {
    const some = runs.slice(first, first + runsAtOnce)
    const keys = some.map(({ id: runId, projectId }) => ({ projectId, runId }))
    if (await removeRunRows(traces, keys)) {
      isFound = true
      for (const entityId of new Set(some.map((run) => run.entityId))) usageOf(catalog)?.changed(entityId)
    }
    const over = some.filter(({ deletedAt }) => deletedAt < before)
    await forgetDeletedRuns(
      catalog,
      over.map(({ id }) => id),
    )
  }
  return isFound
}
