/** The items in order, in batches of at most `count` that have at most `size` together; one that is larger is a batch of its own. */
export function* batchesOf<T>(
  items: readonly T[],
  limits: { count: number; size: number },
  sizeOf: (item: T) => number,
): Generator<T[]> {
  let batch: T[] = []
  let size = 0
  for (const item of items) {
    const own = sizeOf(item)
    const isFull = batch.length === limits.count || size + own > limits.size
    if (isFull && batch.length > 0) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(item)
    size += own
  }
  if (batch.length > 0) yield batch
}
