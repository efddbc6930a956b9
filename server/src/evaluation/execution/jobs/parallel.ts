/** How many items of one job are done at a time: enough for the engine to decode them together. */
const itemsAtOnce = 8

/**
 * Runs `work` for each, a few at a time. After a failure no more are begun; the first one is thrown once
 * nothing runs any more, so that what failed does not go on behind the back of who was told.
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
