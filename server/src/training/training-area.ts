/** The training area: training-api 1.1 without chat. */
import type { Area } from "../http/area.ts"
import type { Log } from "../log.ts"
import { removeOldRecords } from "../scheduler/training-records.ts"
import { expireRollouts } from "../storage/catalog/training/rollouts.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { DailyWork } from "../storage/daily-work.ts"
import { checkpointFileRoutes } from "./checkpoint-file-routes.ts"
import { checkpointRoutes } from "./checkpoint-routes.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { importRoutes } from "./imports/import-routes.ts"
import { healthRoutes } from "./health-routes.ts"
import { jobEventRoutes } from "./job-event-routes.ts"
import { jobRoutes } from "./job-routes.ts"
import { jobStateRoutes } from "./job-state-routes.ts"
import { logRoutes } from "./log-routes.ts"
import { metricRoutes } from "./metric-routes.ts"
import { modelRoutes } from "./model-routes.ts"
import { recordRoutes } from "./record/record-routes.ts"
import { rlJobRoutes } from "./rl/rl-job-routes.ts"
import { rolloutRoutes } from "./rollouts/rollout-routes.ts"
import { lineageRoutes } from "./from/lineage-routes.ts"
import { trainFromRoutes } from "./from/train-from-routes.ts"
import { sftJobRoutes } from "./sft/sft-job-routes.ts"

interface TrainingArea extends Area {
  /** Call it when no new request is taken: whoever follows a job comes back to the next start. */
  stopFollowing: () => void
}

/** `recordDays`: how long the trajectories and tokens of a job are kept. */
export function openTraining(dependencies: TrainingDependencies, log: Log, recordDays: number): TrainingArea {
  const { database, dataDir } = dependencies
  const closing = new AbortController()
  return {
    routes: [
      ...modelRoutes(dependencies),
      ...checkpointRoutes(dependencies),
      ...checkpointFileRoutes(dependencies),
      ...importRoutes(dependencies),
      ...metricRoutes(dependencies),
      ...logRoutes(dependencies),
      ...rlJobRoutes(dependencies),
      ...sftJobRoutes(dependencies),
      ...jobRoutes(dependencies),
      ...jobStateRoutes(dependencies),
      ...jobEventRoutes(dependencies, closing.signal),
      ...recordRoutes(dependencies),
      ...trainFromRoutes(dependencies),
      ...lineageRoutes(dependencies),
      ...rolloutRoutes(dependencies),
      ...healthRoutes(dependencies),
    ],
    background: [oldRecords(database, dataDir, { days: recordDays, log }), expiredRollouts(database, log)],
    stopFollowing: () => closing.abort(),
  }
}

function oldRecords(database: CatalogDatabase, dataDir: string, { days, log }: { days: number; log: Log }): DailyWork {
  const remove = async () => {
    const removed = await removeOldRecords(database, dataDir, days)
    if (removed > 0) log.info({ removed }, "trajectories and tokens of old training jobs were removed")
  }
  return new DailyWork(remove, log, "trajectories and tokens of old training jobs could not be removed")
}

function expiredRollouts(database: CatalogDatabase, log: Log): DailyWork {
  const expire = async (signal: AbortSignal) => {
    const expired = await expireRollouts(database, signal)
    if (expired > 0) log.info({ expired }, "messages and tokens of rollouts were removed at the end of their time")
  }
  return new DailyWork(expire, log, "messages and tokens of rollouts whose time is over could not be removed")
}
