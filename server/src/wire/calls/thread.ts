/** Threads: evaluation-store-calls 5. null means absent in every request. */
import { z } from "zod"
import { textList } from "../bounded-list.ts"
import { listRange } from "../queries/list-range.ts"
import { sortKeys } from "../queries/query.ts"

export const threadsQueryRequest = z.looseObject({
  project_id: z.string(),
  filter: z
    .looseObject({
      after_datetime: z.string().nullish(),
      before_datetime: z.string().nullish(),
      thread_ids: textList.nullish(),
    })
    .nullish(),
  ...listRange,
  sort_by: sortKeys.nullish(),
})

/** One line of the stream. Durations are in milliseconds; null while no turn has ended. */
export const threadRecord = z.object({
  thread_id: z.string(),
  turn_count: z.int(),
  start_time: z.iso.datetime(),
  last_updated: z.iso.datetime(),
  first_turn_id: z.string().nullable(),
  last_turn_id: z.string().nullable(),
  p50_turn_duration_ms: z.number().nullable(),
  p99_turn_duration_ms: z.number().nullable(),
})

export type ThreadsQueryRequest = z.output<typeof threadsQueryRequest>
export type ThreadRecord = z.output<typeof threadRecord>
