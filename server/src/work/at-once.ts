/**
 * Runs `work` for each item, `atOnce` at a time. After a failure it starts no more items. It throws the first
 * failure once no item runs any more, so that no work goes on after the caller has learned of the failure.
 */
export async function forEachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
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
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
}
