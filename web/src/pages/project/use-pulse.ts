/** Whether anything has happened in a project: what decides between its first run and its overview. */
import { useState } from "react"
import { useNow } from "../../clock/use-now.ts"
import { useCallCount } from "../../api/calls/calls.ts"
import { useProject } from "../../api/organization/projects.ts"
import { useModels } from "../../api/training/training.ts"
import { useUsage } from "../../api/organization/usage.ts"
import type { CurrentProject } from "../../shell/current-project.ts"
import { bucketStart } from "./time-window.ts"

const daySeconds = 24 * 3600
/** The usage ledger has no end; a month is one page of it. */
const usageDays = 31

export interface Pulse {
  /** false: nothing was ever stored under its name. */
  exists: boolean
  calls: number
  models: number
  /** Of the wandb client. */
  hasRuns: boolean
  /** Chat requests of the last month. */
  requests: number
}

/** `pulse` and `exists` are undefined until they are known. */
export function usePulse({ entity, project, id }: CurrentProject, refetchInterval: number | false) {
  const live = { refetchInterval }
  const found = useProject(entity, project, live)
  const exists = found.data != null
  // One that is made while the page is open has no calls until they are counted: it must not become unknown again.
  const [wasMissing, setWasMissing] = useState(false)
  if (found.data === null && !wasMissing) setWasMissing(true)
  const calls = useCallCount({ project_id: id, limit: 1 }, { ...live, enabled: exists })
  const models = useModels({ entity, project, limit: 1 }, live)
  const now = useNow(60)
  const start = bucketStart(now / 1000 - (usageDays - 1) * daySeconds, daySeconds)
  const usage = useUsage({ start_time: start, bucket_width: "1d", project_ids: [id], limit: usageDays }, live)
  const queries = exists ? [found, calls, models, usage] : [found, models, usage]
  const error = queries.find((query) => query.error !== null)?.error ?? null
  const areCallsKnown = !exists || wasMissing || calls.data !== undefined
  const isKnown = found.data !== undefined && areCallsKnown && models.data && usage.data
  const pulse: Pulse | undefined = isKnown
    ? {
        exists,
        calls: calls.data?.count ?? 0,
        models: models.data?.data.length ?? 0,
        hasRuns: found.data?.has_runs ?? false,
        requests: (usage.data?.data ?? [])
          .flatMap(({ results }) => results)
          .reduce((sum, one) => sum + one.num_model_requests, 0),
      }
    : undefined
  const retry = () => queries.forEach((query) => void query.refetch())
  return { pulse, exists: found.data === undefined ? undefined : exists, error, retry }
}

export function isQuiet({ calls, models, hasRuns, requests }: Pulse): boolean {
  return calls === 0 && models === 0 && !hasRuns && requests === 0
}
