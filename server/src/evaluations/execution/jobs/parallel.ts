/** The number of items of one job that run at a time: enough for the engine to decode them together. */
const itemsAtOnce = 8

/**
 * Runs `work` for each item, a few at a time. After a failure it starts no more items. It throws the first
 * failure once no item runs any more, so that no work goes on after the caller has learned of the failure.
 */
export async function forEachParallel<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  const failures: unknown[] = []
  const worker = async () => {
    for (const item of queue) {
      if (failures.length > 0) return
      try {
        signal.throwIfAborted()
        await work(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(itemsAtOnce, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
}
