/** Reading calls: evaluation-store-calls 3 and 5. null means absent in every request. */
import { z } from "zod"
import { fieldList, textList } from "../bounded-list.ts"
import { jsonValue } from "../json-value.ts"
import { query, sortKeys } from "../queries/query.ts"

const flag = z.boolean().nullish()
/** More than 1000 names answer 400 (calls 3.5), which no schema can say. */
const names = z.array(z.string()).nullish()
const wholeNumber = z.int().nullish()

/** Empty lists mean no filter, but for `thread_ids` and `turn_ids`: calls 3.5. */
export const callsFilter = z.looseObject({
  op_names: names,
  input_refs: names,
  output_refs: names,
  parent_ids: names,
  trace_ids: names,
  call_ids: names,
  thread_ids: names,
  turn_ids: names,
  wb_user_ids: textList.nullish(),
  wb_run_ids: names,
  trace_roots_only: flag,
})

export const callReadRequest = z.looseObject({
  project_id: z.string(),
  id: z.string(),
  include_costs: flag,
  include_storage_size: flag,
  include_total_storage_size: flag,
})

const selection = {
  project_id: z.string(),
  filter: callsFilter.nullish(),
  query: query.nullish(),
  expand_columns: fieldList(z.string()).nullish(),
  limit: wholeNumber,
}

export const callsQueryRequest = z.looseObject({
  ...selection,
  sort_by: sortKeys.nullish(),
  offset: wholeNumber,
  columns: textList.nullish(),
  return_expanded_column_values: flag,
  include_costs: flag,
  include_feedback: flag,
  include_storage_size: flag,
  include_total_storage_size: flag,
  include_usernames: flag,
})

export const callsQueryStatsRequest = z.looseObject({ ...selection, include_total_storage_size: flag })

const time = z.iso.datetime()
const text = z.string().nullable()

/** One call, and one line of a stream: calls 3.1. A field that may be absent is left out when `columns` does not name it. */
export const callRecord = z.object({
  id: z.string(),
  project_id: z.string(),
  op_name: z.string(),
  display_name: text.optional(),
  trace_id: z.string(),
  parent_id: text,
  thread_id: text.optional(),
  turn_id: text.optional(),
  started_at: time,
  ended_at: time.nullish(),
  exception: text.optional(),
  attributes: z.record(z.string(), jsonValue),
  inputs: z.record(z.string(), jsonValue),
  output: jsonValue,
  summary: z.record(z.string(), jsonValue).nullable(),
  wb_user_id: text.optional(),
  wb_username: text.optional(),
  wb_run_id: text.optional(),
  wb_run_step: z.int().nullish(),
  wb_run_step_end: z.int().nullish(),
  deleted_at: time.nullable(),
  expire_at: time.nullish(),
  storage_size_bytes: z.int().nullable(),
  total_storage_size_bytes: z.int().nullable(),
})

export const callReadAnswer = z.object({ call: callRecord.nullable() })
export const callsQueryAnswer = z.object({ calls: z.array(callRecord) })
export const callsQueryStatsAnswer = z.object({
  count: z.int(),
  has_more: z.boolean(),
  total_storage_size_bytes: z.int().nullable(),
})

export type CallRecord = z.output<typeof callRecord>
export type CallsFilter = z.output<typeof callsFilter>
export type CallReadRequest = z.output<typeof callReadRequest>
export type CallsQueryRequest = z.output<typeof callsQueryRequest>
export type CallsQueryStatsRequest = z.output<typeof callsQueryStatsRequest>
