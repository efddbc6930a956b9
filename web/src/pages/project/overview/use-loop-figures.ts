/** The figures of the loop. undefined: not read yet. */
import { useQueues, useQueueStats } from "../../../api/labelling/annotation-queues.ts"
import { useNow } from "../../../clock/use-now.ts"
import { useCallCount, useCalls } from "../../../api/calls/calls.ts"
import { runFilter } from "../../../api/evaluations/run-filter.ts"
import { useTrainingJobs } from "../../../api/training/training.ts"
import { useUsage } from "../../../api/organization/usage.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { usageRange, type WindowName } from "../time-window.ts"
import { jobProgress } from "../training/job-progress.ts"
import { quick, slow } from "./live.ts"
import { useTrafficStats } from "./use-traffic-stats.ts"

/** Counted no further: the exact number of thousands of runs tells nothing here. */
const mostRuns = 1000
const mostQueues = 100

export function useLoopFigures({ entity, project, id }: CurrentProject, since: WindowName) {
  const jobs = useTrainingJobs({ entity, project, limit: 100 }, quick)
  const usage = useProjectUsage(id, since)
  const traffic = useTrafficStats(id, since)
  const evaluations = runFilter(id)
  const runs = useCallCount({ project_id: id, filter: evaluations, limit: mostRuns }, slow)
  const newestRun = useCalls(
    {
      project_id: id,
      filter: evaluations,
      sort_by: [{ field: "started_at", direction: "desc" }],
      limit: 1,
      columns: ["id"],
    },
    slow,
  )
  const queues = useQueues({ project_id: id, limit: mostQueues }, slow)
  const queueIds = (queues.data ?? []).map((queue) => queue.id)
  const stats = useQueueStats({ project_id: id, queue_ids: queueIds }, { ...slow, enabled: queueIds.length > 0 })

  const running = jobs.data?.data.find(({ status }) => status === "running")
  const results = usage.data?.data.flatMap((bucket) => bucket.results)
  return {
    training: jobs.data && {
      jobs: jobs.data.data.length,
      isAll: !jobs.data.has_more,
      newest: jobs.data.data.find(({ ended_at }) => ended_at !== null)?.ended_at ?? null,
      running: running && { model: running.model, ...jobProgress(running) },
    },
    serving: results && {
      requests: sum(results.map((one) => one.num_model_requests)),
      tokens: sum(results.map((one) => one.input_tokens + one.output_tokens)),
      models: new Set(results.map((one) => one.model)).size,
    },
    tracing: traffic.totals,
    evaluating: runs.data && {
      runs: runs.data.count,
      isAll: !runs.data.has_more,
      newest: newestRun.data?.[0]?.started_at ?? null,
    },
    labelling: queues.data && {
      queues: queueIds.length,
      total: sum((stats.data?.stats ?? []).map((one) => one.total_items)),
      completed: sum((stats.data?.stats ?? []).map((one) => one.completed_items)),
    },
  }
}

/** Chat of this project, by model, in buckets that the ledger has. */
export function useProjectUsage(projectId: string, since: WindowName) {
  const range = usageRange(since, useNow(60))
  return useUsage({ ...range, project_ids: [projectId], group_by: ["model"] }, slow)
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
