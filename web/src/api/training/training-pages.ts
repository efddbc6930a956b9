/** Lists of models, steps and jobs that go on page after page. */
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import type { checkpointPage } from "@heddle/server/wire/training/checkpoint.ts"
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import type { TrainingRow, trainingRowsAnswer } from "@heddle/server/wire/training/train-from.ts"
import { infiniteQueryOptions, useInfiniteQuery, useQueries } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { type Query, sendForJson } from "../client.ts"
import { type JobParameters, type Live, type MetricParameters, metricsQuery, type OfProject } from "./training.ts"

type RowPage = z.output<typeof trainingRowsAnswer>
type CheckpointPage = z.output<typeof checkpointPage>

/** Rows of a page of a list, which goes on with the next. */
const pageRows = 50

/** The newest first, page after page. */
export function useModelPages(parameters: OfProject, live: Live = {}) {
  return useInfiniteQuery({ ...pagesOf<ListedModel>("/v1/preview/models", parameters), ...live })
}

/** The newest first, page after page. */
export function useJobPages(parameters: Omit<JobParameters, "limit" | "after">, live: Live = {}) {
  return useInfiniteQuery({ ...pagesOf<ListedJob>("/v1/preview/training-jobs", parameters), ...live })
}

/** Sources of a job, row by row; no pages for a job whose client sent the data. */
export function useJobRowPages(jobId: string) {
  const path = `/v1/preview/training-jobs/${encodeURIComponent(jobId)}/rows`
  return useInfiniteQuery({ ...pagesOf<TrainingRow, RowPage>(path, {}), staleTime: Infinity })
}

/** Steps that are kept, the newest first, page after page. */
export function useCheckpointPages(modelId: string, live: Live = {}) {
  const path = `/v1/preview/models/${encodeURIComponent(modelId)}/checkpoints`
  return useInfiniteQuery({ ...pagesOf<CheckpointPage["data"][number]>(path, { order: "desc" }), ...live })
}

/** The same for several lists of models, which one request could be too short for. */
export function useModelMetricsOfPages(
  pages: readonly (readonly string[])[],
  parameters: Omit<MetricParameters, "model_id">,
  live: Live = {},
) {
  return useQueries({
    queries: pages
      .filter((modelIds) => modelIds.length > 0)
      .map((modelIds) => ({ ...metricsQuery({ ...parameters, model_id: modelIds }), ...live })),
  })
}

interface Page<Row> {
  data: Row[]
  last_id: string
  has_more: boolean
}

function pagesOf<Row, Of extends Page<Row> = Page<Row>>(path: string, parameters: object) {
  return infiniteQueryOptions<Of, ApiError, Of[], unknown[], string | undefined>({
    queryKey: [`GET ${path}`, parameters, "pages"],
    initialPageParam: undefined,
    queryFn: ({ pageParam, signal }) =>
      sendForJson<Of>({
        method: "GET",
        path,
        query: { ...(parameters as Query), limit: pageRows, after: pageParam },
        signal,
      }),
    getNextPageParam: (last) => (last.has_more ? last.last_id : undefined),
    select: ({ pages }) => pages,
  })
}
