/** How much of a list a body asks for: evaluation-store-objects 1. */
import { z } from "zod"

/** null and absent: all of it, from its beginning. */
export const listRange = { limit: z.int().nullish(), offset: z.int().nullish() }
