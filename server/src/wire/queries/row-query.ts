/** Finding and deleting rows of feedback and of prices by an expression: evaluation-store-objects 2.4, 5 and 8. */
import { z } from "zod"
import { textList } from "../bounded-list.ts"
import { listRange } from "./list-range.ts"
import { query, sortKeys } from "./query.ts"

export const rowQueryBody = z.looseObject({
  project_id: z.string(),
  /** Columns to return; none: every column. */
  fields: textList.nullish(),
  query: query.nullish(),
  sort_by: sortKeys.nullish(),
  ...listRange,
})

export const rowPurgeBody = z.looseObject({ project_id: z.string(), query })

export const rowsPurged = z.object({})

export type RowQueryBody = z.infer<typeof rowQueryBody>
export type RowPurgeBody = z.infer<typeof rowPurgeBody>
