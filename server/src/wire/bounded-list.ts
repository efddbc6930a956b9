/**
 * How many elements a list in a request may have. These are no settings of the operator: nothing that a client does today
 * comes near them, and each request may have several lists.
 */
import { z } from "zod"

export function boundedList<T extends z.ZodType>(item: T, most: number) {
  return z.array(item).max(most, `at most ${most} in one request`)
}

/** Ids, digests and labels, which one query looks up by key. */
export const keyList = boundedList(z.string(), 10_000)

/** Names to filter by, or to store with something. */
export const textList = boundedList(z.string(), 1000)

/** Metrics and dimensions: each is one more expression in a query. */
export function fieldList<T extends z.ZodType>(item: T) {
  return boundedList(item, 100)
}
