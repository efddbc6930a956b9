/** Runs of the wandb client: what they are, what they logged, their files. */
import type { runMetricsAnswer } from "@heddle/server/wire/platform/run.ts"
import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { jsonQuery } from "../queries.ts"
import { askGraphql } from "./graphql.ts"

export type RunMetrics = z.output<typeof runMetricsAnswer>
export type RunState = "pending" | "running" | "preempting" | "finished" | "failed" | "crashed" | "killed"

export interface OfRun {
  entity: string
  project: string
  run: string
}

interface Live {
  refetchInterval?: number | false
  enabled?: boolean
}

export interface ListedRun {
  name: string
  displayName: string
  state: RunState
  createdAt: string
  heartbeatAt: string
  tags: string[]
  group: string | null
  jobType: string | null
  /** JSON text, in which NaN and the infinities stand as Python writes them. */
  summaryMetrics: string
}

export interface OneRun extends ListedRun {
  config: string
  notes: string | null
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

interface Connection<Node> {
  edges: { node: Node }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

const listedFields = "name displayName state createdAt heartbeatAt tags group jobType summaryMetrics"
const pageRows = 50

const runsText = `query($entity: String!, $project: String!, $first: Int, $after: String) {
  project(name: $project, entityName: $entity) { runs(order: "-created_at", first: $first, after: $after) {
    edges { node { ${listedFields} } } pageInfo { hasNextPage endCursor } } }
}`

type RunsAnswer = { project: { runs: Connection<ListedRun> } | null }

/** The newest first, page after page. */
export function useRunPages(of: { entity: string; project: string }, live: Live = {}) {
  const options = infiniteQueryOptions<RunsAnswer, ApiError, ListedRun[], unknown[], string | null>({
    queryKey: ["POST /graphql runs", of],
    initialPageParam: null,
    queryFn: ({ pageParam: after, signal }) => askGraphql(runsText, { ...of, first: pageRows, after }, signal),
    getNextPageParam: ({ project }) =>
      project?.runs.pageInfo.hasNextPage ? project.runs.pageInfo.endCursor : undefined,
    select: ({ pages }) => pages.flatMap(({ project }) => project?.runs.edges.map(({ node }) => node) ?? []),
  })
  return useInfiniteQuery({ ...options, ...live })
}

const runText = `query($entity: String!, $project: String!, $run: String!) {
  project(name: $project, entityName: $entity) { run(name: $run) {
    ${listedFields} config notes host commit exitCode fileCount user { username } } }
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
}

/** Without a metric their names alone. `heardAt`: when the run was heard of last; they are read again with the next time. */
export function useRunMetrics({ entity, project, run }: OfRun, parameters: RunMetricParameters, heardAt: string) {
  const path = `/v1/runs/${[entity, project, run].map(encodeURIComponent).join("/")}/metrics`
  const query = jsonQuery<RunMetrics>("GET", path, parameters)
  return useQuery({ ...query, queryKey: [...query.queryKey, heardAt] })
}
