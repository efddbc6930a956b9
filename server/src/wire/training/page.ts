/** Cursor paging: training-api 1.3. */
import { z } from "zod"

export const pageQuery = z.object({
  /** Id of the last item of the previous page; the answer starts strictly after it. */
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
})

export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    object: z.literal("list"),
    data: z.array(item),
    first_id: z.string(),
    last_id: z.string(),
    has_more: z.boolean(),
  })
}

export interface Page<T> {
  object: "list"
  data: T[]
  first_id: string
  last_id: string
  has_more: boolean
}

/** `rows` holds up to `limit + 1` items; one more than `limit` means that there is a next page. */
export function toPage<T extends { id: string }>(rows: readonly T[], limit: number): Page<T> {
  const data = rows.slice(0, limit)
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? "",
    last_id: data.at(-1)?.id ?? "",
    has_more: rows.length > limit,
  }
}
