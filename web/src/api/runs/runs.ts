/** Runs of the wandb client: what they are, what they logged, their files. */
import type { runMetricsAnswer } from "@heddle/server/wire/platform/run.ts"
import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { jsonQuery, queryClient } from "../queries.ts"
import { askGraphql } from "./graphql.ts"
import {
  type Connection,
  listedFields,
  type ListedRun,
  type Live,
  type RunsAnswer,
  runsOf,
  runsText,
} from "./run-list.ts"

export type RunMetrics = z.output<typeof runMetricsAnswer>

export interface OfRun {
  entity: string
  project: string
  run: string
}

export interface OneRun extends ListedRun {
  config: string
  host: string | null
  commit: string | null
  exitCode: number | null
  fileCount: number
  user: { username: string }
}

export interface RunFile {
  name: string
  sizeBytes: number
  updatedAt: string
}

const oneRunFields = `${listedFields} config host commit exitCode fileCount user { username }`

/** Those of the names that are there, in the order of the names. */
export function useRunsNamed(
  of: { entity: string; project: string },
  names: readonly string[],
  live: (runs: readonly OneRun[]) => Live["refetchInterval"],
) {
  return useQuery({
    ...queryOptions<OneRun[], ApiError>({
      queryKey: ["POST /graphql runs named", of, names],
      queryFn: async ({ signal }) => {
        const variables = { ...of, filters: JSON.stringify({ name: { $in: names } }), first: names.length }
        const found: OneRun[] = []
        let after: string | null = null
        // A page ends early where configs are large.
        do {
          const answer: RunsAnswer<OneRun> = await askGraphql(runsText(oneRunFields), { ...variables, after }, signal)
          found.push(...runsOf(answer))
          const { hasNextPage = false, endCursor = null } = answer.project?.runs.pageInfo ?? {}
          after = hasNextPage ? endCursor : null
        } while (after !== null)
        return names.flatMap((name) => found.find((run) => run.name === name) ?? [])
      },
    }),
    enabled: names.length > 0,
    refetchInterval: ({ state }) => live(state.data ?? []) ?? false,
  })
}

const runText = `query($entity: String!, $project: String!, $run: String!) {
  project(name: $project, entityName: $entity) { run(name: $run) { ${oneRunFields} } }
}`

/** null: there is none. */
export function useRun(of: OfRun, live: (run: OneRun | null | undefined) => Live["refetchInterval"]) {
  return useQuery({
    ...queryOptions<OneRun | null, ApiError>({
      queryKey: ["POST /graphql run", of],
      queryFn: async ({ signal }) => {
        const { project } = await askGraphql<{ project: { run: OneRun | null } | null }>(runText, of, signal)
        return project?.run ?? null
      },
    }),
    refetchInterval: ({ state }) => live(state.data) ?? false,
  })
}

const filesText = `query($entity: String!, $project: String!, $run: String!, $after: String) {
  project(name: $project, entityName: $entity) { run(name: $run) { files(first: 100, after: $after) {
    edges { node { name sizeBytes updatedAt } } pageInfo { hasNextPage endCursor } } } }
}`

type FilesAnswer = { project: { run: { files: Connection<RunFile> } | null } | null }

/** By name, page after page. `count`: with another number of files they are read again. */
export function useRunFiles(of: OfRun, count: number) {
  return useInfiniteQuery(
    infiniteQueryOptions<FilesAnswer, ApiError, RunFile[], unknown[], string | null>({
      queryKey: ["POST /graphql files", of, count],
      initialPageParam: null,
      queryFn: ({ pageParam: after, signal }) => askGraphql(filesText, { ...of, after }, signal),
      getNextPageParam: ({ project }) => {
        const page = project?.run?.files.pageInfo
        return page?.hasNextPage ? page.endCursor : undefined
      },
      select: ({ pages }) => pages.flatMap(({ project }) => project?.run?.files.edges.map(({ node }) => node) ?? []),
    }),
  )
}

interface RunMetricParameters {
  source: "history" | "system"
  metric?: readonly string[]
  points?: number
  /** A column of the history that the curves stand over, instead of the step. */
  x?: string | undefined
}

export interface AskedMetrics {
  of: OfRun
  /** When the run was heard of last; they are read again with the next time. */
  heardAt: string
  /** Without a metric their names alone. */
  parameters: RunMetricParameters
}

/** What was read, with the words that it was asked for by: while other runs are read, those from before are there. */
export interface ReadMetrics {
  run: string
  x: string | undefined
  read: RunMetrics
}

/** Of each run in one reading; one that was not heard of since is not asked again. */
export function useRunMetrics(asked: readonly AskedMetrics[]) {
  return useQuery(
    queryOptions<ReadMetrics[], ApiError>({
      queryKey: ["metrics of runs", asked],
      queryFn: () =>
        Promise.all(
          asked.map(async (one) => ({
            run: one.of.run,
            x: one.parameters.x,
            read: await queryClient.fetchQuery(metricsQuery(one)),
          })),
        ),
    }),
  )
}

function metricsQuery({ of: { entity, project, run }, heardAt, parameters }: AskedMetrics) {
  const path = `/v1/runs/${[entity, project, run].map(encodeURIComponent).join("/")}/metrics`
  const query = jsonQuery<RunMetrics>("GET", path, parameters)
  return { ...query, queryKey: [...query.queryKey, heardAt], staleTime: Infinity }
}
