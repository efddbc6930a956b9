import { forEachAtOnce } from "../../../work/at-once.ts"

/** The number of items of one job that run at a time: enough for the engine to decode them together. */
const itemsAtOnce = 8

/** {@link forEachAtOnce} of the items of a job. */
export function forEachParallel<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  return forEachAtOnce(items, itemsAtOnce, signal, work)
}
