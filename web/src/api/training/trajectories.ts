/** What RL jobs trained: groups, one trajectory down to its tokens, and where a question was asked before. */
import type {
  SameQuestionAnswer,
  TrainedTrajectory,
  TrajectoryGroupsAnswer,
} from "@heddle/server/wire/training/trained-trajectory.ts"
import { infiniteQueryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { jsonQuery } from "../queries.ts"

const pageRows = 50

const pathOf = (jobId: string) => `/v1/preview/training-jobs/${encodeURIComponent(jobId)}/trajectory-groups`

/** In the order of the request, page after page; asked again every `everyMs` as long as the job has not read its data. */
export function useTrajectoryGroups(jobId: string, everyMs: number) {
  const path = pathOf(jobId)
  return useInfiniteQuery({
    ...infiniteQueryOptions<TrajectoryGroupsAnswer, ApiError, TrajectoryGroupsAnswer[], unknown[], string | undefined>({
      queryKey: [`GET ${path}`, "pages"],
      initialPageParam: undefined,
      queryFn: ({ pageParam, signal }) =>
        sendForJson({ method: "GET", path, query: { limit: pageRows, after: pageParam }, signal }),
      getNextPageParam: (last) => (last.has_more ? last.last_id : undefined),
      select: ({ pages }) => pages,
    }),
    refetchInterval: ({ state }) => (state.data?.pages[0]?.state === "waiting" ? everyMs : false),
  })
}

/** One group, with the sums of all. */
export function useTrajectoryGroup(jobId: string, group: number) {
  const after = group === 0 ? {} : { after: `${group - 1}` }
  return useQuery(jsonQuery<TrajectoryGroupsAnswer>("GET", pathOf(jobId), { limit: 1, ...after }))
}

interface TrajectoryReading {
  /** Whether the job goes on; undefined: that is not known yet, and nothing is asked. */
  isOpen: boolean | undefined
  everyMs: number
  isDone: (trajectory: TrainedTrajectory) => boolean
}

/** Asked again every `everyMs` until `isDone` or the job ends, and once behind its end. */
export function useTrajectory(
  jobId: string,
  group: number,
  index: number,
  { isOpen, everyMs, isDone }: TrajectoryReading,
) {
  const query = jsonQuery<TrainedTrajectory>("GET", `${pathOf(jobId)}/${group}/trajectories/${index}`)
  return useQuery({
    ...query,
    // What was read while the job went on may lack its last gradient step.
    queryKey: [...query.queryKey, isOpen],
    enabled: isOpen !== undefined,
    refetchInterval: ({ state }) =>
      isOpen === true && state.data !== undefined && !isDone(state.data) ? everyMs : false,
  })
}

export function useSameQuestion(jobId: string, group: number) {
  return useQuery(jsonQuery<SameQuestionAnswer>("GET", `${pathOf(jobId)}/${group}/same-question`))
}
