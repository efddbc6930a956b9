/** A field that has a value when it is absent: evaluation-store-calls 1.1, where null is absent too. */
import type { z } from "zod"

export function orDefault<T>(schema: z.ZodType<T>, value: T) {
  return schema
    .nullish()
    .meta({ default: value })
    .transform((given): T => given ?? value)
}
