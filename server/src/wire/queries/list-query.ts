/** Query parameters of the v2 lists: evaluation-store-objects 1 and 7. */
import { z } from "zod"

/** The generated client sends an empty text for null. */
const wholeNumber = z.union([z.literal("").transform(() => null), z.coerce.number().int()]).optional()

export const listRangeQuery = z.object({ limit: wholeNumber, offset: wholeNumber })

/** Repeated (`a=1&a=2`), joined by commas (`a=1,2`), or both. Empty ones are left out. */
export const nameList = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [value].flat().flatMap((one) => one.split(",").filter((name) => name !== "")))
  .optional()
