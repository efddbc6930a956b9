/** Models, their steps and metrics, and training jobs with their events: `/v1/preview/…`. */
import type { baseModels, modelPage } from "@heddle/server/wire/training/model.ts"
import type { checkpointFiles, readCheckpoint } from "@heddle/server/wire/training/checkpoint.ts"
import type { Event, eventPage, jobPage, ListedJob } from "@heddle/server/wire/training/job.ts"
import type { modelMetricsAnswer } from "@heddle/server/wire/training/model-metrics.ts"
import { useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"

type ModelPage = z.output<typeof modelPage>
type JobPage = z.output<typeof jobPage>
export type ReadCheckpoint = z.output<typeof readCheckpoint>
export type MetricsAnswer = z.output<typeof modelMetricsAnswer>

export interface Live {
  refetchInterval?: number | false
  enabled?: boolean
}

export interface OfProject {
  entity: string
  project: string
}

interface ModelParameters extends OfProject {
  name?: string
  /** Part of the name. */
  query?: string
  limit?: number
  after?: string
}

const modelsQuery = (parameters: ModelParameters) => jsonQuery<ModelPage>("GET", "/v1/preview/models", parameters)

export function useModels(parameters: ModelParameters, live: Live = {}) {
  return useQuery({ ...modelsQuery(parameters), ...live })
}

export async function isModel(project: OfProject, name: string): Promise<boolean> {
  const { data } = await queryClient.fetchQuery(modelsQuery({ ...project, name, limit: 1 }))
  return data.length > 0
}

export function useBaseModels() {
  return useQuery(jsonQuery<z.output<typeof baseModels>>("GET", "/v1/preview/base-models"))
}

export interface JobParameters extends OfProject {
  model_id?: string
  status?: readonly string[]
  limit?: number
  after?: string
}

export function useTrainingJobs(parameters: JobParameters, live: Live = {}) {
  return useQuery({ ...jsonQuery<JobPage>("GET", "/v1/preview/training-jobs", parameters), ...live })
}

/** Asked again every `everyMs` until it has ended. */
export function useTrainingJob(id: string, everyMs: number) {
  return useQuery({
    ...jsonQuery<ListedJob>("GET", `/v1/preview/training-jobs/${encodeURIComponent(id)}`),
    refetchInterval: ({ state }) => (state.data?.ended_at == null ? everyMs : false),
  })
}

/** Every event of a job, the oldest first. What was read is kept: another reading asks for what came since. */
export function useJobEvents(jobId: string, everyMs: number) {
  const path = `/v1/preview/training-jobs/${encodeURIComponent(jobId)}/events`
  return useQuery<Event[], ApiError>({
    queryKey: [`GET ${path}`],
    queryFn: async ({ client, queryKey, signal }) => {
      const events = [...(client.getQueryData<Event[]>(queryKey) ?? [])]
      for (;;) {
        const query = { limit: 100, after: events.at(-1)?.id }
        const page = await sendForJson<z.output<typeof eventPage>>({ method: "GET", path, query, signal })
        events.push(...page.data)
        if (!page.has_more) return events
      }
    },
    refetchInterval: ({ state }) => (isLastEvent(state.data?.at(-1)) ? false : everyMs),
  })
}

function isLastEvent(event: Event | undefined): boolean {
  return event?.type === "training_ended" || event?.type === "training_failed"
}

export function useCheckpoint(modelId: string, step: number, live: Live = {}) {
  const path = `/v1/preview/models/${encodeURIComponent(modelId)}/checkpoints/${step}`
  return useQuery({ ...jsonQuery<ReadCheckpoint>("GET", path), ...live })
}

/** Files of its PEFT folder; step 0 has none. */
export function useCheckpointFiles(modelId: string, step: number) {
  const path = `/v1/preview/models/${encodeURIComponent(modelId)}/checkpoints/${step}/files`
  return useQuery(jsonQuery<z.output<typeof checkpointFiles>>("GET", path))
}

export interface MetricParameters {
  model_id: readonly string[]
  metric?: readonly string[]
  from_step?: number
  to_step?: number
  points?: number
}

export const metricsQuery = (parameters: MetricParameters) =>
  jsonQuery<MetricsAnswer>("GET", "/v1/preview/model-metrics", parameters)

/** Without a model there is nothing to ask. */
export function useModelMetrics(parameters: MetricParameters, live: Live = {}) {
  return useQuery({ ...metricsQuery(parameters), enabled: parameters.model_id.length > 0, ...live })
}
