/** Apart from `server.ts`, as the first screen's code has it, and nothing else of that. */
import { useQuery } from "@tanstack/react-query"
import { jsonQuery } from "./queries.ts"

const askAgainMs = 2_000

/** Whether the server answers, asked again and again from when it is first wanted to know. */
export function useIsAnswering(): boolean {
  const query = jsonQuery<unknown>("GET", "/v1/health")
  return useQuery({
    ...query,
    queryKey: ["GET /v1/health", "is it there"],
    retry: false,
    gcTime: 0,
    refetchInterval: ({ state }) => (state.status === "success" ? false : askAgainMs),
  }).isSuccess
}
