/** How many items of one job are done at a time: enough for the engine to decode them together. */
const itemsAtOnce = 8

/** Runs `work` for each, a few at a time; after the first failure no more are begun. */
export async function forEachParallel<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  const worker = async () => {
    for (const item of queue) {
      signal.throwIfAborted()
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(itemsAtOnce, items.length) }, worker))
}
