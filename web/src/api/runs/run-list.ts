/** The list of runs of the wandb client. Apart from what one run has: the palette asks for it, and stands on every page. */
import { infiniteQueryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { byPages } from "../pages.ts"
import { askGraphql } from "./graphql.ts"

export type RunState = "pending" | "running" | "preempting" | "finished" | "failed" | "crashed" | "killed"

export interface Live {
  refetchInterval?: number | false
  enabled?: boolean
}

export interface ListedRun {
  /** What changes of a run name it by. */
  id: string
  name: string
  displayName: string
  state: RunState
  createdAt: string
  heartbeatAt: string
  tags: string[]
  group: string | null
  jobType: string | null
  notes: string | null
  /** JSON text, in which NaN and the infinities stand as Python writes them. */
  summaryMetrics: string
  /** As {@link summaryMetrics}; undefined: not asked for. */
  config?: string
}

export interface Connection<Node> {
  edges: { node: Node }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

export const listedFields = "id name displayName state createdAt heartbeatAt tags group jobType notes summaryMetrics"
const pageRows = 50

export const runsText = (fields: string) =>
  `query($entity: String!, $project: String!, $order: String, $filters: JSONString, $first: Int, $after: String) {
  project(name: $project, entityName: $entity) {
    runs(order: $order, filters: $filters, first: $first, after: $after) {
      edges { node { ${fields} } } pageInfo { hasNextPage endCursor } } }
}`

const countText = `query($entity: String!, $project: String!, $filters: JSONString) {
  project(name: $project, entityName: $entity) { runCount(filters: $filters) }
}`

export type RunsAnswer<Run = ListedRun> = { project: { runs: Connection<Run> } | null }

export const runsOf = <Run>({ project }: RunsAnswer<Run>): Run[] => project?.runs.edges.map(({ node }) => node) ?? []

/** Which runs, in which order, as the public API of the wandb client writes both; all of them, the newest first. */
export interface RunSelection {
  order?: string | undefined
  filters?: object | undefined
}

type OfProject = { entity: string; project: string }

const filtersText = (filters: object | undefined) => (filters === undefined ? null : JSON.stringify(filters))

/** How many there are, on all pages. */
export function useRunCount(of: OfProject, { filters }: RunSelection, live: Live) {
  const variables = { ...of, filters: filtersText(filters) }
  return useQuery<{ project: { runCount: number } | null }, ApiError, number>({
    queryKey: ["POST /graphql run count", variables],
    queryFn: ({ signal }) => askGraphql(countText, variables, signal),
    select: ({ project }) => project?.runCount ?? 0,
    ...live,
  })
}

/** Page after page. A config may be large: it is read where it is shown. */
export function useRunPages(
  of: OfProject,
  { order = "-created_at", filters }: RunSelection = {},
  live: Live = {},
  hasConfig = false,
) {
  const selection = { order, filters: filtersText(filters) }
  const text = runsText(hasConfig ? `${listedFields} config` : listedFields)
  const options = infiniteQueryOptions<RunsAnswer, ApiError, ListedRun[], unknown[], string | null>({
    queryKey: ["POST /graphql runs", of, selection, hasConfig],
    initialPageParam: null,
    queryFn: ({ pageParam: after, signal }) =>
      askGraphql(text, { ...of, ...selection, first: pageRows, after }, signal),
    getNextPageParam: ({ project }) =>
      project?.runs.pageInfo.hasNextPage ? project.runs.pageInfo.endCursor : undefined,
    select: ({ pages }) => pages.flatMap(runsOf),
  })
  const { refetchInterval = false, ...others } = live
  return useInfiniteQuery({ ...options, ...others, refetchInterval: byPages(refetchInterval) })
}
