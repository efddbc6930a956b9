/**
 * What every endpoint's hook stands on. A hook is one endpoint; its key is the endpoint and its parameters, so a change
 * can name what it makes stale: `["GET /v1/projects"]` is every page of every search.
 */
import { keepPreviousData, MutationCache, QueryCache, QueryClient, queryOptions } from "@tanstack/react-query"
import { ApiError } from "./api-error.ts"
import { type Method, type Query, sendForJson } from "./client.ts"
import { sessionEnded } from "./session-state.ts"

const retries = 2

/** Most data is fresh enough for as long as somebody looks at one page; live figures ask on their own clock. */
const freshMs = 10_000

/** A server on this machine answers without a network, and one that cannot be reached is to be said. */
const networkMode = "always"

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteEnd }),
  mutationCache: new MutationCache({ onError: noteEnd }),
  defaultOptions: {
    queries: {
      networkMode,
      // A query that failed meanwhile would be shown as old until its next turn.
      refetchOnReconnect: "always",
      staleTime: freshMs,
      placeholderData: keepPreviousData,
      retry: (count, error) => count < retries && error instanceof ApiError && error.isPassing,
      retryDelay: (count, error) => (error instanceof ApiError ? error.retryAfterMs : null) ?? 1000 * 2 ** count,
    },
    mutations: { networkMode, retry: false },
  },
})

/** A session that ended while a page is open is asked for in place; the page and its unsaved text stay. */
function noteEnd(error: Error): void {
  if (error instanceof ApiError && error.isSignedOut) sessionEnded()
}

/** A read whose answer is JSON. `parameters` are the query of a GET and the body of a POST. */
export function jsonQuery<Answer>(method: Extract<Method, "GET" | "POST">, path: string, parameters?: object) {
  return queryOptions<Answer, ApiError>({
    queryKey: [`${method} ${path}`, ...(parameters === undefined ? [] : [parameters])],
    queryFn: ({ signal }) =>
      sendForJson<Answer>({
        method,
        path,
        signal,
        ...(method === "GET" ? { query: parameters as Query | undefined } : { body: parameters }),
      }),
  })
}
