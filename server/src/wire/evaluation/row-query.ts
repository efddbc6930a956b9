/** Finding and deleting rows of feedback and of prices by an expression: evaluation-store-objects 2.4, 5 and 8. */
import { z } from "zod"
import { listRange } from "./list-range.ts"
import { query, sortBy } from "./query.ts"

export const rowQueryBody = z.looseObject({
  project_id: z.string(),
  /** What is shown of each row; none: every column. */
  fields: z.array(z.string()).nullish(),
  query: query.nullish(),
  sort_by: z.array(sortBy).nullish(),
  ...listRange,
})

export const rowPurgeBody = z.looseObject({ project_id: z.string(), query })

export const rowsPurged = z.object({})

export type RowQueryBody = z.infer<typeof rowQueryBody>
export type RowPurgeBody = z.infer<typeof rowPurgeBody>
