/** Calls: `/calls/stream_query`, `/calls/query_stats`, `/calls/stats`. Payloads stay text, with their numbers as written. */
import type { callRecord, callsFilter, callsQueryStatsAnswer } from "@heddle/server/wire/calls/call-read.ts"
import type { callStatsAnswer, callStatsBody } from "@heddle/server/wire/calls/usage-stats.ts"
import type { callsUsageBody, usageAnswer } from "@heddle/server/wire/calls/usage.ts"
import { queryOptions, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import { type JsonText, readRecord } from "../../json/json-text.ts"
import type { ApiError } from "../api-error.ts"
import { sendForLineBatches } from "../client.ts"
import { jsonQuery } from "../queries.ts"

export type CallRecord = z.output<typeof callRecord>
export type CallsFilter = z.input<typeof callsFilter>

const payloads = ["attributes", "inputs", "output", "summary"] as const
export type Payload = (typeof payloads)[number]

/** A call whose payloads are text; of columns that were not asked for they are empty. */
export type Call = Omit<CallRecord, Payload> & Record<Payload, JsonText>

export interface CallsQuery {
  project_id: string
  filter?: CallsFilter
  query?: object | null
  sort_by?: readonly { field: string; direction: "asc" | "desc" }[]
  limit?: number
  offset?: number
  columns?: readonly string[]
  include_costs?: boolean
  include_feedback?: boolean
  include_storage_size?: boolean
}

interface Live {
  refetchInterval?: number | false
  /** How long an answer is fresh enough, in milliseconds. */
  staleTime?: number
  enabled?: boolean
}

/** Calls that have come are told of when the others let wait for so many milliseconds. */
const tellMs = 100

/** `onSome`: is told of the calls that came first, where finding the others takes longer. */
export async function readCalls(
  body: CallsQuery,
  signal: AbortSignal,
  onSome?: (calls: Call[]) => void,
): Promise<Call[]> {
  const calls: Call[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    for await (const lines of sendForLineBatches({ method: "POST", path: "/calls/stream_query", body, signal })) {
      for (const line of lines) calls.push(readRecord<CallRecord, Payload>(line, payloads))
      if (onSome !== undefined) timer ??= setTimeout(() => onSome([...calls]), tellMs)
    }
  } finally {
    clearTimeout(timer)
  }
  return calls
}

export const callsQuery = (body: CallsQuery) =>
  queryOptions<Call[], ApiError>({
    queryKey: ["POST /calls/stream_query", body],
    queryFn: ({ signal }) => readCalls(body, signal),
  })

export function useCalls(body: CallsQuery, live: Live = {}) {
  return useQuery({ ...callsQuery(body), ...live })
}

export type CallCount = z.output<typeof callsQueryStatsAnswer>

/** How many calls match, counted no further than `limit`. */
export function useCallCount(body: Pick<CallsQuery, "project_id" | "filter" | "query" | "limit">, live: Live = {}) {
  return useQuery({ ...jsonQuery<CallCount>("POST", "/calls/query_stats", body), ...live })
}

type Usage = z.output<typeof usageAnswer>

export const callUsageQuery = (body: z.input<typeof callsUsageBody>) => jsonQuery<Usage>("POST", "/calls/usage", body)

/** Tokens and costs of calls with those of all calls inside them. */
export function useCallUsage(body: z.input<typeof callsUsageBody>, live: Live = {}) {
  return useQuery({ ...callUsageQuery(body), ...live })
}

export type CallStats = z.output<typeof callStatsAnswer>

/** Calls, errors, latency and tokens over time. */
export function useCallStats(body: z.input<typeof callStatsBody>, live: Live = {}) {
  return useQuery({ ...jsonQuery<CallStats>("POST", "/calls/stats", body), ...live })
}
