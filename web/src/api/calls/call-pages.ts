/** Calls of a long list, page after page, and their payloads in blocks: `/calls/stream_query`. */
import { skipToken, useQueries, useQuery } from "@tanstack/react-query"
import { type Call, type CallsQuery, callsQuery, callUsageQuery, readCalls } from "./calls.ts"
import { send } from "../client.ts"
import { queryClient } from "../queries.ts"

/** Pages of one list, each on its own. `version` is another list: what was read of an older one stays with that. */
export function useCallPages(pages: readonly CallsQuery[], version: number, refetchInterval: number | false) {
  return useQueries({
    queries: pages.map((body) => ({
      ...callsQuery(body),
      queryKey: ["POST /calls/stream_query", body, version],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        readCalls(body, signal, (some) => queryClient.setQueryData(someKey(body, version), some)),
      staleTime: Infinity,
      refetchInterval,
      // The rows of another page are none of this one.
      placeholderData: () => undefined,
    })),
  })
}

const someKey = (body: CallsQuery, version: number) => ["first of POST /calls/stream_query", body, version]

/** The calls of a page of {@link useCallPages} that came before the others were found. */
export function useFirstCalls(body: CallsQuery, version: number): Call[] | undefined {
  const { data } = useQuery<Call[]>({
    queryKey: someKey(body, version),
    queryFn: skipToken,
    placeholderData: () => undefined,
  })
  return data
}

/** A call that is stored under its id, and as which it had ended. */
const payloadKey = (projectId: string, { id, ended_at }: Call) => ["payloads", projectId, id, ended_at ?? null]

function storedPayloads(projectId: string, calls: readonly Call[]): Call[] {
  return calls.flatMap((call) => queryClient.getQueryData<Call>(payloadKey(projectId, call)) ?? [])
}

/** Inputs, outputs and attributes of rows, in blocks; those that were read before are not read again. */
export function useCallPayloads(projectId: string, blocks: readonly (readonly Call[])[]) {
  return useQueries({
    queries: blocks.map((calls) => ({
      queryKey: ["payloads", projectId, calls.map(({ id, ended_at }) => [id, ended_at ?? null])],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        // Several blocks are wanted at once when a page has come: to send all of their requests takes as long as a frame.
        await new Promise((resolve) => setTimeout(resolve))
        signal.throwIfAborted()
        const known = storedPayloads(projectId, calls)
        const knownIds = new Set(known.map(({ id }) => id))
        const missing = calls.filter(({ id }) => !knownIds.has(id))
        const read =
          missing.length === 0
            ? []
            : await readCalls(
                {
                  project_id: projectId,
                  filter: { call_ids: missing.map(({ id }) => id) },
                  columns: ["inputs", "output", "attributes"],
                },
                signal,
              )
        for (const call of missing) {
          const found = read.find(({ id }) => id === call.id)
          if (found !== undefined) queryClient.setQueryData(payloadKey(projectId, call), found)
        }
        return [...known, ...read]
      },
      staleTime: Infinity,
      placeholderData: () => storedPayloads(projectId, calls),
    })),
  })
}

/** Tokens and costs of calls with those of all calls inside them, in blocks. */
export function useCallUsages(projectId: string, blocks: readonly (readonly Call[])[]) {
  return useQueries({
    queries: blocks.map((calls) => ({
      ...callUsageQuery({ project_id: projectId, call_ids: calls.map(({ id }) => id), include_costs: true }),
      placeholderData: () => undefined,
    })),
  })
}

/** Calls with everything that is stored of them, as JSON Lines. */
export async function downloadCalls(projectId: string, callIds: readonly string[]): Promise<Blob> {
  const body = { project_id: projectId, filter: { call_ids: callIds } }
  const response = await send({ method: "POST", path: "/calls/stream_query", body })
  return response.blob()
}
