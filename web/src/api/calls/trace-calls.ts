/** The calls of one trace: all of them without payloads, and one with everything. */
import { useQuery } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { type CallRecord, callsQuery, type Payload } from "./calls.ts"
import { sendForLineBatches } from "../client.ts"

/** A call of a trace without its payloads. */
export type SkeletonCall = Omit<CallRecord, Payload>

const skeletonColumns = ["op_name", "display_name", "parent_id", "started_at", "ended_at", "exception", "thread_id"]

/** All calls of a trace, without their payloads: of 50,000 calls these would be gigabytes. */
export function useTraceSkeleton(
  projectId: string,
  traceId: string,
  refetchInterval: (calls: number) => number | false,
) {
  return useQuery<SkeletonCall[], ApiError>({
    queryKey: ["POST /calls/stream_query", "skeleton", projectId, traceId],
    queryFn: async ({ signal }) => {
      const body = { project_id: projectId, filter: { trace_ids: [traceId] }, columns: skeletonColumns }
      const calls: SkeletonCall[] = []
      for await (const lines of sendForLineBatches({ method: "POST", path: "/calls/stream_query", body, signal })) {
        // One parsing of all that came: of each line by itself it would take twice as long.
        calls.push(...(JSON.parse(`[${lines.join(",")}]`) as SkeletonCall[]))
      }
      return calls
    },
    // Comparing 50,000 calls with those before would take longer than drawing them.
    structuralSharing: false,
    placeholderData: () => undefined,
    refetchInterval: ({ state }) =>
      state.data?.some(({ ended_at }) => ended_at == null) === true ? refetchInterval(state.data.length) : false,
  })
}

/** One call with everything that is stored of it, its costs and its feedback. */
export function useWholeCall(projectId: string, callId: string, runningMs: number) {
  return useQuery({
    ...callsQuery({
      project_id: projectId,
      filter: { call_ids: [callId] },
      limit: 1,
      include_costs: true,
      include_feedback: true,
      include_storage_size: true,
    }),
    // The payloads of another call are none of this one.
    placeholderData: () => undefined,
    refetchInterval: ({ state }) => (state.data?.[0]?.ended_at === null ? runningMs : false),
  })
}
