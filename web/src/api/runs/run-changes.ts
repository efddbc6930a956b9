/** Changes that a person makes to runs of the wandb client. */
import { useMutation } from "@tanstack/react-query"
import { ApiError } from "../api-error.ts"
import { queryClient } from "../queries.ts"
import { askGraphql } from "./graphql.ts"

/** What a run is called and said to be; not what it logged. */
export interface RunWords {
  displayName: string
  tags: readonly string[]
  /** "": none. */
  notes: string
}

const changeText = `mutation($input: UpsertBucketInput) { upsertBucket(input: $input) { bucket { id } } }`
const deleteText = `mutation($input: DeleteRunInput) { deleteRun(input: $input) { success } }`

/** Nobody takes a change back that is under way. */
const change = (text: string, input: object) => askGraphql<unknown>(text, { input }, new AbortController().signal)

/** Words that are left out stay as they are. */
export function useChangeRun(id: string) {
  return useMutation<unknown, ApiError, Partial<RunWords>>({
    mutationFn: (words) => change(changeText, { id, ...words }),
    onSuccess: staleRuns,
  })
}

interface RunsToDelete {
  ids: readonly string[]
  /** Goes away from what is gone, before that is read again. */
  leave: () => Promise<void>
}

/** One after the other: when one is refused, those before it are gone, and another try begins behind them. */
export function useDeleteRuns() {
  return useMutation<void, ApiError, RunsToDelete>({
    mutationFn: async ({ ids }) => {
      for (const id of ids) {
        await change(deleteText, { id }).catch((error: unknown) => {
          if (!isGone(error)) throw error
        })
      }
    },
    onSuccess: (_answer, { leave }) => leave(),
    onSettled: staleRuns,
  })
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === "NOT_FOUND"
}

/** Reads again every list of runs, every run, how many there are, and whether a project has any. */
function staleRuns(): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey: [endpoint] }) =>
      typeof endpoint === "string" && (endpoint.startsWith("POST /graphql run") || endpoint === "GET /v1/projects"),
  })
}
