/** Threads, from the calls that are turns: evaluation-store-calls 5. */
import type { ThreadRecord } from "../../../wire/calls/thread.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { isoTimeSql } from "../query/sql-time.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { callsFinal, liveCall } from "./calls-tables.ts"

export const threadSortFields = [
  "thread_id",
  "turn_count",
  "start_time",
  "last_updated",
  "p50_turn_duration_ms",
  "p99_turn_duration_ms",
] as const

export interface ThreadsQuery {
  projectId: string
  /** Microseconds since 1970; each compares the start of a call. */
  after: bigint | null
  before: bigint | null
  /** Empty: all. */
  threadIds: readonly string[]
  sortBy: readonly { field: (typeof threadSortFields)[number]; direction: "asc" | "desc" }[]
  limit: number | null
  offset: number
}

const duration = "(toUnixTimestamp64Micro(ended_at) - toUnixTimestamp64Micro(started_at)) / 1000"

/** A turn that runs counts for nothing but its start; until one has ended, that start is the last update. */
export function findThreads(traces: TraceStore, query: ThreadsQuery): Promise<ThreadRecord[]> {
  const parameters = new SqlParameters()
  const conditions = [
    `project_id = ${parameters.bind(query.projectId, "UUID")}`,
    liveCall,
    "id = turn_id and thread_id != ''",
  ]
  const moment = (microseconds: bigint) => `fromUnixTimestamp64Micro(${parameters.bind(microseconds, "Int64")}, 'UTC')`
  if (query.after !== null) conditions.push(`started_at > ${moment(query.after)}`)
  if (query.before !== null) conditions.push(`started_at < ${moment(query.before)}`)
  if (query.threadIds.length > 0) {
    conditions.push(`thread_id in ${parameters.bind(query.threadIds, "Array(String)")}`)
  }
  const order = query.sortBy.map(({ field, direction }) => `${field}_key ${direction} nulls last`)
  const limit = parameters.bind(query.limit ?? Number.MAX_SAFE_INTEGER, "UInt64")
  return traces.rows<ThreadRecord>(
    `select thread_id_key as thread_id, toUInt32(turn_count_key) as turn_count,
        ${isoTimeSql("start_time_key")} as start_time, ${isoTimeSql("last_updated_key")} as last_updated,
        first_turn_id, last_turn_id,
        p50_turn_duration_ms_key as p50_turn_duration_ms, p99_turn_duration_ms_key as p99_turn_duration_ms
      from (
        select assumeNotNull(thread_id) as thread_id_key, count() as turn_count_key,
          min(started_at) as start_time_key, coalesce(max(ended_at), max(started_at)) as last_updated_key,
          argMin(id, (started_at, id)) as first_turn_id,
          argMax(id, (coalesce(ended_at, started_at), id)) as last_turn_id,
          quantileExactInclusiveOrNull(0.5)(${duration}) as p50_turn_duration_ms_key,
          quantileExactInclusiveOrNull(0.99)(${duration}) as p99_turn_duration_ms_key
        from ${callsFinal} where ${conditions.join(" and ")} group by thread_id_key
      )
      order by ${[...order, "thread_id_key asc"].join(", ")}
      limit ${limit} offset ${parameters.bind(query.offset, "UInt64")}`,
    parameters.values,
  )
}
